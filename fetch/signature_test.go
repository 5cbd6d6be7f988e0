package fetch_test

import (
	"net/http"
	"path/filepath"
	"slices"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/botauth"
)

// Own requests over TLS are signed; those of clients, and those that anybody on the way can read, are not.
func TestOwnRequestsAreSigned(t *testing.T) {
	signer, err := botauth.New(filepath.Join(t.TempDir(), "bot.key"), "https://bot.example")
	if err != nil {
		t.Fatal(err)
	}
	ca := newAuthority(t)
	var received http.Header
	o := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		received = r.Header
		w.Header().Set("Vary", "Accept, signature-agent")
	})
	transport := newTransport(t, fetch.TransportOptions{
		CAFile: ca.file, Resolve: []string{"*:443=" + ca.serve(t, leaf{}, o), "*:80=" + serve(t, o)},
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
			ctx = fetch.OwnPolicy(ctx)
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, tt.url, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := transport.RoundTrip(req)
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
