package server_test

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/api"
)

// shrinking is a site of ten pages, which fail as a test has them fail.
type shrinking struct {
	status atomic.Pointer[func(page int) int]
}

func (s *shrinking) fail(status func(page int) int) { s.status.Store(&status) }

func (s *shrinking) serve(rw http.ResponseWriter, r *http.Request) bool {
	rest, ok := strings.CutPrefix(r.URL.Path, "/many/")
	if !ok {
		return false
	}
	n, _ := strconv.Atoi(rest)
	if status := (*s.status.Load())(n); status != http.StatusOK {
		http.Error(rw, "no", status)
		return true
	}
	rw.Header().Set("Content-Type", "text/html; charset=utf-8")
	rw.Header().Set("Cache-Control", "max-age=0")
	_, _ = fmt.Fprintf(rw, article, fmt.Sprintf("Many %d", n), fmt.Sprintf("Heading of page %d", n), n)
	_, _ = fmt.Fprintf(rw, `<a href="/many/%d">next</a>`, (n+1)%10)
	return true
}

// TestARefreshNeverLosesAPageThatMayBeThere: what fails is kept, what is gone is dropped, and when less than half can
// be read, the base stays as it was.
func TestARefreshNeverLosesAPageThatMayBeThere(t *testing.T) {
	ok := func(int) int { return http.StatusOK }
	site := &shrinking{}
	site.fail(ok)
	eachClient(t, site.serve, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		site.fail(ok)
		f, err := ops.CreateBase(t.Context(), api.NewBase{Name: "many", Crawl: "https://example.com/many/0"})
		if last := finished(t, ops, f, err); last.Documents != 10 {
			t.Fatalf("crawl: %+v, want 10 documents", last)
		}
		for _, tt := range []struct {
			name            string
			status          func(page int) int
			limit           int
			documents, kept int
			state           string
		}{
			{"two fail, and hide those behind them", func(n int) int {
				return map[bool]int{true: 500, false: 200}[n == 2 || n == 7]
			}, 0, 10, 2, api.JobDone},
			{"one is gone, one is forbidden", func(n int) int {
				return map[int]int{3: 404, 5: 403}[n] + map[bool]int{true: 200}[n != 3 && n != 5]
			}, 0, 9, 1, api.JobDone},
			{"a limit for one time", ok, 3, 9, 6, api.JobDone},
			{"most fail", func(n int) int {
				return map[bool]int{true: 500, false: 200}[n > 2]
			}, 0, 9, 0, api.JobFailed},
			{"all are back", ok, 0, 10, 0, api.JobDone},
		} {
			site.fail(tt.status)
			f, err := ops.RefreshBase(t.Context(), "many", tt.limit)
			last := finished(t, ops, f, err)
			if last.State != tt.state || last.Kept != tt.kept {
				t.Errorf("%s: %+v, want it %s with %d kept", tt.name, last, tt.state, tt.kept)
			}
			if b, err := ops.Base(t.Context(), "many"); err != nil || b.Documents != tt.documents || b.Limit != 1000 {
				t.Errorf("%s: base %+v, %v, want %d documents", tt.name, b, err, tt.documents)
			}
		}
	})
}

// TestABaseAnswersWhileItIsFilledForTheFirstTime: and a cancelled job leaves what was read, to be continued.
func TestABaseAnswersWhileItIsFilledForTheFirstTime(t *testing.T) {
	reached, goOn := make(chan struct{}), make(chan struct{})
	site := &shrinking{}
	var waits atomic.Bool
	site.fail(func(n int) int {
		if n == 5 && waits.CompareAndSwap(true, false) {
			close(reached)
			<-goOn
		}
		return http.StatusOK
	})
	waits.Store(true)
	w := newWorldOver(t, site.serve, nil, nil)
	ops := w.client
	f, err := ops.CreateBase(t.Context(), api.NewBase{Name: "many", Crawl: "https://example.com/many/0"})
	if err != nil {
		t.Fatal(err)
	}
	<-reached
	if err := w.know.Drain(t.Context()); err != nil {
		t.Fatal(err)
	}
	if b, err := ops.Base(t.Context(), "many"); err != nil || b.Documents != 5 || !b.Building || b.Paused {
		t.Errorf("base %+v, %v, want five documents while it is filled", b, err)
	}
	if res, err := ops.Search(t.Context(), api.SearchQuery{Text: "heading", KB: "many"}); err != nil ||
		len(res.Hits) != 5 {
		t.Errorf("search: %+v, %v, want the five pages read so far", res, err)
	}
	j, err := ops.CancelJob(t.Context(), f.Job.ID)
	close(goOn)
	if err != nil || j.State != api.JobCancelled {
		t.Fatalf("cancel: %+v, %v", j, err)
	}
	if b, err := ops.Base(t.Context(), "many"); err != nil || b.Documents != 5 || !b.Paused {
		t.Errorf("base %+v, %v, want what was read, paused", b, err)
	}
	w.server.Memory().Resume()
	if list, err := ops.Jobs(t.Context()); err != nil || len(list.Jobs) != 1 {
		t.Errorf("jobs %+v, %v, want none but the cancelled one: nobody asked to go on", list, err)
	}
	f, err = ops.RefreshBase(t.Context(), "many", 0)
	if last := finished(t, ops, f, err); last.State != api.JobDone || !last.Resumed || last.Documents != 10 {
		t.Errorf("refresh: %+v, want it continued to ten documents", last)
	}
	if b, err := ops.Base(t.Context(), "many"); err != nil || b.Paused || b.Building || b.Documents != 10 {
		t.Errorf("base %+v, %v, want it filled", b, err)
	}
}

// A page that says the same as another one of its site is read and belongs to no base: it goes at once, since nothing
// would delete it with the base, unless somebody has read it.
func TestNoCopyOfAPageOutlivesItsBase(t *testing.T) {
	w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
		name, ok := strings.CutPrefix(r.URL.Path, "/tree/")
		if !ok {
			return false
		}
		rw.Header().Set("Content-Type", "text/html; charset=utf-8")
		if name == "" {
			_, _ = fmt.Fprintf(rw, article, "Start", "The trees", 1)
			_, _ = fmt.Fprint(rw, `<a href=en>en</a> <a href=de>de</a> <a href=fr>fr</a>`)
			return true
		}
		_, _ = fmt.Fprintf(rw, article, "Same", "The same in each tree", 2)
		return true
	}, nil, nil)
	ctx, ops := t.Context(), w.client
	if _, err := ops.Fetch(ctx, api.FetchRequest{URL: "https://example.com/tree/fr"}); err != nil {
		t.Fatal(err)
	}
	f, err := ops.CreateBase(ctx, api.NewBase{Name: "trees", Crawl: "https://example.com/tree/", Limit: 10})
	if last := finished(t, ops, f, err); last.Documents != 2 || last.Outcomes["duplicate"] != 2 {
		t.Fatalf("crawl: %+v, want 2 documents and 2 copies", last)
	}
	f, err = ops.RefreshBase(ctx, "trees", 0)
	if last := finished(t, ops, f, err); last.Documents != 2 {
		t.Fatalf("refresh: %+v, want 2 documents", last)
	}
	if _, err := ops.DeleteBase(ctx, "trees"); err != nil {
		t.Fatal(err)
	}
	list, err := ops.Pages(ctx, api.PageQuery{})
	if err != nil || len(list.Pages) != 1 || list.Pages[0].NormalizedURL != "https://example.com/tree/fr" {
		for _, p := range list.Pages {
			t.Errorf("%s is stored", p.URL)
		}
		t.Errorf("%v, want only the page that was read", err)
	}
}
