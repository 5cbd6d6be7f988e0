package e2e_test

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/webtest"
)

// TestAProxyThatIsReachedByTLS drives a daemon whose listeners have a certificate.
func TestAProxyThatIsReachedByTLS(t *testing.T) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	w := newWeb(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/large" {
			w.Header().Set("Content-Type", "application/octet-stream")
			_, _ = w.Write(large)
			return
		}
		manual(3).ServeHTTP(w, r)
	}))
	authority, err := webtest.NewAuthority()
	if err != nil {
		t.Fatal(err)
	}
	leaf, err := authority.Leaf("proxy.test")
	if err != nil {
		t.Fatal(err)
	}
	key, err := webtest.EncodeKey(leaf.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	path := func(name string) string { return filepath.Join(dir, name) }
	config := path(".config/readthru/config.yaml")
	if err := os.MkdirAll(filepath.Dir(config), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{
		path("root.pem"): authority.Root, path("key.pem"): key,
		path("cert.pem"): webtest.EncodeCertificate(leaf.Certificate[0]),
		config: fmt.Appendf(nil, "proxy: {tls: {cert: %[1]s, key: %[2]s}}\nadmin: {hosts: [proxy.test], tls: {cert: %[1]s, key: %[2]s}}\n",
			path("cert.pem"), path("key.pem")),
	} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	d := serveIn(t, w, dir)
	_, port, _ := strings.Cut(d.proxy, ":")
	_, adminPort, _ := strings.Cut(d.admin, ":")
	curl := func(args ...string) string {
		t.Helper()
		out, _, err := command(t, []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir}, "curl", append([]string{
			"-sS", "--resolve", "proxy.test:" + port + ":127.0.0.1", "--resolve", "proxy.test:" + adminPort + ":127.0.0.1",
			"--cacert", path("data/ca/ca.pem"),
		}, args...)...)
		if err != nil {
			t.Fatalf("curl %s: %v\n%s", args, err, d.log)
		}
		return out
	}
	proxied := func(args ...string) string {
		t.Helper()
		return curl(append([]string{
			"--proxy", "https://proxy.test:" + port, "--proxy-cacert", path("root.pem"),
		}, args...)...)
	}
	for range 2 { // from the origin, and stored
		for _, url := range []string{"https://manual.test/manual/1", "http://manual.test/manual/2"} {
			if got := proxied("-H", "Accept: text/markdown", url); !strings.Contains(got, "# Thing") {
				t.Errorf("%s by TLS to the proxy: %q", url, got)
			}
		}
		for _, url := range []string{"https://manual.test/large", "http://manual.test/large"} {
			if got := proxied("--limit-rate", "8M", url); got != string(large) {
				t.Errorf("%s: %d bytes of %d", url, len(got), len(large))
			}
		}
	}
	got := curl("--cacert", path("root.pem"), "https://proxy.test:"+adminPort+"/healthz")
	if !strings.Contains(got, `"status":"ok"`) {
		t.Errorf("the admin port by TLS: %q", got)
	}
	// Programs of this machine find it as ever.
	if got := d.get("https://manual.test/manual/1", "Accept: text/markdown"); !strings.Contains(got.body, "# Thing") {
		t.Errorf("plain, from this machine: %q", got.body)
	}
	if out := d.readthru("fetch", "https://manual.test/manual/3"); !strings.Contains(out, "# Thing 3") {
		t.Errorf("readthru fetch: %q", out)
	}
}
