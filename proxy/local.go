package proxy

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"readthru/fetch"
	"readthru/httpfield"
	"readthru/page"
)

// resolveDirect resolves a request sent to the listener as an origin server, not as a proxy: for the page at
// readthru.local, or in the prefix form GET /https://host/path, which answers markdown to a client without proxy
// settings. A web page in the user's browser can send such requests too. Therefore the Host field must name this
// listener (against DNS rebinding), and Sec-Fetch-Site must not name another site.
func (x *exchange) resolveDirect() *refusal {
	if !ourHost(x.r.Host, x.ourAddr()) {
		return &refusal{
			status: http.StatusForbidden, title: "Forbidden", proxyError: "http_request_denied",
			detail: fmt.Sprintf("This is a proxy, and %q is not its name: send requests for http://%s/ through it, or open "+
				"http://%s/.", clip(x.r.Host), clip(x.r.Host), x.ourAddr()),
		}
	}
	switch x.r.Header.Get("Sec-Fetch-Site") {
	case "", "none", "same-origin":
	default:
		return &refusal{
			status: http.StatusForbidden, title: "Forbidden", proxyError: "http_request_denied",
			detail: "A page of another site may not send requests to this listener.",
		}
	}
	target := prefixTarget(x.r.RequestURI)
	if target == "" {
		return nil
	}
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		return notAllowed
	}
	u, err := page.Parse(target)
	if err != nil {
		return badRequest(fmt.Sprintf("Prefix form: %v.", err))
	}
	x.prefix = u
	_, bad := authorityOf(u, "443")
	return bad
}

// ourAddr returns the address that the client connected to, host:port. The listener's own address may be 0.0.0.0, which
// a client cannot use.
func (x *exchange) ourAddr() string {
	if at, ok := x.r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !at.IP.IsUnspecified() {
		return (&net.TCPAddr{IP: at.IP, Port: at.Port}).String() // without the zone, which has no meaning on another machine
	}
	return x.s.addr.String()
}

// ourHost reports whether a Host field names readthru.local or addr, the address that the client connected to.
func ourHost(field, addr string) bool {
	ours, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	host, asked, err := splitAuthority(field, "80")
	if err != nil {
		return false
	}
	if host == localHost {
		return true
	}
	if asked != port {
		return false
	}
	return page.Loopback(host) || host == ours
}

// prefixTarget returns the URL in a prefix-form target, or "". Some clients fold the two slashes into one.
func prefixTarget(uri string) string {
	rest := strings.TrimPrefix(uri, "/")
	for _, scheme := range []string{"https:/", "http:/"} {
		if len(rest) > len(scheme) && strings.EqualFold(rest[:len(scheme)], scheme) {
			return scheme + "/" + strings.TrimLeft(rest[len(scheme):], "/")
		}
	}
	return ""
}

// signInAtListener returns the user of a request in prefix form. A client without proxy settings signs in as at an
// origin server: with Authorization.
func (x *exchange) signInAtListener() (User, *refusal) {
	if len(x.policy.auth.users) == 0 {
		return User{}, nil
	}
	user, bad := x.signIn(cmp.Or(x.r.Header.Get("Authorization"), x.r.Header.Get("Proxy-Authorization")))
	if bad != nil && bad.status == http.StatusProxyAuthRequired {
		bad.status, bad.title = http.StatusUnauthorized, "Authentication required"
		bad.header = http.Header{"Www-Authenticate": {`Basic realm="readthru", charset="UTF-8"`}}
	}
	return user, bad
}

// servePrefix answers with the page that the prefix form names. The proxy fetches it for itself, without the client's
// fields.
func (x *exchange) servePrefix() {
	if bad := x.blockedPage(); bad != nil {
		x.refuse(bad)
		return
	}
	if x.p.o.Fetch == nil {
		x.refuse(&refusal{
			status: http.StatusServiceUnavailable, title: "Unavailable",
			detail: "The prefix form is not available: this proxy does not fetch pages.",
		})
		return
	}
	// An answer that is not a page keeps the origin server's content. It must not run as a script of our web origin.
	h := x.w.Header()
	h.Set("Content-Security-Policy", "sandbox; default-src 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	ask := http.Header{}
	if lines := x.r.Header["Cache-Control"]; len(lines) > 0 {
		ask["Cache-Control"] = slices.Clone(lines)
	}
	if x.s.terms.Offline {
		storedOnly(ask)
	}
	ctx, cancel := x.reader.within(x.r.Context())
	defer cancel()
	answer, err := x.p.o.Fetch.Page(ctx, fetch.Request{
		HTML: x.asked.mode == "html" || x.asked.mode == "raw", WaitFor: x.reader.waitFor,
		Header: ask, CacheOnly: x.s.terms.Offline,
		URL: x.prefix, Method: x.r.Method, Own: true, Text: x.asked.mode == "text", MaxTokens: x.asked.maxTokens,
		View:   x.asked.view,
		Render: x.asked.render, Session: x.session, User: x.rec.User,
		Force:   httpfield.Has(x.r.Header, "Cache-Control", "no-cache"),
		NoStore: httpfield.Has(x.r.Header, "Cache-Control", "no-store"),
		Agent:   x.r.UserAgent(),
	})
	if err == nil {
		err = x.reader.wrap(answer)
	}
	if err != nil {
		x.fail(x.prefix, err)
		return
	}
	fields := answer.Header
	if answer.Response != nil {
		fields = answer.Response.Header
	}
	for _, name := range []string{
		"Set-Cookie", "Access-Control-Allow-Origin", "Access-Control-Allow-Credentials", "Service-Worker-Allowed",
		"Clear-Site-Data",
		"Strict-Transport-Security", "Content-Security-Policy", "X-Content-Type-Options", "Cross-Origin-Resource-Policy",
		"Location", "Refresh",
	} {
		fields.Del(name)
	}
	x.send(answer)
}

var notAllowed = &refusal{
	status: http.StatusMethodNotAllowed, title: "Method not allowed", detail: "Only GET and HEAD are allowed here.",
	header: http.Header{"Allow": {"GET, HEAD"}},
}

// serveLocal serves readthru.local: a page that explains how to trust our certificate, the certificate, and the proxy
// auto-configuration.
func (x *exchange) serveLocal() {
	if x.r.Method != http.MethodGet && x.r.Method != http.MethodHead {
		x.refuse(notAllowed)
		return
	}
	h := x.w.Header()
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Content-Security-Policy",
		"default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'")
	switch x.r.URL.Path {
	case "/", "":
		var b strings.Builder
		if err := localPage.Execute(&b, localFacts{
			Proxy: x.ourAddr(), Admin: x.p.o.AdminURL,
		}); err != nil {
			panic("proxy: the page of readthru.local: " + err.Error())
		}
		x.serveBytes("text/html; charset=utf-8", []byte(b.String()))
	case "/ca.pem":
		h.Set("Content-Disposition", `attachment; filename="readthru-ca.pem"`)
		x.serveBytes("application/x-pem-file", x.p.o.Authority.PEM())
	case "/ca.der", "/ca.crt":
		block, _ := pem.Decode(x.p.o.Authority.PEM())
		h.Set("Content-Disposition", `attachment; filename="readthru-ca.crt"`)
		x.serveBytes("application/x-x509-ca-cert", block.Bytes)
	case "/proxy.pac":
		x.serveBytes("application/x-ns-proxy-autoconfig", []byte(AutoConfig(x.ourAddr())))
	default:
		x.refuse(&refusal{
			status: http.StatusNotFound, title: "Not found",
			detail: "Page not found: try /, /ca.pem, /ca.der, /proxy.pac, or /https://HOST/PATH for a page in " +
				"markdown.",
		})
	}
}

