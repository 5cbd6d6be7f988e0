package proxy_test

import (
	"bufio"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy"
)

func TestHopByHopFieldsEndHereBothWays(t *testing.T) {
	var got http.Header
	both(t, func(w http.ResponseWriter, r *http.Request) {
		got = r.Header.Clone()
		h := w.Header()
		if r.ProtoMajor == 1 { // HTTP/2 has no such fields
			h.Set("Connection", "X-Hop")
			h.Set("X-Hop", "1")
		}
		h.Set("Keep-Alive", "timeout=5")
		h.Set("Proxy-Authenticate", "Basic")
		h.Set("Proxy-Connection", "keep-alive")
		h.Set("X-Kept", "1")
	}, func(t *testing.T, b *bench, base string) {
		t.Helper()
		var response string
		fields := "Connection: close, X-Secret\r\nX-Secret: 1\r\nKeep-Alive: 1\r\nTE: trailers, " +
			"gzip\r\nProxy-Authorization: Basic c2VjcmV0\r\nProxy-Connection: keep-alive\r\n" +
			"Upgrade: h2c\r\nHTTP2-Settings: AAMAAABk\r\nX-Readthru-Mode: raw\r\nX-Readthru-Anything: " +
			"1\r\nX-Kept: 1\r\nAccept-Encoding: zstd, x-own\r\n\r\n"
		if strings.HasPrefix(base, "https") {
			response = raw(t, b.secure("a.test:443", "a.test"), "GET / HTTP/1.1\r\nHost: a.test\r\n"+fields)
		} else {
			response = raw(t, b.dial(), "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\n"+fields)
		}
		for _, name := range []string{
			"X-Secret", "Keep-Alive", "Te", "Proxy-Authorization", "Proxy-Connection", "Upgrade",
			"Http2-Settings", "X-Readthru-Mode", "X-Readthru-Anything",
		} {
			if got[name] != nil {
				t.Errorf("the origin got %s: %q", name, got[name])
			}
		}
		if got.Get("X-Kept") == "" || !strings.HasPrefix(got.Get("Via"), "1.1 readthru-") {
			t.Errorf("the origin got %q", got)
		}
		if ae := got["Accept-Encoding"]; len(ae) != 1 || ae[0] != "zstd, x-own" {
			t.Errorf("the origin got Accept-Encoding %q", ae)
		}
		if got["User-Agent"] != nil {
			t.Errorf("a User-Agent was made up: %q", got["User-Agent"])
		}
		for _, name := range []string{"X-Hop", "Keep-Alive", "Proxy-Authenticate", "Proxy-Connection"} {
			if strings.Contains(response, name) {
				t.Errorf("the client got %s: %q", name, response)
			}
		}
		if !strings.Contains(response, "X-Kept: 1") {
			t.Errorf("the client got %q", response)
		}
	})
}

func TestMalformedRequestsAreAnswered400AndTheConnectionCloses(t *testing.T) {
	var asked atomic.Int32
	b := newBench(t, origins{"*:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) { asked.Add(1) })},
		nil)
	for _, request := range []string{
		"GET http://user:pass@a.test/ HTTP/1.1\r\nHost: a.test\r\n",
		"GET http://a.test/#frag HTTP/1.1\r\nHost: a.test\r\n",
		"GET http://a%41.test/ HTTP/1.1\r\nHost: a.test\r\n",
		"GET http://a.test:0/ HTTP/1.1\r\nHost: a.test\r\n",
		"GET http://a.test:080/ HTTP/1.1\r\nHost: a.test\r\n",
		"GET http:///x HTTP/1.1\r\nHost: a.test\r\n",
		"GET http:a.test HTTP/1.1\r\nHost: a.test\r\n",
		"GET ftp://a.test/ HTTP/1.1\r\nHost: a.test\r\n",
		"GET http://a.test/ HTTP/1.1\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Content-Length\r\nContent-Length: 0\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: transfer-encoding\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: host\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Mode: sideways\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Max-Tokens: many\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Render: maybe\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Content: half\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Start: first\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Selector: p >\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nX-Readthru-Links: blue\r\n",
		"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nContent-Length: 3\r\nContent-Length: 4\r\n",
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nBad Name: x\r\n",
	} {
		got := raw(t, b.dial(), request+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 400 ") {
			t.Errorf("%q: %.60q, want 400", request, got)
		}
	}
	if n := asked.Load(); n != 0 {
		t.Errorf("%d of them reached an origin", n)
	}
}

// What is wrong with a body is found when the request is under way: it is answered, too, and told as it is.
func TestMalformedBodiesAreAnswered400(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // it breaks off
	})}, nil)
	for _, body := range []string{
		"0\r\n\n", "zz\r\n", "-1\r\n", "5\r\nhelloXX0\r\n\r\n", "0\r\nA : b\r\n\r\n", "0\r\n b\r\n\r\n",
		"5;a\rb\r\nhello\r\n0\r\n\r\n", "0\r\n\r\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "5 \nhello\r\n0\r\n\r\n",
		"+5\r\nhello\r\n0\r\n\r\n", "100000000\r\n", ";a\r\n", "5\r\nhello\n0\r\n\r\n",
	} {
		got := raw(t, b.dial(),
			"POST http://a.test/ HTTP/1.1\r\nHost: a.test\r\nTransfer-Encoding: chunked\r\n\r\n"+body)
		if !strings.HasPrefix(got, "HTTP/1.1 400 ") || !strings.Contains(got, "body is malformed") {
			t.Errorf("%q: %.200q, want 400", body, got)
		}
	}
}

