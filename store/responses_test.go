package store_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/store"
)

func TestResponseComesBackAsItWasPut(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	want := response("https://a.test/page?q=1")
	want.Vary = []string{"accept", "cookie"}
	want.Selecting = map[string]string{"accept": "text/html", "cookie": "caf\xe9"}
	want.Partition, want.Class, want.Status = "p", "c", 206
	want.Offset, want.Total = 7, 99
	want.Retain = time.Now().Add(time.Hour)
	want.Tags = []string{"news", "front"}
	put(t, s, want, "content")
	if want.ID == (store.EntryID{}) || want.Length != 7 || want.Body != store.Sum(sha256.Sum256([]byte("content"))) {
		t.Errorf("PutResponse filled in ID %x, Length %d, Body %s", want.ID, want.Length, want.Body)
	}
	check := func(when string) {
		t.Helper()
		list := responses(t, s, want.URL)
		if len(list) != 1 {
			t.Fatalf("%s: %d responses, want 1", when, len(list))
		}
		if diff := cmp.Diff(want, list[0]); diff != "" {
			t.Errorf("%s: response (-want +got):\n%s", when, diff)
		}
		if got := bodyOf(t, s, list[0].Body); got != "content" {
			t.Errorf("%s: body = %q", when, got)
		}
	}
	check("hot")
	s.Chill()
	check("queued")
	flush(t, s)
	s.Chill()
	check("on disk")
	closeStore(t, s)
	s = openStore(t, store.Options{Dir: dir})
	check("opened again")
}

func TestWhichResponseIsReplaced(t *testing.T) {
	for _, tt := range []struct {
		name   string
		change func(r *store.Response)
		want   int // stored responses afterwards
	}{
		{"the same request again", func(*store.Response) {}, 1},
		{"another selecting value", func(r *store.Response) { r.Selecting = map[string]string{"accept": "b"} }, 2},
		{"another partition", func(r *store.Response) { r.Partition = "other" }, 2},
		{"another class", func(r *store.Response) { r.Class = "other" }, 2},
		{"a partial response beside a whole one", func(r *store.Response) { r.Status = 206 }, 2},
		{"the same ID, whatever else", func(r *store.Response) { r.Class = "other"; r.ID = store.EntryID{1} }, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openStore(t, store.Options{})
			first := response("https://a.test/")
			first.ID = store.EntryID{1}
			first.Selecting = map[string]string{"accept": "a"}
			put(t, s, first, "first")
			second := response("https://a.test/")
			second.Selecting = first.Selecting
			tt.change(second)
			put(t, s, second, "second")
			if got := len(responses(t, s, "https://a.test/")); got != tt.want {
				t.Errorf("%d responses, want %d", got, tt.want)
			}
			flush(t, s)
			s.Chill()
			if got := len(responses(t, s, "https://a.test/")); got != tt.want {
				t.Errorf("on disk: %d responses, want %d", got, tt.want)
			}
			if got := s.Totals().Responses; got != int64(tt.want) {
				t.Errorf("Totals().Responses = %d, want %d", got, tt.want)
			}
		})
	}
}

func TestVariantsOfAURIAreBounded(t *testing.T) {
	s := openStore(t, store.Options{})
	start := time.Now()
	for i := range store.MaxVariants + 20 {
		r := response("https://a.test/")
		r.Class = fmt.Sprint(i)
		r.ResponseTime = start.Add(time.Duration(i) * time.Second)
		put(t, s, r, "x")
	}
	list := responses(t, s, "https://a.test/")
	if len(list) != store.MaxVariants || list[0].Class != fmt.Sprint(store.MaxVariants+19) {
		t.Errorf("%d responses, newest %s; want %d, the newest", len(list), list[0].Class, store.MaxVariants)
	}
}

func TestBrokenContentStoresNothing(t *testing.T) {
	s := openStore(t, store.Options{})
	cause := errors.New("connection reset")
	content := io.MultiReader(strings.NewReader(strings.Repeat("x", 3*store.PartSize)), iotest.ErrReader(cause))
	if err := s.PutResponse(response("https://a.test/"), content, nil); !errors.Is(err, cause) {
		t.Errorf("PutResponse: %v, want the content's error", err)
	}
	if list := responses(t, s, "https://a.test/"); len(list) != 0 {
		t.Errorf("%d responses are stored", len(list))
	}
	if keys := s.Keys("b/"); len(keys) != 0 {
		t.Errorf("%d parts are stored", len(keys))
	}
}

