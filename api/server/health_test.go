package server_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

func TestNotReadyWithoutAProxy(t *testing.T) {
	w := newWorld(t, func(o *server.Options) {
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
	w := newWorld(t, func(o *server.Options) { o.Token = "token" })
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
	w := newWorld(t, func(o *server.Options) { o.Token, o.Store = "token", damaged })
	addr := w.listen(t)
	for token, want := range map[string]bool{"": false, "token": true} {
		b, err := io.ReadAll(ask(t, addr, "GET", "/readyz", "", "Authorization: Bearer "+token).Body)
		if err != nil || strings.Contains(string(b), dir) != want {
			t.Errorf("token %q: %s, %v, want the directory: %v", token, b, err, want)
		}
	}
}

// warningsHeld is a log that holds whoever warns until release is closed.
type warningsHeld struct {
	slog.Handler
	release chan struct{}
}

func (l warningsHeld) Enabled(context.Context, slog.Level) bool { return true }

func (l warningsHeld) Handle(context.Context, slog.Record) error {
	<-l.release
	return nil
}

func TestReadinessTellsOfAnIndexThatIsNotOpen(t *testing.T) {
	w := newWorld(t, func(o *server.Options) {
		s, err := store.Open(store.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		// an index of another version, which is told in the log
		if err := s.Records().Apply(store.Change{Key: "k/z", Value: []byte{1}}); err != nil {
			t.Fatal(err)
		}
		log := warningsHeld{slog.DiscardHandler, make(chan struct{})}
		if o.Knowledge, err = knowledge.Open(knowledge.Options{Store: s, Log: slog.New(log)}); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			close(log.release)
			if err := errors.Join(o.Knowledge.Close(), s.Close()); err != nil {
				t.Error(err)
			}
		})
	})
	rd := got[api.Readiness](t, w.listen(t), "GET", "/readyz", "")
	if part := rd.Parts["index"]; !rd.Ready || part.State != "opening" || part.Reason == "" {
		t.Errorf("%+v, want it ready with an index that is opening", rd)
	}
}