func TestTraceIsRefused(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, nil)
	resp, _ := b.do(http.MethodTrace, "http://a.test/", nil)
	if resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") == "" {
		t.Errorf("%d, Allow %q", resp.StatusCode, resp.Header.Get("Allow"))
	}
}

func TestRawBytesInAQueryAreEscapedOnTheirWay(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, nil)
	got := raw(t, b.dial(),
		"GET http://a.test/caf\xc3\xa9?q=\xc3\xa9 HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n")
	if !strings.Contains(got, "GET a.test/caf%C3%A9?q=%C3%A9 ") {
		t.Errorf("%q", got)
	}
}

func TestRequestThatComesBackIsALoop(t *testing.T) {
	var addr string
	hops := 0
	loop := rawOrigin(t, func(c net.Conn) { // an upstream that sends everything back into the proxy
		req := readHead(c)
		hops++
		back, err := new(net.Dialer).DialContext(t.Context(), "tcp", addr)
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = back.Close() }()
		_, _ = fmt.Fprintf(back, "GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\nVia: %s\r\n\r\n",
			req.Header.Get("Via"))
		_, _ = io.Copy(c, back)
	})
	b := newBench(t, origins{"a.test:80": loop}, nil)
	addr = b.addr
	resp, body := b.get("http://a.test/")
	// its Proxy-Status is gone: what comes from elsewhere does not speak in our name
	if resp.StatusCode != http.StatusLoopDetected || !strings.Contains(body, "Proxy loop") || hops != 1 {
		t.Errorf("%d after %d hops: %s", resp.StatusCode, hops, body)
	}
}

func TestTwoProxiesInAChainAreNoLoop(t *testing.T) {
	far := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, nil)
	near := newBench(t, origins{"a.test:80": far.addr}, nil)
	conn := near.dial()
	// The far proxy gets origin-form and is no origin: it refuses, which shows that the near one sent the request on.
	if got := raw(t, conn,
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"); strings.Contains(got, " 508 ") {
		t.Errorf("%q", got)
	}
}