func TestContentOverTheQueueIsRefusedAndGivesItsRoomBack(t *testing.T) {
	s := openStore(t, store.Options{})
	for range 3 {
		err := s.PutResponse(response("https://a.test/"), io.LimitReader(zeros{}, store.MaxQueued+1), nil)
		if !errors.Is(err, store.ErrFull) {
			t.Fatalf("PutResponse: %v, want ErrFull", err)
		}
	}
	if got := s.Health().Dropped; got != 3 {
		t.Errorf("Dropped = %d, want 3", got)
	}
	put(t, s, response("https://a.test/"), strings.Repeat("y", store.MaxQueued/2))
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestEqualBodiesAreStoredOnce(t *testing.T) {
	s := openStore(t, store.Options{})
	body := strings.Repeat("mirrored ", 1000)
	a, b := put(t, s, response("https://a.test/"), body), put(t, s, response("https://b.test/"), body)
	if got := len(s.Keys("b/")); got != 1 {
		t.Errorf("%d parts, want 1", got)
	}
	if got := s.Totals().ResponseBytes; got != int64(len(body)) {
		t.Errorf("ResponseBytes = %d, want %d", got, len(body))
	}
	if _, err := s.DeleteResponses(a.URL); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	s.Chill()
	if got := bodyOf(t, s, b.Body); got != body {
		t.Error("the body went with one of its two responses")
	}
	if _, err := s.DeleteResponses(b.URL); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Sweep(t.Context()); err != nil {
		t.Fatal(err)
	}
	if keys := append(s.Keys("b/"), s.Keys("d/")...); len(keys) != 0 {
		t.Errorf("%d records of a body that nobody refers to", len(keys))
	}
	if got := s.Totals(); got.Responses != 0 || got.ResponseBytes != 0 {
		t.Errorf("Totals() = %+v, want no responses", got)
	}
}

func TestUpdateTouchesTheHeadOnly(t *testing.T) {
	s := openStore(t, store.Options{})
	put(t, s, response("https://a.test/"), "content")
	fresh := *responses(t, s, "https://a.test/")[0]
	fresh.Header = map[string][]string{"Etag": {`"2"`}}
	fresh.Tags = []string{"new"}
	if err := s.UpdateResponse(&fresh); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	s.Chill()
	got := responses(t, s, "https://a.test/")
	if len(got) != 1 || got[0].Header.Get("Etag") != `"2"` || bodyOf(t, s, got[0].Body) != "content" {
		t.Errorf("after update: %+v", got)
	}
	if n, err := s.DeleteTaggedResponses("new"); n != 1 || err != nil {
		t.Errorf("DeleteTaggedResponses = %d, %v, want 1", n, err)
	}
	if err := s.UpdateResponse(&fresh); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("UpdateResponse of a deleted one: %v, want ErrNotFound", err)
	}
}

func TestUpdateOfAReplacedResponseIsRefused(t *testing.T) {
	s := openStore(t, store.Options{})
	put(t, s, response("https://a.test/"), "old")
	old := responses(t, s, "https://a.test/")[0]
	put(t, s, response("https://a.test/"), "new")
	if err := s.UpdateResponse(old); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("UpdateResponse: %v, want ErrNotFound: the head would describe another content", err)
	}
}

func TestPurge(t *testing.T) {
	uris := []string{
		"https://a.test/docs/1", "https://a.test/docs/2", "https://a.test/blog", "https://a.test:8443/docs/",
		"https://b.test/docs/1",
	}
	for _, tt := range []struct {
		name  string
		purge func(s *store.Store) (int, error)
		gone  []int
	}{
		{"by URI", func(s *store.Store) (int, error) { return s.DeleteResponses(uris[0]) }, []int{0}},
		{"by host", func(s *store.Store) (int, error) { return s.DeleteHostResponses("A.test") }, []int{0, 1, 2}},
		{"by host and port", func(s *store.Store) (int, error) {
			return s.DeleteHostResponses("a.test:8443")
		}, []int{3}},
		{
			"by prefix", func(s *store.Store) (int, error) { return s.DeletePrefixResponses("https://a.test/docs/") },
			[]int{0, 1},
		},
		{"by tag", func(s *store.Store) (int, error) { return s.DeleteTaggedResponses("odd") }, []int{1, 3}},
		{"all", func(s *store.Store) (int, error) { return s.ClearResponses() }, []int{0, 1, 2, 3, 4}},
		{"by a host never seen", func(s *store.Store) (int, error) { return s.DeleteHostResponses("test") }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := openStore(t, store.Options{})
			for i, uri := range uris {
				r := response(uri)
				if i%2 == 1 {
					r.Tags = []string{"odd"}
				}
				put(t, s, r, uri)
			}
			n, err := tt.purge(s)
			if n != len(tt.gone) || err != nil {
				t.Errorf("purge = %d, %v, want %d", n, err, len(tt.gone))
			}
			for pass := range 2 {
				for i, uri := range uris {
					want := 1
					for _, g := range tt.gone {
						if g == i {
							want = 0
						}
					}
					if got := len(responses(t, s, uri)); got != want {
						t.Errorf("pass %d: %s has %d responses, want %d", pass, uri, got, want)
					}
				}
				flush(t, s)
				s.Chill()
			}
		})
	}
}

