package proxy_test

import (
	"crypto/tls"
	"encoding/base64"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/proxy"
)

// Requests and changes of the options meet; the race detector looks on.
func TestOptionsChangeWhileRequestsAreServed(t *testing.T) {
	b := newBench(t, origins{"*:443": tlsOrigin(t, say), "*:80": plainOrigin(t, say)}, nil)
	open := proxy.Options{ConnectPorts: []int{443}}
	shut := proxy.Options{ConnectPorts: []int{8443}, Rules: hostrule.Rules{{Host: "a.test", Action: "block"}}}
	stop := make(chan struct{})
	var changes, requests sync.WaitGroup
	changes.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := b.proxy.Reconfigure([]proxy.Options{open, shut}[i%2]); err != nil {
				t.Error(err)
			}
		}
	})
	client := b.client()
	for range 4 {
		requests.Go(func() {
			for range 50 {
				resp, err := visit(t.Context(), client, "http://a.test/")
				if err != nil {
					t.Error(err)
					return
				}
				if got, err := read(resp); err != nil ||
					got.StatusCode != http.StatusOK && got.StatusCode != http.StatusForbidden {
					t.Errorf("%s, %v", got.Status, err)
				}
			}
		})
	}
	requests.Wait()
	close(stop)
	changes.Wait()
	if err := b.proxy.Reconfigure(proxy.Options{Mode: "sometimes"}); err == nil {
		t.Error("an unknown mode is accepted")
	}
	if err := b.proxy.Reconfigure(open); err != nil {
		t.Fatal(err)
	}
	if resp, _ := b.get("http://a.test/"); resp.StatusCode != http.StatusOK {
		t.Errorf("in the end: %s", resp.Status)
	}
}

func TestAUserWhoIsRemovedIsRefusedOnOpenConnections(t *testing.T) {
	ann := users.User{Name: "ann", PasswordHash: proxy.QuickHash(t, "secret")}
	bob := users.User{Name: "bob", PasswordHash: ann.PasswordHash}
	known := people(t, ann, bob)
	b := newBench(t, origins{"*:443": tlsOrigin(t, say)}, func(o *proxy.Options) { o.Users = known })
	dial := func(user string) *tls.Conn {
		c := b.dial()
		b.ask(c, "CONNECT a.test:443 HTTP/1.1\r\nHost: a.test:443\r\nProxy-Authorization: Basic "+
			base64.StdEncoding.EncodeToString([]byte(user+":secret"))+"\r\n\r\n")
		s := tls.Client(c, &tls.Config{RootCAs: b.roots, ServerName: "a.test"})
		if err := s.HandshakeContext(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	ofAnn, ofBob := dial("ann"), dial("bob")
	if err := known.Set([]users.User{bob}, nil, false); err != nil {
		t.Fatal(err)
	}
	const request = "GET / HTTP/1.1\r\nHost: a.test\r\nConnection: close\r\n\r\n"
	if got := raw(t, ofAnn, request); !strings.HasPrefix(got, "HTTP/1.1 403 ") {
		t.Errorf("ann: %q, want 403", got)
	}
	if got := raw(t, ofBob, request); !strings.HasPrefix(got, "HTTP/1.1 200 ") {
		t.Errorf("bob: %q, want 200", got)
	}
}
