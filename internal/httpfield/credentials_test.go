package httpfield_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/httpfield"
)

// The requests of testdata/clients are what clients sent to a server of ours, field by field; those of Firefox, cargo
// and agents are written after their sources.
func TestNothingThatClientsSendForEverybodyIsACredential(t *testing.T) {
	files, err := filepath.Glob("testdata/clients/*.txt")
	if err != nil || len(files) == 0 {
		t.Fatalf("%v, %v", files, err)
	}
	for _, file := range files {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		for r := bufio.NewReader(f); ; {
			req, err := http.ReadRequest(r)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", file, err)
			}
			if got := httpfield.Credentials(req.Header); got != "" {
				t.Errorf("%s, %s: credentials %q", file, req.URL, got)
			}
		}
		_ = f.Close()
	}
}

func TestWhateverElseIsACredential(t *testing.T) {
	for _, name := range []string{
		"Authorization", "Cookie", "Cookie2", "X-Api-Key", "Apikey", "Api-Key", "X-Auth-Token", "X-Access-Token", "Token",
		"X-Csrf-Token", "X-Session-Id", "X-Amz-Security-Token", "X-Goog-Iap-Jwt-Assertion", "X-Goog-Api-Key",
		"Cf-Access-Jwt-Assertion", "Cf-Access-Client-Secret", "X-Vault-Token", "Private-Token", "Job-Token", "X-Gitlab-Token",
		"X-Github-Token", "X-Figma-Token", "X-Subscription-Token", "Ocp-Apim-Subscription-Key", "X-Functions-Key", "Dpop",
		"Signature", "Mcp-Session-Id", "X-Forwarded-User", "X-Forwarded-For", "X-Forwarded-Host", "Forwarded", "X-Real-Ip",
		"X-Remote-User", "X-Client-Cert", "Sec-Token-Binding", "Sec-Secure-Session-Response", "If", "X-Tenant-Id",
		"X-Requested-With", "Anything",
	} {
		h := http.Header{"Accept": {"*/*"}}
		if httpfield.HasCredentials(h) || httpfield.Credentials(h) != "" {
			t.Fatal("Accept is a credential")
		}
		h.Set(name, "alice")
		if !httpfield.HasCredentials(h) || !strings.Contains(httpfield.Credentials(h), "alice") {
			t.Errorf("%s is no credential", name)
		}
	}
}

func TestCredentialsAreTheSameForTheSameFields(t *testing.T) {
	of := func(fields ...string) string {
		h := http.Header{"Accept": {"*/*"}}
		for pair := range slices.Chunk(fields, 2) {
			h.Add(pair[0], pair[1])
		}
		return httpfield.Credentials(h)
	}
	one := of("X-A", "1", "X-B", "2")
	if again := of("X-B", "2", "User-Agent", "x", "X-A", "1"); again != one {
		t.Errorf("%q and %q", one, again)
	}
	for _, other := range []string{of("X-A", "1"), of("X-A", "2", "X-B", "1"), of("X-A", "1", "X-A", "2"), ""} {
		if other == one {
			t.Errorf("%q is the same as %q", other, one)
		}
	}
}

func BenchmarkHasCredentials(b *testing.B) {
	h := http.Header{}
	for _, name := range []string{
		"Accept", "Accept-Encoding", "Accept-Language", "User-Agent", "Sec-Ch-Ua", "Sec-Ch-Ua-Platform", "Sec-Fetch-Dest",
		"Sec-Fetch-Mode", "Sec-Fetch-Site", "Referer", "Via", "Cache-Control",
	} {
		h.Set(name, "x")
	}
	for b.Loop() {
		httpfield.HasCredentials(h)
	}
}