func TestUsersMustSignInBeforeAnythingElseIsDecided(t *testing.T) {
	hash := proxy.QuickHash(t, "open sesame")
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say), "a.test:443": tlsOrigin(t, say)},
		func(o *proxy.Options) {
			o.Users = people(t, users.User{Name: "ali", PasswordHash: hash})
			o.BlockedDomains = []string{"blocked.test"}
		})
	basic := func(s string) string {
		return "Proxy-Authorization: Basic " + base64.StdEncoding.EncodeToString([]byte(s)) + "\r\n"
	}
	for _, tt := range []struct {
		name, target, auth string
		want               string
	}{
		{"nothing", "GET http://a.test/", "", "407"},
		{"sign-in comes before the check for blocked hosts", "GET http://blocked.test/", "", "407"},
		{"wrong password", "GET http://a.test/", basic("ali:wrong"), "407"},
		{"wrong name", "GET http://a.test/", basic("baba:open sesame"), "407"},
		{"another scheme", "GET http://a.test/", "Proxy-Authorization: Bearer x\r\n", "407"},
		{"not base64", "GET http://a.test/", "Proxy-Authorization: Basic %%%\r\n", "407"},
		{"right", "GET http://a.test/", basic("ali:open sesame"), "200"},
		{"right again", "GET http://a.test/", basic("ali:open sesame"), "200"},
		{"CONNECT without", "CONNECT a.test:443", "", "407"},
		{"CONNECT to a refused port without", "CONNECT a.test:25", "", "407"},
		{"CONNECT with", "CONNECT a.test:25", basic("ali:open sesame"), "403"},
	} {
		got := raw(t, b.dial(), tt.target+" HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n"+tt.auth+"\r\n")
		if !strings.HasPrefix(got, "HTTP/1.1 "+tt.want) {
			t.Errorf("%s: %.60q, want %s", tt.name, got, tt.want)
		}
		if tt.want == "407" && !strings.Contains(got, `Proxy-Authenticate: Basic realm="readthru"`) {
			t.Errorf("%s: no challenge in %q", tt.name, got)
		}
	}
	for _, rec := range b.proxy.Recent() {
		if rec.Status == 200 && rec.User != "ali" {
			t.Errorf("record %+v does not name its user", rec)
		}
	}
	if log := b.log.String(); strings.Contains(log, "sesame") || strings.Contains(log, "wrong") ||
		strings.Contains(log, base64.StdEncoding.EncodeToString([]byte("ali:open sesame"))) {
		t.Error("the log holds credentials")
	}
}

