package settings

import (
	"cmp"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/readthru/readthru/page"
)

// ProxyAdvice is what to do where an environment names a proxy that the daemon does not use.
const ProxyAdvice = "HTTPS_PROXY or HTTP_PROXY names a proxy: set proxy.upstream to it, or use readthru serve " +
	"--proxy-from-env"

// EnvironmentProxy returns the URL of the proxy that HTTPS_PROXY or else HTTP_PROXY names. It is empty if they are not
// set or name our own proxy, as "readthru run" and "readthru env" make them: requests would go round in a ring. also is
// another address at which the proxy listens, or empty.
func (s *Settings) EnvironmentProxy(also string) string {
	env := httpproxy.FromEnvironment()
	raw := cmp.Or(strings.TrimSpace(env.HTTPSProxy), strings.TrimSpace(env.HTTPProxy))
	if raw == "" {
		return ""
	}
	if !strings.Contains(raw, "://") {
		raw = "http://" + raw
	}
	u, err := url.Parse(raw)
	if err != nil {
		return raw // whoever uses it says what is wrong
	}
	for _, addr := range []string{s.Proxy.Listen, also} {
		if host, port, err := net.SplitHostPort(addr); err == nil && u.Port() == port &&
			(page.Loopback(u.Hostname()) || u.Hostname() == host) {
			return ""
		}
	}
	if page.Loopback(u.Hostname()) && os.Getenv("WGETRC") == filepath.Join(s.DataDir, "wgetrc") {
		return "" // the proxy of a run
	}
	return raw
}

// EnvironmentDirect returns what NO_PROXY names, but for this machine, which no proxy is asked for.
func EnvironmentDirect() []string {
	names := strings.FieldsFunc(httpproxy.FromEnvironment().NoProxy, func(r rune) bool { return r == ',' || r == ' ' })
	return slices.DeleteFunc(names, page.Loopback)
}

// UpstreamAdvice returns ProxyAdvice if it applies to connections that fail, else "".
func (s *Settings) UpstreamAdvice() string {
	if s.Proxy.Upstream != "" || s.EnvironmentProxy("") == "" {
		return ""
	}
	return ProxyAdvice
}
