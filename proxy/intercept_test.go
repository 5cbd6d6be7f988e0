package proxy_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"testing"
)

// from is a listener whose connections come from an address.
type from struct {
	net.Listener
	addr net.Addr
}

func (l from) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	return fromConn{c, l.addr}, err
}

type fromConn struct {
	net.Conn
	addr net.Addr
}

func (c fromConn) RemoteAddr() net.Addr { return c.addr }

// Only what a network carries can be recorded now and be read when there are machines for that.
func TestKeyExchangeIsPostQuantumForClientsOfOtherMachines(t *testing.T) {
	b := newBench(t, nil, nil)
	for client, want := range map[string]tls.CurveID{
		"127.0.0.1": tls.X25519, "::1": tls.X25519, "192.0.2.7": tls.X25519MLKEM768, "10.1.2.3": tls.X25519MLKEM768,
	} {
		l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- b.proxy.Serve(ctx, from{l, &net.TCPAddr{IP: net.ParseIP(client), Port: 9}}) }()
		b.addr = l.Addr().String()
		config := &tls.Config{RootCAs: b.roots, ServerName: "a.test", ClientSessionCache: tls.NewLRUClientSessionCache(1)}
		for _, resumed := range []bool{false, true} {
			tunnel, answer := b.connect("a.test:443")
			if answer.StatusCode != http.StatusOK {
				t.Fatal(answer.Status)
			}
			c := tls.Client(tunnel, config)
			c.Write([]byte("GET / HTTP/1.1\r\nHost: b.test\r\n\r\n")) //nolint:errcheck // the answer shows
			if resp, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
				t.Error(err)
			} else {
				resp.Body.Close()
			}
			if got := c.ConnectionState(); got.CurveID != want || got.DidResume != resumed {
				t.Errorf("%s: %v, resumed %v; want %v, %v", client, got.CurveID, got.DidResume, want, resumed)
			}
			_ = c.Close()
		}
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	}
}
