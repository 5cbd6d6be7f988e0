package transport_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/readthru/readthru/internal/botauth"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/transport/transporttest"
)

// Own requests over TLS are signed; those of clients, and those that anybody on the way can read, are not.
func TestOwnRequestsAreSigned(t *testing.T) {
	signer, err := botauth.New(filepath.Join(t.TempDir(), "bot.key"), "https://bot.example")
	if err != nil {
		t.Fatal(err)
	}
	ca := transporttest.NewAuthority(t)
	var received http.Header
	o := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = r.Header
		w.Header().Set("Vary", "Accept, signature-agent")
	})
	secure, plain := ca.Serve(t, transporttest.Leaf{}, o), transporttest.Serve(t, o)
	tr := transporttest.New(t, transport.Options{
		CAFile:              ca.File,
		Resolve:             []string{"*:443=" + secure, "*:80=" + plain},
		AllowPrivateProxied: true, Signer: signer,
	})
	for _, tt := range []struct {
		name, url string
		own       bool
		signed    bool
	}{
		{"own over TLS", "https://site.test/", true, true},
		{"own without TLS", "http://site.test/", true, false},
		{"of a client", "https://site.test/", false, false},
	} {
		ctx := t.Context()
		if tt.own {
			ctx = transport.OwnPolicy(ctx)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatalf("%s: %v", tt.name, err)
		}
		resp.Body.Close()
		for _, name := range botauth.Fields {
			if got := received.Get(name); (got != "") != tt.signed {
				t.Errorf("%s: %s is %q, want a signature: %t", tt.name, name, got, tt.signed)
			}
			if req.Header.Get(name) != "" {
				t.Errorf("%s: the caller's request was changed", tt.name)
			}
		}
		// a response that is for who signed must answer nobody else (RFC 9111 §4.1)
		if got := slices.Contains(resp.Header.Values("Vary"), "*"); got != tt.signed {
			t.Errorf("%s: Vary %q, want * for a signed request alone", tt.name, resp.Header.Values("Vary"))
		}
	}
}
