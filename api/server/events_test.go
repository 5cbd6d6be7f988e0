package server_test

import (
	"bufio"
	"context"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/internal/journal"
)

// events opens a stream of events, and returns what reads the name and data of the next one.
func events(t *testing.T, addr, query string) func() (name, data string) {
	t.Helper()
	ctx, end := context.WithCancel(t.Context())
	t.Cleanup(end)
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+addr+"/api/v1/events"+query, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer token")
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = resp.Body.Close() })
	lines := bufio.NewScanner(resp.Body)
	return func() (name, data string) {
		t.Helper()
		for lines.Scan() {
			if text, ok := strings.CutPrefix(lines.Text(), "event: "); ok {
				name = text
			}
			if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok {
				return name, text
			}
		}
		t.Fatalf("the stream ended: %v", lines.Err())
		return "", ""
	}
}

func TestEventsTellOfWorkToThoseWhoAsk(t *testing.T) {
	var open atomic.Int64
	told := journal.New(journal.Options{})
	w := newWorld(t, func(o *server.Options) {
		o.Journal, o.Open = told, func() (int, int) { return int(open.Load()), 1 }
	})
	addr := w.listen(t)
	working, plain := events(t, addr, "?work=1"), events(t, addr, "")
	for _, next := range []func() (string, string){working, plain} {
		if name, _ := next(); name != "hello" {
			t.Fatalf("the stream begins with %s", name)
		}
	}
	open.Store(2)
	name, data := working()
	if want := `{"requests":2,"origins":1,"renders":0,"jobs":0,"queued":0}`; name != "work" || data != want {
		t.Errorf("event %s %s, want work %s", name, data, want)
	}
	told.Add(&journal.Entry{Method: "GET", URL: "https://a.test/"})
	for _, next := range []func() (string, string){working, plain} {
		if name, _ := next(); name != "requests" {
			t.Errorf("event %s when a request has ended", name)
		}
	}
}
