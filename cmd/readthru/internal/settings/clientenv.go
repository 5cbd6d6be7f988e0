package settings

import (
	"bytes"
	"cmp"
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

// Variable is one variable of the environment.
type Variable struct{ Name, Value string }

// ClientEnv holds the values of the environment of clients.
type ClientEnv struct {
	Proxy   string // the proxy's address, host:port
	login   string // name:password for a proxy with users, else empty
	Session string // for readthru's own commands, else empty
	Cert    string // file for clients that add roots to their own
	Bundle  string // file for clients that have no others: with the system's roots, too
	WGETRC  string // file that wget reads
	Direct  string // hosts that the user already reaches without a proxy
}

// Variables returns the environment that sends clients through the proxy and makes them trust it. Clients differ in the
// case of the names that they read (curl reads http_proxy only in lower case), and in whether a file of roots is added
// to their own or replaces them: clients of the latter kind get the bundle.
func (e ClientEnv) Variables() []Variable {
	proxy := (&url.URL{Scheme: "http", Host: e.Proxy}).String()
	if name, password, ok := strings.Cut(e.login, ":"); ok {
		proxy = (&url.URL{Scheme: "http", User: url.UserPassword(name, password), Host: e.Proxy}).String()
	}
	direct := WithoutProxy(e.Direct)
	vars := []Variable{
		{"http_proxy", proxy},
		{"HTTP_PROXY", proxy},
		{"https_proxy", proxy},
		{"HTTPS_PROXY", proxy},
		{"no_proxy", direct},
		{"NO_PROXY", direct},
		{"NODE_USE_ENV_PROXY", "1"},
		{"NODE_EXTRA_CA_CERTS", e.Cert},
		{"DENO_CERT", e.Cert},
		{"SSL_CERT_FILE", e.Bundle},
		{"CURL_CA_BUNDLE", e.Bundle},
		{"REQUESTS_CA_BUNDLE", e.Bundle},
		{"PIP_CERT", e.Bundle},
		{"GIT_SSL_CAINFO", e.Bundle},
		{"CARGO_HTTP_CAINFO", e.Bundle},
		{"AWS_CA_BUNDLE", e.Bundle},
		{"npm_config_cafile", e.Bundle},
		{"CODEX_CA_CERTIFICATE", e.Bundle},
		{"WGETRC", e.WGETRC},
	}
	if e.Session != "" {
		vars = append(vars, Variable{"READTHRU_SESSION", e.Session})
	}
	return vars
}

// WithoutProxy returns this machine's names and the hosts in before. It drops patterns, which curl does not support,
// and .local, since the onboarding page readthru.local is behind the proxy.
func WithoutProxy(before string) string {
	hosts := []string{"localhost", "127.0.0.1", "::1"}
	for h := range strings.FieldsFuncSeq(before, func(r rune) bool { return r == ',' || r == ' ' }) {
		if !strings.Contains(h, "*") && h != ".local" && h != "local" && !slices.Contains(hosts, h) {
			hosts = append(hosts, h)
		}
	}
	return strings.Join(hosts, ",")
}

// NewClientEnv returns the environment and writes the files that it names.
func NewClientEnv(s *Settings, authority *certs.Authority, proxy, login string) (ClientEnv, error) {
	e := ClientEnv{
		Proxy: proxy, login: login, Cert: AuthorityOptions(s).AddedFile(), Bundle: authority.BundleFile(),
		WGETRC: filepath.Join(s.DataDir, "wgetrc"),
	}
	e.Direct = os.Getenv("no_proxy")
	e.Direct = cmp.Or(e.Direct, os.Getenv("NO_PROXY"))
	return e, writeWgetrc(e.WGETRC, e.Bundle)
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

// Export writes variables in a shell's syntax.
func Export(shell string, vars []Variable) (string, error) {
	var b strings.Builder
	switch shell {
	case "json":
		m := map[string]string{}
		for _, v := range vars {
			m[v.Name] = v.Value
		}
		text, err := json.MarshalIndent(m, "", "  ")
		return string(text) + "\n", err
	case "fish":
		for _, v := range vars {
			fmt.Fprintf(&b, "set -gx %s '%s'\n", v.Name, strings.NewReplacer(`\`, `\\`, `'`, `\'`).Replace(v.Value))
		}
	case "powershell", "pwsh":
		for _, v := range vars {
			fmt.Fprintf(&b, "$env:%s = '%s'\n", v.Name, strings.ReplaceAll(v.Value, `'`, `''`))
		}
	default:
		for _, v := range vars {
			fmt.Fprintf(&b, "export %s='%s'\n", v.Name, strings.ReplaceAll(v.Value, `'`, `'\''`))
		}
	}
	return b.String(), nil
}

// WithVariables returns env with vars set, and without ALL_PROXY, which some clients prefer.
func WithVariables(env []string, vars []Variable) []string {
	replaced := map[string]bool{"ALL_PROXY": true, "all_proxy": true}
	for _, v := range vars {
		replaced[v.Name] = true
	}
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !replaced[name] {
			out = append(out, e)
		}
	}
	for _, v := range vars {
		out = append(out, v.Name+"="+v.Value)
	}
	return out
}
