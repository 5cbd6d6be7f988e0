package fault_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

func TestAPanicIsAnErrorOfItsWork(t *testing.T) {
	before, _ := fault.Caught()
	err := fault.CatchJob("test: work", "7", func() error { panic("boom") })
	n, last := fault.Caught()
	if !fault.Is(err) || err.Error() != "test: work (7): panic: boom" || n != before+1 {
		t.Errorf("got %v and %d faults, want a fault that names work, job and cause, and %d", err, n, before+1)
	}
	if f := last[len(last)-1]; f.Job != "7" || !strings.Contains(f.Stack, "fault_test.go") {
		t.Errorf("kept %+v, want the job and a stack that leads here", f)
	}
	plain := errors.New("plain")
	if err := fault.Catch("test: work", func() error { return plain }); err != plain { //nolint:errorlint // the same one
		t.Errorf("got %v, want the error of the work", err)
	}
}

func TestACauseIsKeptShort(t *testing.T) {
	err := fault.Catch("test: long", func() error { panic(strings.Repeat("x", 10_000)) })
	if len(err.Error()) > 600 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestAContainedGoroutineEndsAlone(t *testing.T) {
	var wg sync.WaitGroup
	wg.Go(fault.Contain("test: goroutine", func() { panic("boom") }))
	wg.Wait()
	if err := fault.Wrap("test: group", func() error { panic("boom") })(); !fault.Is(err) {
		t.Errorf("got %v, want a fault", err)
	}
}

// What runs as long as the daemon runs again after a panic, with growing pauses.
func TestWorkThatGoesOnRunsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		var at []time.Duration
		done := errors.New("done")
		err := fault.Loop(t.Context(), "test: loop", func(context.Context) error {
			if at = append(at, time.Since(begun)); len(at) < 4 {
				panic("boom")
			}
			return done
		})()
		if err != done { //nolint:errorlint // the same one
			t.Errorf("got %v, want what the work returned", err)
		}
		want := []time.Duration{0, time.Second, 3 * time.Second, 7 * time.Second}
		for i := range want {
			if i >= len(at) || at[i] != want[i] {
				t.Fatalf("ran at %v, want %v", at, want)
			}
		}
	})
}

func TestWorkThatGoesOnEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(fault.Forever(ctx, "test: forever", func(context.Context) { panic("boom") }))
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}

// A request that panics is answered with 500; one whose answer has begun is cut short; the server goes on.
func TestARequestThatPanicsFailsAlone(t *testing.T) {
	server := httptest.NewServer(fault.Handler("test: request", http.HandlerFunc(
		func(w http.ResponseWriter, r *http.Request) {
			switch r.URL.Path {
			case "/early":
				w.Header().Set("Content-Encoding", "gzip")
				panic("boom")
			case "/late":
				w.Header().Set("Content-Length", "100")
				_, _ = io.WriteString(w, "begun")
				_ = http.NewResponseController(w).Flush()
				panic("boom")
			}
			_, _ = io.WriteString(w, "fine")
		})))
	defer server.Close()
	get := func(path string) (status int, body string, err error) {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		resp, err := server.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		if e := resp.Header.Get("Content-Encoding"); e != "" {
			t.Errorf("%s: the answer keeps Content-Encoding: %s", path, e)
		}
		content, err := io.ReadAll(resp.Body)
		return resp.StatusCode, string(content), err
	}
	if status, body, err := get("/early"); err != nil || status != 500 || !strings.Contains(body, "log") {
		t.Errorf("early: %d %q, %v, want 500 with a hint", status, body, err)
	}
	if _, body, err := get("/late"); err == nil {
		t.Errorf("late: %q without an error, want a cut answer", body)
	}
	if status, body, err := get("/"); err != nil || status != 200 || body != "fine" {
		t.Errorf("another: %d %q, %v", status, body, err)
	}
}
