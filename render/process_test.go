package render_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

func TestKilledBrowserIsReplaced(t *testing.T) {
	eachBrowser(t, killed)
}

func process(t *testing.T, pid int) *os.Process {
	t.Helper()
	p, err := os.FindProcess(pid)
	if err != nil {
		t.Error(err)
	}
	return p
}

func killed(t *testing.T, name string) {
	t.Helper()
	s := newSite(t)
	dir := rendertest.Dir(t)
	b := s.browser(t, func(o *render.Options) { o.Browser, o.Dir = name, dir })
	s.mux.HandleFunc("/kill", func(w http.ResponseWriter, r *http.Request) {
		if pid := b.State().PID; pid != 0 && r.URL.Query().Get("n") == "" && s.first() {
			_ = process(t, pid).Kill()
		}
		_, _ = fmt.Fprint(w, "alive")
	})
	s.add("/mid", `<p id=p></p><script>
		fetch('/kill').then((r) => r.text()).then((t) => { document.getElementById('p').textContent = t })</script>`)
	const kills = 2
	for range kills {
		s.reset()
		if p := rendered(t, b, s.page(t, "/mid")); !strings.Contains(string(p.HTML), ">alive<") {
			t.Fatalf("got %s", p.HTML)
		}
	}
	if st := b.State(); st.Deaths != kills || st.Pages != kills {
		t.Errorf("state %+v, want %d deaths and as many pages", st, kills)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*")); len(left) != 0 {
		t.Errorf("profiles left: %q", left)
	}
	if runtime.GOOS == "linux" {
		if out, err := exec.CommandContext(t.Context(), "pgrep", "-f", "user-data-dir="+dir).Output(); err == nil {
			t.Errorf("processes left: %s", out)
		}
		if out, err := exec.CommandContext(t.Context(), "ps", "--ppid", strconv.Itoa(os.Getpid()), "-o",
			"stat=,comm=").Output(); err == nil && strings.Contains(string(out), "Z") {
			t.Errorf("children that nobody waited for: %s", out)
		}
	}
}

func TestMissingBrowserIsAnError(t *testing.T) {
	for _, tt := range []struct {
		name, browser string
		is            error
	}{
		{"a path that is not there", filepath.Join(t.TempDir(), "chromium"), os.ErrNotExist},
		{"a name that is not found", "no-such-browser", exec.ErrNotFound},
	} {
		t.Run(tt.name, func(t *testing.T) {
			b := render.New(render.Options{Browser: tt.browser, Client: http.DefaultTransport, Dir: t.TempDir()})
			defer func() { _ = b.Close() }()
			u, _ := url.Parse("http://www.example/")
			if _, err := b.Render(context.Background(), render.Request{URL: u}); !errors.Is(err, render.ErrNoBrowser) ||
				!errors.Is(err, tt.is) {
				t.Errorf("error %v, want %v and %v", err, render.ErrNoBrowser, tt.is)
			}
			if st := b.State(); st.Mode != "http" || st.Reason == "" {
				t.Errorf("state %+v", st)
			}
		})
	}
}

func TestProgramThatIsNotABrowserIsNotRestarted(t *testing.T) {
	fake := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(fake, []byte("#!/bin/sh\nexit 3\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := render.New(render.Options{Browser: fake, Client: http.DefaultTransport, Dir: t.TempDir()})
	defer func() { _ = b.Close() }()
	u, _ := url.Parse("http://www.example/")
	for range 6 {
		if _, err := b.Render(context.Background(), render.Request{URL: u}); !errors.Is(err, render.ErrNoBrowser) {
			t.Fatalf("error %v", err)
		}
	}
	if st := b.State(); st.Mode != "http" || st.Deaths != 5 {
		t.Errorf("state %+v, want no sixth attempt", st)
	}
}
