package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/internal/wholefile"
)

// variable is one variable of the environment.
type variable struct{ name, value string }

// clientEnv holds the values of the environment of clients.
type clientEnv struct {
	proxy   string // the proxy's address, host:port
	login   string // name:password for a proxy with users, else empty
	session string // for readthru's own commands, else empty
	cert    string // file for clients that add roots to their own
	bundle  string // file for clients that have no others: with the system's roots, too
	wgetrc  string // file that wget reads
	direct  string // hosts that the user already reaches without a proxy
}

// variables returns the environment that sends clients through the proxy and makes them trust it. Clients differ in the
// case of the names that they read (curl reads http_proxy only in lower case), and in whether a file of roots is added
// to their own or replaces them: clients of the latter kind get the bundle.
func (e clientEnv) variables() []variable {
	proxy := (&url.URL{Scheme: "http", Host: e.proxy}).String()
	if name, password, ok := strings.Cut(e.login, ":"); ok {
		proxy = (&url.URL{Scheme: "http", User: url.UserPassword(name, password), Host: e.proxy}).String()
	}
	direct := withoutProxy(e.direct)
	vars := []variable{
		{"http_proxy", proxy},
		{"HTTP_PROXY", proxy},
		{"https_proxy", proxy},
		{"HTTPS_PROXY", proxy},
		{"no_proxy", direct},
		{"NO_PROXY", direct},
		{"NODE_USE_ENV_PROXY", "1"},
		{"NODE_EXTRA_CA_CERTS", e.cert},
		{"DENO_CERT", e.cert},
		{"SSL_CERT_FILE", e.bundle},
		{"CURL_CA_BUNDLE", e.bundle},
		{"REQUESTS_CA_BUNDLE", e.bundle},
		{"PIP_CERT", e.bundle},
		{"GIT_SSL_CAINFO", e.bundle},
		{"CARGO_HTTP_CAINFO", e.bundle},
		{"AWS_CA_BUNDLE", e.bundle},
		{"npm_config_cafile", e.bundle},
		{"CODEX_CA_CERTIFICATE", e.bundle},
		{"WGETRC", e.wgetrc},
	}
	if e.session != "" {
		vars = append(vars, variable{"READTHRU_SESSION", e.session})
	}
	return vars
}

// withoutProxy returns this machine's names and the hosts in before. It drops patterns, which curl does not support,
// and .local, since the onboarding page readthru.local is behind the proxy.
func withoutProxy(before string) string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	for h := range strings.FieldsFuncSeq(before, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !strings.Contains(h, "*") && h != ".local" && h != "local" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return strings.Join(hosts, ",")
}

// newClientEnv returns the environment and writes the files that it names.
func newClientEnv(s *settings, authority *certs.Authority, proxy, login string) (clientEnv, error) {
	e := clientEnv{
		proxy: proxy, login: login, cert: authorityOptions(s).AddedFile(), bundle: authority.BundleFile(),
		wgetrc: filepath.Join(s.dataDir, "wgetrc"),
	}
	e.direct = os.Getenv("no_proxy")
	if e.direct == "" {
		e.direct = os.Getenv("NO_PROXY")
	}
	return e, writeWgetrc(e.wgetrc, e.bundle)
}

// writeWgetrc writes a configuration file for wget, the only place where wget looks for roots: a copy of the user's own
// file, then the bundle.
func writeWgetrc(name, bundle string) error {
	own := os.Getenv("WGETRC")
	if own == "" || own == name { // in "readthru run" the variable is ours
		if home, err := os.UserHomeDir(); err == nil {
			own = filepath.Join(home, ".wgetrc")
		}
	}
	var text []byte
	if own != "" {
		text, _ = os.ReadFile(own) // most users have no such file
		if len(text) > 0 && text[len(text)-1] != '\n' {
			text = append(text, '\n')
		}
	}
	text = fmt.Appendf(text, "ca_certificate = %s\n", bundle)
	if now, err := os.ReadFile(name); err == nil && bytes.Equal(now, text) {
		return nil
	}
	err := wholefile.Write(name, text, 0o600) // the wget of another command may be reading it
	if err != nil {
		return fmt.Errorf("wget's configuration: %w", err)
	}
	return nil
}

// export writes variables in a shell's syntax.
func export(shell string, vars []variable) (string, error) {
	var b strings.Builder
	switch shell {
	case "json":
		m := map[string]string{}
		for _, v := range vars {
			m[v.name] = v.value
		}
		text, err := json.MarshalIndent(m, "", "  ")
		return string(text) + "\n", err
	case "fish":
		for _, v := range vars {
			fmt.Fprintf(&b, "set -gx %s '%s'\n", v.name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v.value))
		}
	case "powershell", "pwsh":
		for _, v := range vars {
			fmt.Fprintf(&b, "$env:%s = '%s'\n", v.name, strings.ReplaceAll(v.value, `'`, `''`))
		}
	default:
		for _, v := range vars {
			fmt.Fprintf(&b, "export %s='%s'\n", v.name, strings.ReplaceAll(v.value, `'`, `'\''`))
		}
	}
	return b.String(), nil
}

// withVariables returns env with vars set, and without ALL_PROXY, which some clients prefer.
func withVariables(env []string, vars []variable) []string {
	replaced := map[string]bool{"ALL_PROXY": true, "all_proxy": true}
	for _, v := range vars {
		replaced[v.name] = true
	}
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !replaced[name] {
			out = append(out, e)
		}
	}
	for _, v := range vars {
		out = append(out, v.name+"="+v.value)
	}
	return out
}
