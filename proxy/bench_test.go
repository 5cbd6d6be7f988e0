package proxy_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/proxy"
)

// bench is a proxy on a loopback listener, with origins behind names under .test.
type bench struct {
	clients   []*http.Transport
	t         *testing.T
	proxy     *proxy.Proxy
	addr      string // of the proxy's listener
	authority *certs.Authority
	transport *transport.Transport
	roots     *x509.CertPool // trusts the proxy
	log       *logBuffer
	stop      func()
}

// origins maps "host:port" to the address of the server behind it. Those that speak TLS have the certificate of
// originCA.
type origins map[string]string

var (
	originAuthority *certs.Authority
	originOnce      sync.Once
)

// originCA signs for origins; it is another authority than the proxy's.
func originCA(tb testing.TB) *certs.Authority {
	tb.Helper()
	originOnce.Do(func() {
		dir, err := os.MkdirTemp("", "origin-ca")
		if err != nil {
			tb.Fatal(err)
		}
		defer func() { _ = os.RemoveAll(dir) }()
		if originAuthority, err = certs.Open(certs.Options{Dir: dir}); err != nil {
			tb.Fatal(err)
		}
	})
	return originAuthority
}

// newBench starts a proxy. adjust changes its options before it starts; it may be nil.
func newBench(t *testing.T, names origins, adjust func(*proxy.Options)) *bench {
	t.Helper()
	dir := t.TempDir()
	authority, err := certs.Open(certs.Options{Dir: filepath.Join(dir, "ca")})
	if err != nil {
		t.Fatal(err)
	}
	caFile := filepath.Join(dir, "origin-ca.pem")
	if err := os.WriteFile(caFile, originCA(t).PEM(), 0o644); err != nil {
		t.Fatal(err)
	}
	var resolve []string
	for name, addr := range names {
		resolve = append(resolve, name+"="+addr)
	}
	origins, err := transport.New(transport.Options{
		Resolve: resolve, CAFile: caFile,
		AllowPrivateProxied: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, authority: authority, transport: origins, roots: x509.NewCertPool(), log: &logBuffer{}}
	b.roots.AddCert(authority.Certificate())
	o := proxy.Options{
		Client: origins, Transport: origins, Dial: origins.Dial, Authority: authority, Log: b.log.logger(),
	}
	if adjust != nil {
		adjust(&o)
	}
	if b.proxy, err = proxy.New(o); err != nil {
		t.Fatal(err)
	}
	addr, stop := serve(t, b.proxy)
	b.addr, b.stop = addr, func() {
		for _, c := range b.clients { // an idle connection of HTTP/2 holds a server up for a second
			c.CloseIdleConnections()
		}
		stop()
	}
	t.Cleanup(func() {
		b.stop()
		origins.CloseIdleConnections()
	})
	return b
}

// serve runs p on a new listener until the test ends or stop is called.
func serve(t *testing.T, p *proxy.Proxy) (addr string, stop func()) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	return serveOn(t, p, l)
}

// serveOn is serve with a listener, which it closes.
func serveOn(t *testing.T, p *proxy.Proxy, l net.Listener) (addr string, stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		if err := p.Serve(ctx, l); err != nil {
			t.Error(err)
		}
	}()
	stop = sync.OnceFunc(func() {
		cancel()
		<-done
	})
	t.Cleanup(stop)
	return l.Addr().String(), stop
}

// client returns an HTTP client that goes through the proxy and trusts it.
func (b *bench) client() *http.Client {
	tr := &http.Transport{
		Proxy:              http.ProxyURL(&url.URL{Scheme: "http", Host: b.addr}),
		TLSClientConfig:    &tls.Config{RootCAs: b.roots},
		DisableCompression: true,
		ForceAttemptHTTP2:  true,
	}
	b.clients = append(b.clients, tr)
	return &http.Client{Transport: tr, CheckRedirect: func(*http.Request,
		[]*http.Request,
	) error {
		return http.ErrUseLastResponse
	}}
}

// reply is a response that has been read to its end.
type reply struct {
	Status        string
	StatusCode    int
	Header        http.Header
	ContentLength int64
	Body          string
}

// read reads resp to its end and closes it.
func read(resp *http.Response) (reply, error) {
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return reply{resp.Status, resp.StatusCode, resp.Header, resp.ContentLength, string(body)}, err
}

// get fetches a URL with these fields ("Name: value") and returns response and body.
func (b *bench) get(target string, fields ...string) (reply, string) {
	b.t.Helper()
	return b.do(http.MethodGet, target, nil, fields...)
}

// visit sends a GET with a client of the test's own.
func visit(ctx context.Context, client *http.Client, target string) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, http.NoBody)
	if err != nil {
		return nil, err
	}
	return client.Do(req)
}

