package render_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/render/rendertest"
)

// fake returns a browser that is a shell script.
func fake(t *testing.T, script string) *render.Browser {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("the browsers of this test are shell scripts, which Windows does not run")
	}
	name := filepath.Join(t.TempDir(), "chromium")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	b := render.New(render.Options{Browser: name, Client: http.DefaultTransport, Dir: t.TempDir()})
	t.Cleanup(func() { _ = b.Close() })
	return b
}

func example(t *testing.T) render.Request {
	t.Helper()
	u, err := url.Parse("http://www.example/")
	if err != nil {
		t.Fatal(err)
	}
	return render.Request{URL: u}
}

// TestStartingBrowserDoesNotBlockOtherCalls has a browser that never answers: its state is told meanwhile, who leaves
// is let go, and closing ends it.
func TestStartingBrowserDoesNotBlockOtherCalls(t *testing.T) {
	begun := filepath.Join(t.TempDir(), "begun")
	if err := exec.CommandContext(t.Context(), "mkfifo", begun).Run(); err != nil {
		t.Fatalf("make a named pipe: %v", err)
	}
	b := fake(t, "echo begun >"+begun+"\nexec sleep 600")
	stayed := make(chan error, 1)
	go func() {
		_, err := b.Render(context.Background(), example(t))
		stayed <- err
	}()
	if _, err := os.ReadFile(begun); err != nil { // wait until the script has reached this point
		t.Fatal(err)
	}
	if st := b.State(); st.Mode != "browser" || st.Running || st.Open != 1 {
		t.Errorf("state %+v while it starts", st)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := b.Render(ctx, example(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v for one who has left", err)
	}
	select {
	case err := <-stayed:
		t.Fatalf("the start had ended before the others were done: %v", err)
	default:
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := <-stayed; !errors.Is(err, render.ErrNoBrowser) {
		t.Errorf("error %v when it was closed, want %v", err, render.ErrNoBrowser)
	}
	if st := b.State(); st.Open != 0 {
		t.Errorf("%d pages are being rendered when it is closed", st.Open)
	}
	if _, err := b.Render(context.Background(), example(t)); !errors.Is(err, render.ErrNoBrowser) {
		t.Errorf("error %v after it was closed", err)
	}
}

func TestFailedStartFailsAllWaitingPages(t *testing.T) {
	b := fake(t, "exit 3")
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if _, err := b.Render(context.Background(), example(t)); !errors.Is(err, render.ErrNoBrowser) {
				t.Errorf("error %v, want %v", err, render.ErrNoBrowser)
			}
		})
	}
	all.Wait()
	if st := b.State(); st.Deaths == 0 || st.Deaths > 5 || st.Failed != 8 {
		t.Errorf("state %+v, want 8 failed pages and at most 5 starts", st)
	}
}

func TestBrowserInstalledLaterIsFound(t *testing.T) { // rule C6
	name := filepath.Join(t.TempDir(), "chromium")
	b := render.New(render.Options{Browser: name, Client: http.DefaultTransport, Dir: t.TempDir()})
	defer func() { _ = b.Close() }()
	if st := b.State(); st.Mode != "http" {
		t.Fatalf("state %+v without a browser", st)
	}
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if st := b.State(); st.Mode != "browser" || st.Path != name {
		t.Errorf("state %+v, want the browser that is there now", st)
	}
	if err := os.Remove(name); err != nil {
		t.Fatal(err)
	}
	if st := b.State(); st.Mode != "http" {
		t.Errorf("state %+v after it was removed", st)
	}
}

func TestBrowserEndsWhenIdleAndAfterManyPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	s.add("/p", "<p>fine")
	b := s.browser(t)
	b.Limit(2, time.Hour)
	var pids []int
	for range 3 {
		rendered(t, b, s.page(t, "/p"))
		pids = append(pids, b.State().PID)
	}
	if pids[0] != pids[1] || pids[1] == pids[2] || slices.Contains(pids, 0) {
		t.Errorf("processes %v, want the third page in a new one", pids)
	}
	short := s.browser(t)
	short.Limit(100, time.Millisecond)
	rendered(t, short, s.page(t, "/p"))
	eventually.True(t, "it has ended", func() bool { return !short.State().Running })
	rendered(t, short, s.page(t, "/p"))
	if st := short.State(); st.Deaths != 0 || st.Pages != 2 {
		t.Errorf("state %+v, want two pages and no death", st)
	}
}

func TestCloseEndsRunningPages(t *testing.T) {
	t.Parallel()
	s := newSite(t)
	b := s.browser(t)
	asked := make(chan struct{})
	s.mux.HandleFunc("/never", func(_ http.ResponseWriter, r *http.Request) {
		close(asked)
		<-r.Context().Done()
	})
	failed := make(chan error, 1)
	go func() {
		_, err := b.Render(context.Background(), s.page(t, "/never"))
		failed <- err
	}()
	<-asked
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-failed:
		if !errors.Is(err, render.ErrNoBrowser) {
			t.Errorf("error %v, want %v", err, render.ErrNoBrowser)
		}
	default:
		t.Error("Close did not wait for the page")
	}
}

// TestAttachedBrowserIsIsolatedToo attaches to a browser with a network of its own.
func TestAttachedBrowserIsIsolatedToo(t *testing.T) {
	t.Parallel()
	eachBrowser(t, func(t *testing.T, name string) {
		t.Helper()
		s := newSite(t)
		path := s.browser(t, func(o *render.Options) { o.Browser = name }).State().Path
		cmd := exec.CommandContext(context.Background(), path, "--headless", "--no-sandbox", "--disable-gpu",
			"--remote-debugging-port=0", "--user-data-dir="+rendertest.Dir(t),
			// WebRTC depends on the flags of the browser's owner.
			"--force-webrtc-ip-handling-policy=disable_non_proxied_udp", "--webrtc-ip-handling-policy=disable_non_proxied_udp")
		said, err := cmd.StderrPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		at := ""
		for lines := bufio.NewScanner(said); at == "" && lines.Scan(); {
			_, at, _ = strings.Cut(lines.Text(), "DevTools listening on ")
		}
		t.Cleanup(func() {
			_ = cmd.Process.Kill() // the tests are over
			_ = cmd.Wait()
		})
		u, err := url.Parse(at)
		if err != nil || u.Host == "" {
			t.Fatalf("it said %q where it listens", at)
		}
		b := s.browser(t, func(o *render.Options) {
			o.Attach, o.Client, o.Sockets = fmt.Sprintf("http://%s/", u.Host), guard{o.Client}, guard{o.Client}
		})
		nothingGoesPast(t, s, b)
		if st := b.State(); st.Pages == 0 || !st.Running || st.Path != "http://"+u.Host+"/" {
			t.Errorf("state %+v", st)
		}
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(syscall.Signal(0)); err != nil {
			t.Errorf("closing ended a browser that is not ours: %v", err)
		}
	})
}

func TestBrowserGetsNoSecretsFromTheEnvironment(t *testing.T) {
	got := render.Environment([]string{
		"PATH=/bin", "READTHRU_LLM_API_KEY=k", "AWS_SECRET_ACCESS_KEY=k",
		"HTTP_PROXY=http://u:p@x", "LC_ALL=C", "HOME=/h",
	})
	if want := []string{"PATH=/bin", "LC_ALL=C", "HOME=/h"}; !slices.Equal(got, want) {
		t.Errorf("environment %q, want %q", got, want)
	}
}
