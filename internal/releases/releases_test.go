package releases_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/releases"
)

// toServer sends every request to a server on this machine.
type toServer struct {
	t    *testing.T
	addr string
}

func (s toServer) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.URL.String() != releases.Home+"/releases/latest" {
		s.t.Errorf("asked %s", r.URL)
	}
	to := r.Clone(r.Context())
	to.URL.Scheme, to.URL.Host = "http", s.addr
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(to)
	if resp != nil {
		resp.Request = r
	}
	return resp, err
}

func TestTheLatestReleaseIsWhereTheAddressLeads(t *testing.T) {
	for _, tt := range []struct {
		name, location string
		status         int
		want, err      string
	}{
		{"a release", releases.Page("v1.10.0"), 302, "v1.10.0", ""},
		{"a relative address", "/readthru/readthru/releases/tag/v1.10.0-rc.1", 302, "v1.10.0-rc.1", ""},
		{"none", releases.Home + "/releases", 302, "", "no release is published there"},
		{"no project", "", 404, "", "status 404"},
		{"another site", "https://evil.test/releases/tag/v9.9.9", 302, "", "which is no release"},
		{"no version", releases.Page("nightly;rm"), 302, "", "is no version"},
		{"no location", "", 302, "", "status 302"},
		{"a page", "", 200, "", "status 200"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				if tt.location != "" {
					w.Header().Set("Location", tt.location)
				}
				w.WriteHeader(tt.status)
			}))
			defer server.Close()
			got, err := releases.Latest(t.Context(), toServer{t, server.Listener.Addr().String()})
			if got != tt.want {
				t.Errorf("Latest = %q, want %q", got, tt.want)
			}
			if tt.err == "" && err != nil || tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if none := errors.Is(err, releases.ErrNone); none != (tt.name == "none") {
				t.Errorf("ErrNone: %t", none)
			}
		})
	}
}

func TestVersionsAreCompared(t *testing.T) {
	for _, tt := range []struct {
		version      string
		newer, known bool
	}{
		{"v1.9.0", true, true},
		{"v1.10.0", false, true},
		{"v1.11.0", false, true},
		{"v1.10.0-rc.1", true, true},
		{"v1.10.0-5-gabcdef0", false, true}, // five commits after it
		{"v1.9.0-5-gabcdef0-dirty", true, true},
		{"v1.10.0-dirty", false, true},
		{"v0.0.0-20260101000000-abcdef012345", false, false},
		{"devel", false, false},
		{"abcdef0", false, false},
		{"", false, false},
	} {
		if newer, known := releases.Newer("v1.10.0", tt.version); newer != tt.newer || known != tt.known {
			t.Errorf("Newer(v1.10.0, %s) = %t, %t, want %t, %t", tt.version, newer, known, tt.newer, tt.known)
		}
	}
}
