package daemon

import (
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/store"
)

func TestALeftOverDaemonFileNamesNoDaemon(t *testing.T) {
	dir := t.TempDir()
	if Find(t.Context(), dir) != nil {
		t.Error("a daemon without a file")
	}
	d := &Info{Instance: NewInstance(), Admin: "127.0.0.1:1", Token: "secret"}
	if err := d.Write(dir); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(daemonFile(dir)); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if Find(t.Context(), dir) != nil {
		t.Error("a daemon on a port where nothing listens")
	}
	(&Info{Instance: "another"}).Remove(dir)
	if _, err := Read(dir); err != nil {
		t.Error("another daemon's file was removed")
	}
	d.Remove(dir)
	if _, err := Read(dir); err == nil {
		t.Error("the daemon's own file was not removed")
	}
	if err := os.WriteFile(daemonFile(dir), []byte("{garbage"), 0o600); err != nil {
		t.Fatal(err)
	}
	if Find(t.Context(), dir) != nil {
		t.Error("garbage named a daemon")
	}
}

func TestADaemonThatIsAboutToStopIsNotUsed(t *testing.T) {
	s := &settings.Settings{Config: settings.Defaults(), DataDir: t.TempDir()}
	d := &Info{Instance: NewInstance(), Secret: "secret"}
	proving := server.New(server.Options{Secret: d.Secret})
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
	if err := d.Write(s.DataDir); err != nil {
		t.Fatal(err)
	}
	shared, err := OpenOrShare(t.Context(), s, func() (*Info, error) {
		return nil, errors.New("opened beside a daemon")
	})
	if err != nil || shared == nil {
		t.Fatalf("openOrShare = %v, %v, want the daemon", shared, err)
	}
	shared.Release()
	if asked != 2 {
		t.Errorf("the daemon was used after %d refusals, want 2", asked)
	}
	d.Remove(s.DataDir)
	shared, err = OpenOrShare(t.Context(), s, func() (*Info, error) { return nil, nil })
	if shared != nil || err != nil {
		t.Errorf("openOrShare = %v, %v, want the store opened", shared, err)
	}
}

func TestADaemonIsMadeOfItsConfiguration(t *testing.T) {
	s := &settings.Settings{Config: settings.Defaults()}
	before := MadeOf(s)
	if again := MadeOf(&settings.Settings{
		Config: settings.Defaults(),
		Source: map[string]string{"x": "y"},
	}); again != before {
		t.Errorf("the same configuration gave %s and %s", before, again)
	}
	s.Fetch.Timeout++
	if MadeOf(s) == before {
		t.Error("another configuration gave the same name")
	}
}

func TestServeWaitsForAProcessThatEnds(t *testing.T) {
	locked := &store.LockedError{Dir: "d", PID: 7}
	broken := errors.New("broken")
	for _, tt := range []struct {
		name  string
		held  time.Duration
		after error
		want  error
	}{
		{"it ends", 3 * time.Second, nil, nil},
		{"it ends and the store is broken", 3 * time.Second, broken, broken},
		{"nobody has it", 0, nil, nil},
		{"it does not end", time.Hour, nil, locked},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			synctest.Test(t, func(t *testing.T) {
				began, said := time.Now(), []string(nil)
				err := AwaitStore(t.Context(), dir, func(format string, args ...any) {
					said = append(said, fmt.Sprintf(format, args...))
				}, func() error {
					if time.Since(began) < tt.held {
						return fmt.Errorf("open: %w", locked)
					}
					return tt.after
				})
				if !errors.Is(err, tt.want) {
					t.Errorf("%v, want %v", err, tt.want)
				}
				want := []string{"waiting for the end of process 7, which has the store open"}
				if tt.held == 0 {
					want = nil
				}
				if gone := time.Since(began); !slices.Equal(said, want) || gone > lockWait+time.Second {
					t.Errorf("it said %q after %s", said, gone)
				}
				if hint := terminal.HintOf(err); errors.Is(err, locked) != (hint != "") {
					t.Errorf("hint %q for %v", hint, err)
				}
			})
		})
	}
}

// What "go run" builds each time under another name is one program: its daemon goes on. Another build is another one.
func TestAProgramIsKnownByItsBuild(t *testing.T) {
	name, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	program, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	written := func(name string) string {
		t.Helper()
		var b strings.Builder
		if err := writeProgram(&b, name); err != nil || b.Len() > 64<<10 {
			t.Fatalf("%d bytes, %v", b.Len(), err)
		}
		return b.String()
	}
	copied := func(program []byte) string {
		t.Helper()
		name := filepath.Join(t.TempDir(), "copy")
		if err := os.WriteFile(name, program, 0o700); err != nil {
			t.Fatal(err)
		}
		return written(name)
	}
	want := written(name)
	if copied(program) != want {
		t.Error("a copy is another program")
	}
	if copied(append(slices.Clone(program), 0)) == want {
		t.Error("a longer program is the same")
	}
	another := slices.Clone(program)
	another[4<<10-100]++
	if copied(another) == want {
		t.Error("a program of another build is the same")
	}
}