func (b *bench) do(method, target string, body io.Reader, fields ...string) (reply, string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, target, body)
	if err != nil {
		b.t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := b.client().Do(req)
	if err != nil {
		b.t.Fatalf("%s %s: %v", method, target, err)
	}
	got, err := read(resp)
	if err != nil {
		b.t.Fatalf("%s %s: body: %v", method, target, err)
	}
	return got, got.Body
}

// dial opens a connection to the proxy, closed with the test.
func (b *bench) dial() *net.TCPConn {
	b.t.Helper()
	c, err := new(net.Dialer).DialContext(b.t.Context(), "tcp", b.addr)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = c.SetDeadline(time.Now().Add(2 * time.Minute))
	b.t.Cleanup(func() { _ = c.Close() })
	return c.(*net.TCPConn)
}

// connect opens a tunnel and returns the connection after the proxy's answer.
func (b *bench) connect(target string) (net.Conn, reply) {
	b.t.Helper()
	c := b.dial()
	return c, b.ask(c, "CONNECT "+target+" HTTP/1.1\r\nHost: "+target+"\r\n\r\n")
}

// ask sends a CONNECT and reads the answer, but nothing of what follows if it is 200.
func (b *bench) ask(c net.Conn, request string) reply {
	b.t.Helper()
	io.WriteString(c, request)
	target, _, _ := strings.Cut(request, "\r\n")
	var head []byte
	for one := make([]byte, 1); !bytes.HasSuffix(head, []byte("\r\n\r\n")); head = append(head, one...) {
		if _, err := io.ReadFull(c, one); err != nil {
			b.t.Fatalf("%s: %v", target, err)
		}
	}
	resp, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(head), c)),
		&http.Request{Method: http.MethodConnect})
	if err != nil {
		b.t.Fatalf("%s: %v", target, err)
	}
	if resp.StatusCode == http.StatusOK {
		resp.Body = http.NoBody // what follows is the tunnel's
	}
	got, err := read(resp)
	if err != nil {
		b.t.Fatalf("%s: body: %v", target, err)
	}
	return got
}

// secure opens a tunnel and makes TLS with the proxy in it.
func (b *bench) secure(target, serverName string) *tls.Conn {
	b.t.Helper()
	c, resp := b.connect(target)
	if resp.StatusCode != http.StatusOK {
		b.t.Fatalf("CONNECT %s: %s", target, resp.Status)
	}
	s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: serverName})
	if err := s.HandshakeContext(b.t.Context()); err != nil {
		b.t.Fatalf("handshake in the tunnel to %s: %v", target, err)
	}
	return s
}

// raw writes bytes and returns all that comes back until the connection ends or is quiet for long.
func raw(t *testing.T, c net.Conn, request string) string {
	t.Helper()
	io.WriteString(c, request)
	got, _ := io.ReadAll(c)
	return string(got)
}

// plainOrigin starts an origin without TLS.
func plainOrigin(t *testing.T, h http.HandlerFunc) (addr string) {
	t.Helper()
	return originOf(t, h, func(*httptest.Server) {})
}

// originOf is plainOrigin with a server that prepare has changed.
func originOf(t *testing.T, h http.HandlerFunc, prepare func(*httptest.Server)) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	prepare(s)
	s.Start()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// tlsOrigin starts an origin with TLS, h1 and h2, for any name.
func tlsOrigin(t *testing.T, h http.HandlerFunc) (addr string) {
	t.Helper()
	return tlsOriginOf(t, h, func(*httptest.Server) {})
}

// tlsOriginOf is tlsOrigin with a server that prepare has changed.
func tlsOriginOf(t *testing.T, h http.HandlerFunc, prepare func(*httptest.Server)) (addr string) {
	t.Helper()
	s := httptest.NewUnstartedServer(h)
	s.EnableHTTP2 = true
	prepare(s)
	ca := originCA(t)
	s.TLS = &tls.Config{GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) {
		return ca.Leaf(hello.ServerName)
	}}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s.Listener.Addr().String()
}

// rawOrigin accepts connections and hands each to f, which may close it.
func rawOrigin(t *testing.T, f func(c net.Conn)) (addr string) {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer func() { _ = c.Close() }()
				f(c)
			})
		}
	})
	t.Cleanup(func() {
		_ = l.Close()
		wg.Wait()
	})
	return l.Addr().String()
}

// readHead reads a request's head from c. It returns nil when none came.
func readHead(c net.Conn) *http.Request {
	req, err := http.ReadRequest(bufio.NewReader(c))
	if err != nil {
		return nil
	}
	return req
}
