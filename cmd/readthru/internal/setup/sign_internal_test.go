package setup

import (
	"cmp"
	"encoding/pem"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/internal/botauth"
)

// doctor says as whom own requests are signed, and whether origins can find the key.
func TestDoctorLooksForTheKeyThatSigns(t *testing.T) {
	for _, tt := range []struct {
		name   string
		path   string // of the key set that Signature-Agent names; empty: it names the origin
		answer func(w http.ResponseWriter, s *botauth.Signer)
		state  string
		detail string
	}{
		{"published", "", func(w http.ResponseWriter, s *botauth.Signer) {
			w.Header().Set("Content-Type", botauth.DirectoryType)
			_, _ = w.Write(s.Directory())
		}, good, "own requests are signed as https://example.com, key "},
		{"of another type", "", func(w http.ResponseWriter, s *botauth.Signer) {
			_, _ = w.Write(s.Directory())
		}, warning, "has the type"},
		{"no key", "", func(w http.ResponseWriter, _ *botauth.Signer) {
			_, _ = io.WriteString(w, `{"keys":[]}`)
		}, warning, "does not have the key"},
		{"another key under its name", "", func(w http.ResponseWriter, s *botauth.Signer) {
			_, _ = fmt.Fprintf(w, `{"keys":[{"kty":"OKP","crv":"Ed25519","x":"AAAA","kid":%q}]}`, s.KeyID())
		}, warning, "https://example.com/.well-known/http-message-signatures-directory has another key under its name"},
		{"a key set", "/keys.json", func(w http.ResponseWriter, s *botauth.Signer) {
			w.Header().Set("Content-Type", "application/jwk-set+json")
			_, _ = w.Write(s.Directory())
		}, good, "own requests are signed as https://example.com/keys.json, key "},
		{"none", "", func(w http.ResponseWriter, _ *botauth.Signer) {
			w.WriteHeader(http.StatusNotFound)
		}, warning, "status 404"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := &settings.Settings{Config: settings.Defaults(), DataDir: t.TempDir()}
			s.Fetch.Sign.Directory = "https://example.com" + tt.path // the name of httptest's certificate
			signer, err := s.Signer(s.DataDir)
			if err != nil {
				t.Fatal(err)
			}
			srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != cmp.Or(tt.path, botauth.DirectoryPath) {
					t.Errorf("asked for %s", r.URL)
				}
				tt.answer(w, signer)
			}))
			defer srv.Close()
			s.Upstream.CAFile = filepath.Join(t.TempDir(), "ca.pem")
			ca := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: srv.Certificate().Raw})
			if err := os.WriteFile(s.Upstream.CAFile, ca, 0o600); err != nil {
				t.Fatal(err)
			}
			s.Upstream.Resolve = []string{"example.com:443=" + srv.Listener.Addr().String()}
			f := examineSigner(t.Context(), s, true)
			if f.State != tt.state || !strings.Contains(f.Detail, tt.detail) {
				t.Errorf("finding %+v, want %s with %q", f, tt.state, tt.detail)
			}
		})
	}
}
