package store_test

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// watched collects what a store tells of its changes.
type watched struct {
	mu   sync.Mutex
	seen []store.Record
}

func (w *watched) note(r store.Record) {
	w.mu.Lock()
	w.seen = append(w.seen, r)
	w.mu.Unlock()
}

func (w *watched) take() []store.Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	seen := w.seen
	w.seen = nil
	return seen
}

func TestWatcherIsToldOfEveryRecordThatAnswersAreMadeOf(t *testing.T) {
	s := openStore(t, store.Options{})
	var w watched
	s.Watch(w.note)
	const uri = "https://a.test/x"
	p, _, k := newPage(uri, "")
	r := &store.Response{URL: uri, Status: 200, ResponseTime: time.Now()}
	rendition := &store.Rendition{Source: store.Sum{1}, Recipe: "r", Markdown: []byte("m"), From: page.Local}
	for _, step := range []struct {
		name string
		do   func() error
		want store.Record
	}{
		{
			"a response is stored", func() error { return s.PutResponse(r, strings.NewReader("x"), nil) },
			store.ResponsesOf(uri),
		},
		{"a response is freshened", func() error { return s.UpdateResponse(r) }, store.ResponsesOf(uri)},
		{"responses are deleted", func() error {
			_, err := s.DeleteResponses(uri)
			return err
		}, store.ResponsesOf(uri)},
		{"a rendition is stored", func() error { return s.PutRendition(rendition) }, store.RenditionsOf(store.Sum{1})},
		{"a page gets a rendition", func() error {
			return s.PutPageRendition(k, rendition)
		}, store.PageRenditionsOf(k)},
		{
			"a page's renditions go", func() error { _, err := s.DeletePageRenditions(k); return err },
			store.PageRenditionsOf(k),
		},
		{"a host is learnt", func() error {
			_, _, err := s.Learn("A.test", store.Negotiates, "", "", time.Now())
			return err
		}, store.HostOf("a.test")},
		{"a page is stored", func() error {
			_, err := s.PutPage(p, []byte("m"), store.Sum{1})
			return err
		}, store.PageOf(k)},
		{"a session has fetched it", func() error {
			_,
				err := s.PutFetched("s", &page.Page{Record: *p}, []byte("m"))
			return err
		}, store.FetchedOf("s", k)},
		{"a page fails", func() error { return s.PageFailed(k, page.Error{}) }, store.PageOf(k)},
		{"a page is deleted", func() error { return s.DeletePage(k) }, store.PageOf(k)},
	} {
		w.take()
		if err := step.do(); err != nil {
			t.Fatalf("%s: %v", step.name, err)
		}
		if seen := w.take(); !slices.Contains(seen, step.want) {
			t.Errorf("%s: told of %q, want %q among them", step.name, seen, step.want)
		}
	}
}