func (x *exchange) serveBytes(contentType string, body []byte) {
	h := x.w.Header()
	h.Set("Content-Type", contentType)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	x.rec.Status = http.StatusOK
	x.w.WriteHeader(http.StatusOK)
	if x.r.Method == http.MethodHead {
		return
	}
	n, _ := x.w.Write(body) // the client has gone if the write fails
	x.rec.BytesOut += int64(n)
}

// AutoConfig returns a proxy auto-configuration that sends all requests through addr, except those for this machine. It
// has no DIRECT fallback: with one, browsers would silently bypass the proxy while it is down.
func AutoConfig(addr string) string {
	return `function FindProxyForURL(url, host) {
  if (host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]") return "DIRECT";
  return "PROXY ` + addr + `";
}
`
}

type localFacts struct{ Proxy, Admin string }

var localPage = template.Must(template.New("local").Parse(`<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>readthru</title>
<style>body{font:16px/1.5 system-ui,sans-serif;max-width:46rem;margin:2rem auto;padding:0 1rem}code,pre{background:#8881;padding:.1em .3em;border-radius:4px}pre{padding:.7em;overflow:auto}</style>
</head><body>
<h1>readthru</h1>
<p>The proxy at <code>{{.Proxy}}</code> works. Pages over https need one more step: trust its certificate authority,
which was made on the proxy's machine and is unique to it.</p>
<p><a href="/ca.pem">ca.pem</a> · <a href="/ca.der">ca.der</a> · <a href="/proxy.pac">proxy.pac</a>{{if .Admin}} · <a href="{{.Admin}}">admin port</a>{{end}}</p>
<h2>Automatically</h2>
<pre>readthru run -- COMMAND     # for one program, installs nothing
eval "$(readthru env)"      # for this shell
readthru ca install         # for this system and its browsers</pre>
<h2>Manually</h2>
<p>Save <a href="/ca.pem">readthru-ca.pem</a>, for Windows <a href="/ca.der">readthru-ca.crt</a>, and in its folder:</p>
<ul>
<li><b>Debian, Ubuntu, Alpine</b>: <code>sudo cp readthru-ca.pem /usr/local/share/ca-certificates/readthru.crt &amp;&amp; sudo update-ca-certificates</code></li>
<li><b>Fedora, RHEL</b>: <code>sudo cp readthru-ca.pem /etc/pki/ca-trust/source/anchors/readthru.pem &amp;&amp; sudo update-ca-trust</code></li>
<li><b>macOS</b>: <code>sudo security add-trusted-cert -d -r trustRoot -k /Library/Keychains/System.keychain readthru-ca.pem</code></li>
<li><b>Windows</b>: <code>certutil -addstore -user Root readthru-ca.crt</code></li>
<li><b>Chromium on Linux</b>: <code>certutil -d sql:$HOME/.local/share/pki/nssdb -A -t C,, -n readthru -i readthru-ca.pem</code></li>
<li><b>Firefox</b>: Settings, Certificates, Authorities, Import <a href="/ca.pem">ca.pem</a></li>
<li><b>Node, Deno</b>: <code>NODE_EXTRA_CA_CERTS=$PWD/readthru-ca.pem</code>, <code>DENO_CERT=$PWD/readthru-ca.pem</code></li>
<li><b>Python, curl, Go, git</b>: <code>SSL_CERT_FILE</code>, <code>REQUESTS_CA_BUNDLE</code>, <code>CURL_CA_BUNDLE</code>, <code>GIT_SSL_CAINFO</code> = one file of the system's certificates and <code>readthru-ca.pem</code>; where readthru runs, <code>readthru env</code> names it</li>
</ul>
<h2>Without configuration</h2>
<pre>curl http://{{.Proxy}}/https://go.dev/doc/</pre>
</body></html>
`))
