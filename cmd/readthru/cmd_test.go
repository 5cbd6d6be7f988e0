package main

import (
	"bytes"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

func TestFlagsMayStandAfterArguments(t *testing.T) {
	app := (&program{stdio: stdio{strings.NewReader(""), io.Discard, io.Discard}}).app()
	for _, tt := range []struct{ in, want string }{
		{"fetch URL --json", "fetch --json -- URL"},
		{"fetch URL --max-chars 5 URL2", "fetch --max-chars 5 -- URL URL2"},
		{"fetch --max-chars=5 URL", "fetch --max-chars=5 -- URL"},
		{"--data-dir D fetch URL --config C", "--data-dir D fetch --config C -- URL"},
		{"pages diff URL A B --json", "pages diff --json -- URL A B"},
		{"pages --host H", "pages --host H"},
		{"convert - --url U", "convert --url U -- -"},
		{"fetch -- --json", "fetch -- --json"},
		{"run -- curl --json URL", "run -- curl --json URL"},
		{"run curl --json URL", "run curl --json URL"},
		{"run --offline -- ls -l", "run --offline -- ls -l"},
		{"fetch URL --max-chars", "fetch --max-chars -- URL"},
		{"nonsense --json x", "nonsense --json x"},
		{"", ""},
	} {
		got := hoist(app, append([]string{"readthru"}, strings.Fields(tt.in)...))
		if want := append([]string{"readthru"}, strings.Fields(tt.want)...); !slices.Equal(got, want) {
			t.Errorf("hoist(%s) = %s, want %s", tt.in, got, want)
		}
	}
}

func TestNearestCommand(t *testing.T) {
	app := (&program{}).app()
	for name, want := range map[string]string{
		"fetsh": "fetch", "fecth": "fetch", "serv": "serve", "sattus": "stats",
		"doctr": "doctor", "xyzzy": "",
	} {
		if got := nearest(name, app.Commands); got != want {
			t.Errorf("nearest(%s) = %q, want %q", name, got, want)
		}
	}
	for _, tt := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"ab", "ba", 1}, {"kitten", "sitting", 3}} {
		if got := edits(tt.a, tt.b); got != tt.want {
			t.Errorf("edits(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
		}
	}
}

func TestForeignTextCannotDriveATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b]0;owned\x07b": "a]0;ownedb",
		"a\tb\nc":            "a\tb\nc",
		"a\r\u009bb\u0085":   "ab",
		"a\u202eb\u2066c":    "abc",
		"grün 日本":            "grün 日本",
	} {
		if got := printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	var out bytes.Buffer
	p := &program{stdio: stdio{out: &out}}
	if err := p.table([]string{"A", "B"}, [][]string{{"x\ny\x1b[2J", "z"}}); err != nil ||
		strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("table %q, %v", out.String(), err)
	}
}

func TestExportedNamesAreSafe(t *testing.T) {
	long := strings.Repeat("ä", 200)
	for raw, want := range map[string]string{
		"https://a.test/":                "a.test/index.md",
		"https://a.test/guide":           "a.test/guide.md",
		"https://a.test/guide/":          "a.test/guide/index.md",
		"https://a.test/guide/page.md":   "a.test/guide/page.md",
		"https://a.test:8443/x":          "a.test_8443/x.md",
		"https://a.test/x?q=1":           "a.test/x-DOC.md",
		"https://a.test/..%2f..%2fetc":   "a.test/_/_/etc-DOC.md",
		"https://a.test/%2e%2e/x":        "a.test/x.md",
		"https://a.test/CON":             "a.test/_CON-DOC.md",
		"https://a.test/com1.txt":        "a.test/_com1.txt-DOC.md",
		"https://a.test/.bashrc":         "a.test/_.bashrc-DOC.md",
		"https://a.test/a%00b%0ac":       "a.test/a_b_c-DOC.md",
		"https://a.test/" + long:         "a.test/" + strings.Repeat("ä", 60) + "-DOC.md",
		"https://[2001:db8::1]/x":        "_2001_db8__1_/x.md",
		"https://a.test/a%5c..%5cb/c%3a": "a.test/a_.._b/c_-DOC.md",
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		pg := page.New(u)
		want = strings.ReplaceAll(want, "DOC", pg.Doc)
		if got := fileName(pg); got != want {
			t.Errorf("fileName(%s) = %s, want %s", raw, got, want)
		}
		if !filepath.IsLocal(fileName(pg)) {
			t.Errorf("fileName(%s) leads out: %s", raw, fileName(pg))
		}
	}
}