func TestBadModesAndPortsAreErrorsOfNew(t *testing.T) {
	good := newBench(t, nil, nil)
	for name, adjust := range map[string]func(*proxy.Options){
		"mode":    func(o *proxy.Options) { o.Mode = "sometimes" },
		"port":    func(o *proxy.Options) { o.ConnectPorts = []int{70000} },
		"nothing": func(o *proxy.Options) { *o = proxy.Options{} },
	} {
		o := proxy.Options{
			Client: good.transport, Transport: good.transport, Dial: good.transport.Dial,
			Authority: good.authority,
		}
		adjust(&o)
		if _, err := proxy.New(o); err == nil || !strings.HasPrefix(err.Error(), "new proxy: ") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestHostsBlockedByARuleAreRefusedPlainToo(t *testing.T) {
	b := newBench(t, nil, func(o *proxy.Options) {
		o.Rules = hostrule.Rules{
			{Host: "a.test", Path: "/no/*", Action: "block"},
			{Host: "blocked.test", Action: "block"},
		}
	})
	for _, url := range []string{"http://blocked.test/", "http://Blocked.test./x", "http://a.test/no/x"} {
		resp, body := b.get(url)
		if resp.StatusCode != http.StatusForbidden || !strings.Contains(body, `"detail":"Blocked`) {
			t.Errorf("%s: %d %s", url, resp.StatusCode, body)
		}
	}
	// what is no page, too, and however its path is written
	if resp, body := b.do("POST", "http://a.test/%6eo/x", nil); resp.StatusCode != http.StatusForbidden {
		t.Errorf("a POST to an escaped path: %d %s", resp.StatusCode, body)
	}
}

func TestWebSocketIsRelayedWithItsFirstFrames(t *testing.T) {
	upgrade := func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/no" {
			http.Error(w, "not here", http.StatusUnauthorized)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintf(rw,
			"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: "+
				"websocket\r\nSec-WebSocket-Accept: %s\r\nKeep-Alive: x\r\n\r\nhello ",
			r.Header.Get("Sec-WebSocket-Key"))
		_ = rw.Flush()
		line, _ := rw.ReadString('\n')
		_, _ = fmt.Fprintf(rw, "echo %s", line)
		_ = rw.Flush()
	}
	b := newBench(t, origins{"a.test:80": plainOrigin(t, upgrade), "a.test:443": tlsOrigin(t, upgrade)}, nil)
	head := " HTTP/1.1\r\nHost: a.test\r\nConnection: keep-alive, Upgrade\r\nUpgrade: " +
		"websocket\r\nSec-WebSocket-Key: k\r\nSec-WebSocket-Version: 13\r\n\r\n"
	for name, c := range map[string]net.Conn{"http://a.test": b.dial(), "": b.secure("a.test:443", "a.test")} {
		// The frame comes in one write with the head; the origin closes after its echo, and so must we.
		got := raw(t, c, "GET "+name+"/ws"+head+"frame\n")
		if !strings.HasPrefix(got, "HTTP/1.1 101 ") || !strings.HasSuffix(got, "\r\n\r\nhello echo frame\n") ||
			strings.Contains(got, "Keep-Alive") {
			t.Errorf("%q: %q", name, got)
		}
	}
	c := b.dial()
	io.WriteString(c, "GET http://a.test/no"+head)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := read(resp); err != nil || got.StatusCode != http.StatusUnauthorized || got.Body != "not here\n" {
		t.Errorf("a refused upgrade: %+v %v", got, err)
	}
}

// kubectl and docker switch to protocols of their own for exec and attach. The end of the input is not that of the
// output.
func TestUpgradesOfKubectlAndDockerAreRelayed(t *testing.T) {
	upgrade := func(w http.ResponseWriter, r *http.Request) {
		asked, err := io.ReadAll(r.Body)
		protocol := r.Header.Get("Upgrade")
		if err != nil || r.Header.Get("Connection") != "Upgrade" || protocol == "" {
			http.Error(w, "Upgrade request required", http.StatusBadRequest)
			return
		}
		c, rw, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		_, _ = fmt.Fprintf(rw, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n%s %s ",
			protocol,
			r.Method, asked)
		_ = rw.Flush()
		input, _ := io.ReadAll(rw)
		_, _ = fmt.Fprintf(rw, "ends after %s", input)
		_ = rw.Flush()
	}
	b := newBench(t, origins{"a.test:80": plainOrigin(t, upgrade), "a.test:443": tlsOrigin(t, upgrade)}, nil)
	for _, tt := range []struct{ method, protocol, content, want string }{
		{"GET", "SPDY/3.1", "", "GET  "},
		{"POST", "SPDY/3.1", "", "POST  "},
		{"POST", "tcp", `{"Tty":false}`, `POST {"Tty":false} `},
	} {
		for name, c := range map[string]net.Conn{"http://a.test": b.dial(), "": b.secure("a.test:443", "a.test")} {
			_, _ = fmt.Fprintf(c, "%s %s/exec HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: %s\r\n"+
				"Content-Length: %d\r\n\r\n%s", tt.method, name, tt.protocol, len(tt.content), tt.content)
			r := bufio.NewReader(c)
			resp, err := http.ReadResponse(r, nil)
			if err != nil {
				t.Fatal(err)
			}
			_ = resp.Body.Close() // it has none
			if resp.StatusCode != http.StatusSwitchingProtocols || resp.Header.Get("Upgrade") != tt.protocol {
				t.Errorf("%s %s at %q: %d %v", tt.method, tt.protocol, name, resp.StatusCode, resp.Header)
				continue
			}
			_, _ = io.WriteString(c, "input")
			if err := c.(interface{ CloseWrite() error }).CloseWrite(); err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(r); err != nil || string(got) != tt.want+"ends after input" {
				t.Errorf("%s %s at %q: %q, %v", tt.method, tt.protocol, name, got, err)
			}
		}
	}
}

func TestAnUpgradeThatIsNotRelayedIsToldOf(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		io.WriteString(w, r.Header.Get("Upgrade")+r.Header.Get("Connection"))
	})}, nil)
	if _, got := b.do(http.MethodGet, "http://a.test/", nil, "Connection: Upgrade", "Upgrade: h2c"); got != "" {
		t.Errorf("the origin was asked for %q", got)
	}
	if told := b.proxy.Recent()[0]; !slices.Contains(told.Warnings, "upgrade-not-relayed") {
		t.Errorf("warnings %q", told.Warnings)
	}
}

func TestUpgradeToUnreachableOriginIsAnsweredWithTheCause(t *testing.T) {
	l, _ := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	closed := l.Addr().String()
	_ = l.Close()
	b := newBench(t, origins{"a.test:80": closed}, nil)
	c := b.dial()
	io.WriteString(c,
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusBadGateway || resp.Header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("%v", resp) // goproxy alone answers 500
	}
}

// hitBy answers by next, as a cache that has it all.
func hitBy(next http.RoundTripper) tripper {
	return func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		if err == nil {
			resp.Body = hitBody{resp.Body}
		}
		return resp, err
	}
}

type hitBody struct{ io.ReadCloser }

