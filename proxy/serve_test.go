package proxy_test

import (
	"bufio"
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/proxy"
)

// What SIGTERM does.
func TestServeDrainsRequestsAndClosesTunnels(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	slow := func(w http.ResponseWriter, r *http.Request) {
		arrived <- struct{}{}
		<-release
		io.WriteString(w, "done")
	}
	b := newBench(t, origins{
		"a.test:80": plainOrigin(t, slow), "a.test:443": tlsOrigin(t, slow),
		"t.test:443": rawOrigin(t, func(c net.Conn) { _, _ = io.Copy(c, c) }),
	}, func(o *proxy.Options) {
		o.Rules = hostrule.Rules{{Host: "t.test", Action: "tunnel"}}
	})
	tunnel, _ := b.connect("t.test:443")
	silent, _ := b.connect("a.test:443")
	results := make(chan string, 2)
	client := b.client()
	for _, url := range []string{"http://a.test/", "https://a.test/"} {
		go func() {
			resp, err := visit(t.Context(), client, url)
			if err != nil {
				results <- err.Error()
				return
			}
			defer resp.Body.Close()
			body, _ := io.ReadAll(resp.Body)
			results <- string(body)
		}()
		<-arrived
	}
	stopped := make(chan struct{})
	go func() { b.stop(); close(stopped) }()
	for { // until the listener is closed
		c, err := new(net.Dialer).DialContext(t.Context(), "tcp", b.addr)
		if err != nil {
			break
		}
		_ = c.Close()
	}
	close(release)
	for range 2 {
		if got := <-results; got != "done" {
			t.Errorf("a request under way got %q", got)
		}
	}
	select {
	case <-stopped:
	case <-time.After(2 * time.Minute):
		t.Fatal("Serve did not return")
	}
	for name, c := range map[string]net.Conn{"tunnel": tunnel, "silent client": silent} {
		if _, err := c.Read(make([]byte, 1)); err == nil {
			t.Errorf("%s: still open", name)
		}
	}
}

// What is hijacked no server ends: a dial that takes its time must not keep the daemon up.
func TestServeEndsWhileTunnelsStillDial(t *testing.T) {
	dialling := make(chan struct{}, 2)
	b := newBench(t, nil, func(o *proxy.Options) {
		o.Rules = hostrule.Rules{{Host: "t.test", Action: "tunnel"}}
		o.Dial = func(ctx context.Context, _, _ string) (net.Conn, error) {
			dialling <- struct{}{}
			<-ctx.Done()
			return nil, ctx.Err()
		}
	})
	for _, request := range []string{
		"CONNECT t.test:443 HTTP/1.1\r\nHost: t.test\r\n\r\n",
		"CONNECT a.test:443 HTTP/1.1\r\nHost: a.test\r\n\r\nnot TLS",
	} {
		io.WriteString(b.dial(), request)
		<-dialling
	}
	stopped := make(chan struct{})
	go func() { b.stop(); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(2 * time.Minute):
		t.Fatal("Serve waits for a dial")
	}
	for _, rec := range b.proxy.Recent() {
		if rec.Error == "" {
			t.Errorf("record %+v does not say that the dial failed", rec)
		}
	}
}

func TestServeEndsWhileAWebSocketIsIdle(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, func(w http.ResponseWriter, r *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer func() { _ = c.Close() }()
		io.WriteString(c, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
		_, _ = io.Copy(io.Discard, c)
	})}, nil)
	c := b.dial()
	io.WriteString(c,
		"GET http://a.test/ HTTP/1.1\r\nHost: a.test\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n")
	if line, err := bufio.NewReader(c).ReadString('\n'); err != nil || !strings.Contains(line, " 101 ") {
		t.Fatalf("%q %v", line, err)
	}
	stopped := make(chan struct{})
	go func() { b.stop(); close(stopped) }()
	select {
	case <-stopped:
	case <-time.After(2 * time.Minute):
		t.Fatal("Serve waits for a WebSocket")
	}
}

func TestOneProxyServesTwoListeners(t *testing.T) {
	b := newBench(t, origins{"a.test:80": plainOrigin(t, say)}, nil)
	second, stop := serve(t, b.proxy)
	first := b.addr
	for _, addr := range []string{first, second} {
		b.addr = addr
		if _, body := b.get("http://a.test/"); body != "GET a.test/ " {
			t.Errorf("%s: %q", addr, body)
		}
	}
	stop()
	b.addr = first
	if _, body := b.get("http://a.test/"); body != "GET a.test/ " {
		t.Errorf("after the other listener closed: %q", body)
	}
}
