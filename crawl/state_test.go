package crawl_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/fetch"
)

func TestInterruptedCrawlResumes(t *testing.T) {
	p := pages{}
	for i := range 100 {
		p[fmt.Sprintf("/p/%d", i)] = html(fmt.Sprintf("P %d", i%80), fmt.Sprintf("/p/%d", i*2+1), fmt.Sprintf("/p/%d", i*2+2),
			"/gone", fmt.Sprintf("/old/%d", i))
	}
	p["/"] = html("Home", "/p/0")
	o := crawl.Options{Limit: 60}
	whole, wholeReport := must3(t)(newRig(t, p).run(t, o))

	killed := errors.New("killed")
	for _, after := range []int{0, 2, 30, 59} {
		r := newRig(t, p)
		state, list := &memory{}, map[string]int{}
		var seen told
		o := o
		o.URL, o.State = "http://site.test/", state
		yield := func(limit int) func(crawl.Event) error {
			return func(e crawl.Event) error {
				if len(seen) == limit {
					return killed
				}
				l := line(t, e)
				if seen = append(seen, l); list[l] == 0 {
					list[l] = len(list) + 1
				}
				return nil
			}
		}
		if _, err := r.Crawl(t.Context(), o, yield(after)); !errors.Is(err, killed) {
			t.Fatalf("crawl: %v, want the error of yield", err)
		}
		before := r.count("site.test/p/")
		report, err := r.Crawl(t.Context(), o, yield(1<<20))
		if err != nil {
			t.Fatalf("killed after %d: %v", after, err)
		}
		var order told
		for _, l := range seen {
			if !slices.Contains(order, l) {
				order = append(order, l)
			}
		}
		if diff := cmp.Diff(whole, order); diff != "" {
			t.Errorf("killed after %d, the crawl differs from a whole one:\n%s", after, diff)
		}
		if diff := cmp.Diff(wholeReport, report, cmp.AllowUnexported(crawl.Report{})); diff != "" {
			t.Errorf("killed after %d, the report differs:\n%s", after, diff)
		}
		if again := r.count("site.test/p/") + before; after > 20 && again > 2*100 {
			t.Errorf("killed after %d, %d requests in all", after, again)
		}
		if o.URL = "http://site.test/p/0"; after > 0 {
			if _, err := r.Crawl(t.Context(), o, yield(1<<20)); !errors.Is(err, crawl.ErrOtherCrawl) {
				t.Errorf("crawl of another URL with this state: %v, want ErrOtherCrawl", err)
			}
		}
	}
}

// TestNoPageThatWasSavedIsAskedForAgain kills a crawl in its first round, of a site whose pages may not be used again.
func TestNoPageThatWasSavedIsAskedForAgain(t *testing.T) {
	p, links := pages{}, []string{}
	for i := range 20 {
		links = append(links, fmt.Sprintf("/p/%02d", i))
		p[links[i]] = html(fmt.Sprintf("P %d", i))
	}
	p["/"] = html("Home", links...)
	r := newRig(t, http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		p.ServeHTTP(w, req)
	}), func(c *crawl.Config, _ *fetch.Options) { c.Workers = 1 })
	o := crawl.Options{URL: "http://site.test/", State: &memory{}}
	killed, handled := errors.New("killed"), []string{}
	_, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
		if len(handled) == 10 {
			return killed
		}
		handled = append(handled, e.URL)
		return nil
	})
	if !errors.Is(err, killed) {
		t.Fatal(err)
	}
	report, err := r.Crawl(t.Context(), o, func(e crawl.Event) error {
		if slices.Contains(handled, e.URL) {
			t.Errorf("%s is handled again", e.URL)
		}
		return nil
	})
	if err != nil || report.Pages != 21 {
		t.Fatalf("%+v, %v", report, err)
	}
	for _, u := range handled[1:] {
		if n := r.count(strings.TrimPrefix(u, "http://")); n != 1 {
			t.Errorf("%s was asked for %d times", u, n)
		}
	}
}

// TestAStepOfARoundThatWasSavedWholeIsRead resumes from what earlier versions saved.
func TestAStepOfARoundThatWasSavedWholeIsRead(t *testing.T) {
	p := pages{"/": html("Home", "/a", "/b"), "/a": html("A", "/c"), "/b": html("B"), "/c": html("C")}
	state := &memory{}
	whole, want := must3(t)(newRig(t, p).run(t, crawl.Options{State: state}))
	old := &memory{batches: [][]byte{
		state.batches[0],
		[]byte(`{"part":0,"last":true,"done":[{"u":"http://site.test/a","o":"new","h":"a"},` +
			`{"u":"http://site.test/b","o":"new","h":"b"}],"added":[{"u":"http://site.test/c","d":2}]}`),
	}}
	list, report := must3(t)(newRig(t, p).run(t, crawl.Options{State: old}))
	if !slices.Equal(list, whole[3:]) || report.Pages != want.Pages {
		t.Errorf("%v after %v, %d pages", list, whole[:3], report.Pages)
	}
}

func TestAnIncompleteSavedStepIsIgnored(t *testing.T) {
	crawl.LimitBatch(t, 2<<10) // too small for all of the URLs
	p := pages{"/": html("Home")}
	var links []string
	for i := range 200 {
		links = append(links, fmt.Sprintf("/a-page/%d", i))
	}
	p["/"] = html("Home", links...)
	for i := range 30 {
		p[links[i]] = html(fmt.Sprintf("P %d", i))
	}
	whole := &memory{}
	list, _ := must3(t)(newRig(t, p).run(t, crawl.Options{Limit: 10, State: whole}))
	if len(whole.batches) < 5 {
		t.Fatalf("%d batches, want a first round of several", len(whole.batches))
	}
	for n := 0; n < len(whole.batches); n += 1 + n/2 {
		cut := &memory{batches: slices.Clone(whole.batches[:n])}
		rest, report := must3(t)(newRig(t, p).run(t, crawl.Options{Limit: 10, State: cut}))
		if len(rest) > len(list) || !slices.Equal(rest, list[len(list)-len(rest):]) || report.Pages != 10 {
			t.Errorf("after %d batches: %d lines that are not the last of the %d, %d pages", n, len(rest), len(list),
				report.Pages)
		}
	}
	if _, _, err := newRig(t, p).run(t, crawl.Options{State: &memory{batches: [][]byte{[]byte("junk")}}}); err == nil {
		t.Error("progress that cannot be read is no error")
	}
}
