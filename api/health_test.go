package api_test

import (
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"readthru/api"
	"readthru/store"
)

func TestNotReadyWithoutAProxy(t *testing.T) {
	w := newWorld(t, func(o *api.Options) {
		o.Proxy, o.Switches = nil, func() api.Switches { return api.Switches{Offline: true} }
	})
	resp := ask(t, w.listen(t), "GET", "/readyz", "")
	var rd api.Readiness
	if err := json.NewDecoder(resp.Body).Decode(&rd); err != nil {
		t.Fatal(err)
	}
	if resp.StatusCode != http.StatusServiceUnavailable || rd.Ready || rd.Parts["proxy"].State != "down" ||
		rd.Parts["render"].State != "unavailable" {
		t.Errorf("status %d, %+v", resp.StatusCode, rd)
	}
}

func TestWhatWasVisitedIsNotPublic(t *testing.T) {
	w := newWorld(t, func(o *api.Options) { o.Token = "token" })
	if _, _, err := w.store.Learn("secret.test", store.RejectsCA, "127.0.0.1", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	addr := w.listen(t)
	for token, want := range map[string]bool{"": false, "wrong": false, "token": true} {
		b, err := io.ReadAll(ask(t, addr, "GET", "/readyz", "", "Authorization: Bearer "+token).Body)
		if err != nil || strings.Contains(string(b), "secret.test") != want {
			t.Errorf("token %q: %s, %v, want the host: %v", token, b, err, want)
		}
	}
}

func TestNamesOfFilesAreNotPublic(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "db"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "db", "MANIFEST"), []byte("damaged"), 0o600); err != nil {
		t.Fatal(err)
	}
	damaged, err := store.Open(store.Options{Dir: dir}) // which sets it aside, and says so
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = damaged.Close() })
	w := newWorld(t, func(o *api.Options) { o.Token, o.Store = "token", damaged })
	addr := w.listen(t)
	for token, want := range map[string]bool{"": false, "token": true} {
		b, err := io.ReadAll(ask(t, addr, "GET", "/readyz", "", "Authorization: Bearer "+token).Body)
		if err != nil || strings.Contains(string(b), dir) != want {
			t.Errorf("token %q: %s, %v, want the directory: %v", token, b, err, want)
		}
	}
}