func (hitBody) Outcome() cache.Outcome { return cache.Outcome{Hit: true, TTL: 30 * time.Second} }

func TestEachRequestLeavesOneLineAndOneRecordWithItsURLMasked(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Status", "other; hit, readthru; fwd=bypass") // another readthru, nearer to the origin
		io.WriteString(w, "12345")
	})}, func(o *proxy.Options) { o.Client = hitBy(o.Transport) })
	b.get("http://a.test/x?token=s3cret&b=1", "Authorization: Bearer s3cret", "Cookie: sid=s3cret",
		"User-Agent: agent/1")
	b.stop()
	if strings.Contains(b.log.String(), "s3cret") {
		t.Errorf("the log holds a secret: %s", b.log)
	}
	lines := b.log.requests()
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	for key, want := range map[string]any{
		proxy.KeyMethod: "GET", proxy.KeyURL: "http://a.test/x?token=***&b=1", proxy.KeyStatus: 200.0,
		proxy.KeyCache:   "hit",
		proxy.KeyBytesIn: 5.0, proxy.KeyBytesOut: 5.0, proxy.KeyAgent: "agent/1",
	} {
		if lines[0][key] != want {
			t.Errorf("%s = %v, want %v", key, lines[0][key], want)
		}
	}
	rec := b.proxy.Recent()
	if len(rec) != 1 || rec[0].URL != "http://a.test/x?token=***&b=1" || rec[0].Status != 200 ||
		rec[0].Cache != "hit" ||
		rec[0].BytesOut != 5 {
		t.Errorf("records %+v", rec)
	}
}

func TestRequestsAreFoundByTheNameThatTheirClientGaveThem(t *testing.T) {
	asked := make(chan http.Header, 1)
	b := newBench(t, origins{"a.test:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		asked <- r.Header
		io.WriteString(w, "12345")
	})}, nil)
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	tests := []struct{ field, want string }{
		{"X-Request-Id: job-7", "job-7"},
		{"Traceparent: 00-" + trace + "-00f067aa0ba902b7-01", trace},
		{"Traceparent: 00-" + strings.Repeat("0", 32) + "-00f067aa0ba902b7-01", ""},
		{"Traceparent: 00-" + trace, ""},
		{"X-Request-Id: " + strings.Repeat("x", 300), strings.Repeat("x", 199) + "…"},
		{"Accept: */*", ""},
	}
	for i, tt := range tests {
		b.get(fmt.Sprint("http://a.test/", i), tt.field)
		name, value, _ := strings.Cut(tt.field, ": ")
		if got := (<-asked).Get(name); got != value {
			t.Errorf("%s: the origin got %q", tt.field, got)
		}
	}
	b.stop() // records are complete
	lines := b.log.requests()
	for i, tt := range tests {
		f, err := journal.ParseFilter("trace:" + tt.want)
		if err != nil {
			t.Fatal(err)
		}
		found, _, _ := b.proxy.Journal().List(f, "", len(tests))
		if tt.want == "" {
			found = slices.DeleteFunc(found,
				func(e journal.Entry) bool { return !strings.HasSuffix(e.URL, fmt.Sprint("/", i)) })
		}
		if len(found) != 1 || found[0].Trace != tt.want {
			t.Errorf("%s: found %+v", tt.field, found)
			continue
		}
		line := lines[i]
		trace, _ := line[proxy.KeyTrace].(string)
		if trace != tt.want || line[proxy.KeyID] != found[0].ID || line[proxy.KeyOutcome] != "passed" ||
			line[proxy.KeyWhy] == nil {
			t.Errorf("%s: %v", tt.field, line)
		}
	}
}

func TestPanicInAHandlerLeavesTheProxyServing(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, func(o *proxy.Options) {
		next := o.Client
		o.Client = tripper(func(r *http.Request) (*http.Response, error) {
			if r.URL.Path == "/panic" {
				panic("a bug")
			}
			return next.RoundTrip(r)
		})
	})
	if resp, err := visit(t.Context(), b.client(), "http://a.test/panic"); err == nil {
		resp.Body.Close()
		if resp.StatusCode < 500 {
			t.Errorf("a bug was answered %d", resp.StatusCode)
		}
	}
	if _, body := b.get("http://a.test/"); body != "GET a.test/ " {
		t.Errorf("%q", body)
	}
}