func TestPrefixNeedsAWholeHost(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, prefix := range []string{"", "https://", "https://a", "a.test/", "/docs", "https:///x"} {
		if n, err := s.DeletePrefixResponses(prefix); err == nil {
			t.Errorf("DeletePrefixResponses(%q) = %d, want an error", prefix, n)
		}
	}
}

func TestDeleteResponseRemovesOneVariant(t *testing.T) {
	s := openStore(t, store.Options{})
	a := response("https://a.test/")
	b := response("https://a.test/")
	b.Class = "b"
	put(t, s, a, "a")
	put(t, s, b, "b")
	if err := s.DeleteResponse(a.URL, a.ID); err != nil {
		t.Fatal(err)
	}
	if err := s.DeleteResponse(a.URL, a.ID); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("again: %v, want ErrNotFound", err)
	}
	if list := responses(t, s, a.URL); len(list) != 1 || list[0].Class != "b" {
		t.Errorf("left: %d, want the other variant", len(list))
	}
}

func TestBodyBeingReadIsNotDeletedUnderTheReader(t *testing.T) {
	s := openStore(t, store.Options{})
	long := strings.Repeat("0123456789abcdef", 4*store.PartSize/16) + "end"
	r := put(t, s, response("https://a.test/"), long)
	flush(t, s)
	b, err := s.Body(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	head := make([]byte, 100)
	if _, err := io.ReadFull(b, head); err != nil {
		t.Fatal(err)
	}
	put(t, s, response("https://a.test/"), "replaced")
	if _, err := s.Sweep(context.Background()); err != nil {
		t.Fatal(err)
	}
	var rest bytes.Buffer
	if _, err := b.WriteTo(&rest); err != nil || string(head)+rest.String() != long {
		t.Errorf("read %d bytes, error %v; want all %d", 100+rest.Len(), err, len(long))
	}
	_ = b.Close()
}

func TestBodySeeksAndReadsAnyRange(t *testing.T) {
	s := openStore(t, store.Options{})
	content := make([]byte, 2*store.PartSize+1000)
	for i := range content {
		content[i] = byte(i * 7 >> 3)
	}
	r := put(t, s, response("https://a.test/"), string(content))
	flush(t, s)
	b, err := s.Body(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = b.Close() }()
	if b.Len() != int64(len(content)) || b.Sum() != r.Body {
		t.Errorf("Len = %d, Sum = %s", b.Len(), b.Sum())
	}
	if err := iotest.TestReader(b, content); err != nil {
		t.Error(err)
	}
}

func TestConcurrentUseKeepsCountsAndBodiesRight(t *testing.T) {
	s := openStore(t, store.Options{})
	var wg sync.WaitGroup
	for g := range 8 {
		wg.Go(func() {
			for i := range 60 {
				uri := fmt.Sprintf("https://a.test/%d", i%7)
				switch (g + i) % 4 {
				case 0, 1:
					r := response(uri)
					r.Class = fmt.Sprint(i % 3)
					content := strings.Repeat(fmt.Sprint(i%5), 5000)
					if err := s.PutResponse(r, strings.NewReader(content), nil); err != nil {
						t.Errorf("PutResponse: %v", err)
					}
				case 2:
					list, _ := s.Responses(uri)
					for _, r := range list {
						b, err := s.Body(r.Body)
						if err != nil {
							continue // replaced meanwhile
						}
						h := sha256.New()
						if _, err := b.WriteTo(h); err == nil && store.Sum(h.Sum(nil)) != r.Body {
							t.Error("a body is not what its sum says")
						}
						_ = b.Close()
					}
				case 3:
					if _, err := s.DeleteResponses(uri); err != nil {
						t.Errorf("DeleteResponses: %v", err)
					}
				}
			}
		})
	}
	wg.Wait()
	got, want := s.Totals(), s.Recounted()
	if got.Responses != want.Responses || got.ResponseBytes != want.ResponseBytes {
		t.Errorf("Totals() = %+v, counted %+v", got, want)
	}
}