func TestTypesAreGuessed(t *testing.T) {
	for _, tt := range []struct{ name, url, content, want string }{
		{"page.html", "https://a.test/", "x", "text/html"},
		{"", "https://a.test/doc.pdf", "x", "application/pdf"},
		{"", "https://a.test/", "%PDF-1.7", ""}, // package convert tells by itself
		{"", "https://a.test/", "<article>a fragment", "text/html"},
		{"README.md", "https://a.test/", "# x", "text/markdown"},
		{"", "https://a.test/", "\x89PNG\r\n\x1a\n", ""},
	} {
		u, _ := url.Parse(tt.url)
		if got := guessType(tt.name, u, []byte(tt.content)); got != tt.want {
			t.Errorf("guessType(%q, %s, %q) = %s, want %s", tt.name, tt.url, tt.content, got, tt.want)
		}
	}
}

func TestALeftOverDaemonFileNamesNoDaemon(t *testing.T) {
	dir := t.TempDir()
	if findDaemon(t.Context(), dir) != nil {
		t.Error("a daemon without a file")
	}
	d := &daemonInfo{Instance: newInstance(), Admin: "127.0.0.1:1", Token: "secret"}
	if err := d.write(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(daemonFile(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if findDaemon(t.Context(), dir) != nil {
		t.Error("a daemon on a port where nothing listens")
	}
	(&daemonInfo{Instance: "another"}).remove(dir)
	if _, err := readDaemon(dir); err != nil {
		t.Error("another daemon's file was removed")
	}
	d.remove(dir)
	if _, err := readDaemon(dir); err == nil {
		t.Error("the daemon's own file was not removed")
	}
	if err := os.WriteFile(daemonFile(dir), []byte("{garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if findDaemon(t.Context(), dir) != nil {
		t.Error("garbage named a daemon")
	}
}

func TestPartitionKeyIsKeptAndSetAsideIfDamaged(t *testing.T) {
	dir := t.TempDir()
	first, err := partitionKey(dir, slog.New(slog.DiscardHandler))
	if err != nil || len(first) != 32 {
		t.Fatalf("%x, %v", first, err)
	}
	if again, err := partitionKey(dir, slog.New(slog.DiscardHandler)); err != nil || !bytes.Equal(first, again) {
		t.Errorf("%x, %v, want %x", again, err, first)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "cache.key" {
		t.Errorf("the directory holds %v, %v, want cache.key alone", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "cache.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cache.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh, err := partitionKey(dir, slog.New(slog.DiscardHandler))
	if err != nil || len(fresh) != 32 || bytes.Equal(fresh, first) {
		t.Errorf("after damage: %x, %v, want a new key", fresh, err)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, "cache.key.damaged-*")) // the pattern is well-formed
	if len(aside) != 1 {
		t.Fatalf("set aside: %q, want one file", aside)
	}
	if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != "short" {
		t.Errorf("set aside: %q, %v", kept, err)
	}
}

func TestADaemonThatIsAboutToStopIsNotUsed(t *testing.T) {
	s := &settings{config: defaults(), dataDir: t.TempDir()}
	d := &daemonInfo{Instance: newInstance(), Secret: "secret"}
	proving := api.New(api.Options{Secret: d.Secret})
	asked := 0
	admin := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.URL.Path == "/healthz":
			proving.ServeHTTP(w, r)
		case asked < 2:
			asked++
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	}))
	defer admin.Close()
	d.Admin = admin.Listener.Addr().String()
	if err := d.write(s.dataDir); err != nil {
		t.Fatal(err)
	}
	shared, err := openOrShare(t.Context(), s, func() (*daemonInfo, error) {
		return nil, errors.New("opened beside a daemon")
	})
	if err != nil || shared == nil {
		t.Fatalf("openOrShare = %v, %v, want the daemon", shared, err)
	}
	shared.release()
	if asked != 2 {
		t.Errorf("the daemon was used after %d refusals, want 2", asked)
	}
	d.remove(s.dataDir)
	shared, err = openOrShare(t.Context(), s, func() (*daemonInfo, error) { return nil, nil })
	if shared != nil || err != nil {
		t.Errorf("openOrShare = %v, %v, want the store opened", shared, err)
	}
}
