package proxy_test

import (
	"crypto/tls"
	"net"
	"runtime"
	"strings"
	"testing"

	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// Node shakes hands before it looks at the certificate, and then closes. A connection made in advance and given up once
// is no rejection, and a client that has spoken rejects nothing.
func TestClientThatLeavesTwiceRightAfterTheHandshakeRejectsOurCertificate(t *testing.T) {
	for _, protocol := range []string{"", "http/1.1", "h2"} {
		t.Run(protocol, func(t *testing.T) {
			var st *store.Store
			b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) {
				st = remember(t, o)
			})
			ended := 0
			leave := func(host string) {
				c, _ := b.connect(host + ":443")
				s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: host})
				if protocol != "" {
					s = tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: host, NextProtos: []string{protocol}})
				}
				if err := s.HandshakeContext(t.Context()); err != nil {
					t.Fatal(err)
				}
				_ = s.Close()
				for ended++; strings.Count(b.log.String(), "connection ended after its handshake") < ended; {
					runtime.Gosched() // until the proxy has seen it
				}
			}
			leave("once.test")
			leave("speaks.test")
			if got := raw(t, b.secure("speaks.test:443", "speaks.test"),
				"GET / HTTP/1.1\r\nHost: speaks.test\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "200 OK") {
				t.Fatalf("%q", got)
			}
			leave("speaks.test")
			if got := rejected(t, st); len(got) != 0 {
				t.Errorf("remembered %s after it left once", got)
			}
			leave("node.test")
			leave("node.test")
			b.stop()
			if got := rejected(t, st); len(got) != 1 || got[0] != "node.test" {
				t.Fatalf("remembered %s, want node.test", got)
			}
		})
	}
}

// A client that gives a request up may do so in the middle of a handshake. That is no rejection: the next one would get
// the origin's certificate, which it may not know.
func TestAClientThatGivesUpInTheHandshakeRejectsNothing(t *testing.T) {
	var st *store.Store
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) {
		st = remember(t, o)
	})
	ended := 0
	giveUp := func(host string) {
		c, _ := b.connect(host + ":443")
		s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: host, VerifyConnection: func(tls.ConnectionState) error {
			_ = c.Close()
			return net.ErrClosed
		}})
		if s.HandshakeContext(t.Context()) == nil {
			t.Fatal("the handshake succeeds")
		}
		for ended++; strings.Count(b.log.String(), "handshake failed") < ended; {
			runtime.Gosched() // until the proxy has seen it
		}
	}
	giveUp("once.test")
	if got := raw(t, b.secure("speaks.test:443", "speaks.test"),
		"GET / HTTP/1.1\r\nHost: speaks.test\r\nConnection: close\r\n\r\n"); !strings.Contains(got, "200 OK") {
		t.Fatalf("%q", got)
	}
	for range 5 {
		giveUp("speaks.test")
	}
	if got := rejected(t, st); len(got) != 0 {
		t.Errorf("remembered %s", got)
	}
	giveUp("silent.test")
	giveUp("silent.test")
	b.stop()
	if got := rejected(t, st); len(got) != 1 || got[0] != "silent.test" {
		t.Fatalf("remembered %s, want silent.test", got)
	}
}

// rejected lists the hosts where a client rejected our certificate.
func rejected(t *testing.T, st *store.Store) (hosts []string) {
	t.Helper()
	err := st.Hosts(func(name string, _ store.Host) bool { hosts = append(hosts, name); return true })
	if err != nil {
		t.Fatal(err)
	}
	return hosts
}
