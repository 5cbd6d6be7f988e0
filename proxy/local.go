package proxy

import (
	_ "embed" // of the page
	"encoding/pem"
	"fmt"
	"html/template"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/proxy/strict"
)

// resolveDirect resolves a request sent to the listener as an origin server, not as a proxy: for the page at
// readthru.local, or in the prefix form GET /https://host/path, which answers markdown to a client without proxy
// settings. A web page in the user's browser can send such requests too. Therefore the Host field must name this
// listener (against DNS rebinding), and no browser may say that a page of another site had it sent.
func (x *incoming) resolveDirect() *strict.Refusal {
	if !ourHost(x.r.Host, x.ourAddr()) {
		return &strict.Refusal{
			Status: http.StatusForbidden, Title: "Forbidden", ProxyError: "http_request_denied",
			Detail: fmt.Sprintf("This is a proxy, and %q is not its name: send requests for http://%s/ through it, or open "+
				"http://%s/.", strict.Shown(x.r.Host), strict.Shown(x.r.Host), x.ourAddr()),
		}
	}
	if words, other := httpfield.OtherSite(x.r.Header, x.r.Host); other {
		return &strict.Refusal{
			Status: http.StatusForbidden, Title: "Forbidden", ProxyError: "http_request_denied",
			Detail: fmt.Sprintf("A page of another site may not send requests to this listener: %s.", strict.Shown(words)),
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
		return strict.BadRequest(fmt.Sprintf("Prefix form: %v.", err))
	}
	x.prefix = u
	_, bad := strict.AuthorityOf(u, "443")
	return bad
}

// ourAddr returns, for pages of the proxy's own (local ones), the address that the client connected to, host:port. The
// listener's own address may be 0.0.0.0, which a client cannot use.
func (x *incoming) ourAddr() string {
	if at, ok := x.r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr); ok && !at.IP.IsUnspecified() {
		return (&net.TCPAddr{IP: at.IP, Port: at.Port}).String() // without the zone, which has no meaning on another machine
	}
	return x.s.addr.String()
}

// ourHost reports whether a Host field names readthru.local or addr, the address that the client connected to. Any name
// of loopback will do with the right port.
func ourHost(field, addr string) bool {
	ours, port, err := net.SplitHostPort(addr)
	if err != nil {
		return false
	}
	host, asked, err := strict.SplitAuthority(field, "80")
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

// notAllowed refuses a method that the proxy's own pages and the prefix form do not have.
var notAllowed = &strict.Refusal{
	Status: http.StatusMethodNotAllowed, Title: "Method not allowed", Detail: "Only GET and HEAD are allowed here.",
	Header: http.Header{"Allow": {"GET, HEAD"}},
}

// serveLocal serves readthru.local: a page that explains how to trust our certificate, the certificate, and the proxy
// auto-configuration. It needs no sign-in, since clients fetch these before they can.
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
			Proxy: x.ourAddr(), Admin: x.p.o.AdminURL, Secure: x.r.URL.Scheme == "https",
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
		x.refuse(&strict.Refusal{
			Status: http.StatusNotFound, Title: "Not found",
			Detail: "Page not found: try /, /ca.pem, /ca.der, /proxy.pac, or /https://HOST/PATH for a page in " +
				"markdown.",
		})
	}
}

// serveBytes answers the request for a page of readthru.local with content of a type.
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

// AutoConfig returns the text of the local page /proxy.pac: a proxy auto-configuration that sends all requests through
// addr, except those for this machine. It has no DIRECT fallback: with one, browsers would silently bypass the proxy
// while it is down.
func AutoConfig(addr string) string {
	return `function FindProxyForURL(url, host) {
  if (host == "localhost" || host == "127.0.0.1" || host == "::1" || host == "[::1]") return "DIRECT";
  return "PROXY ` + addr + `";
}
`
}

// localFacts are what the page of readthru.local says. Secure: it was asked for over https.
type localFacts struct {
	Proxy, Admin string
	Secure       bool
}

//go:embed onboarding.html
var localText string

var localPage = template.Must(template.New("local").Parse(localText))
