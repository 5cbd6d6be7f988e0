package fetch_test

import (
	"net/http"
	"testing"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/store"
)

// losing is a cache whose next stored content is lost before it is read.
type losing struct {
	http.RoundTripper
	now bool
}

func (l *losing) RoundTrip(req *http.Request) (*http.Response, error) {
	resp, err := l.RoundTripper.RoundTrip(req)
	if stored, ok := resp.Body.(interface {
		Sum() store.Sum
		Outcome() cache.Outcome
	}); l.now && err == nil && ok {
		l.now = false
		resp.Body.Close()
		resp.Body = lostBody{stored.Sum(), stored.Outcome()}
	}
	return resp, err
}

type lostBody struct {
	sum     store.Sum
	outcome cache.Outcome
}

func (b lostBody) Sum() store.Sum         { return b.sum }
func (b lostBody) Outcome() cache.Outcome { return b.outcome }
func (lostBody) Ready() error             { return store.ErrNotFound }
func (lostBody) Read([]byte) (int, error) { return 0, store.ErrNotFound }
func (lostBody) Close() error             { return nil }

// Where a rendition is at hand, the content it was made of is opened without being read.
// That it is lost is then found late, and must not be the client's trouble.
func TestStoredContentLostBeforeItIsRead(t *testing.T) {
	fields := []string{html, "Cache-Control: max-age=600"}
	page := article("Harbour")
	for _, tt := range []struct {
		name    string
		fields  []string
		request fetch.Request
	}{
		{"the rendition answers", fields, fetch.Request{}},
		{"what may not be transformed", append(fields, "Cache-Control: no-transform"), fetch.Request{}},
		{"a step that has no rendition", fields, fetch.Request{Cascade: []string{"negotiate"}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			l := &losing{}
			c := newChain(t, respond(200, page, tt.fields...), func(o *fetch.Options) { o.Client = l })
			l.RoundTripper = c.cache
			if _, err := c.own(t, "https://site.test/"); err != nil {
				t.Fatal(err)
			}
			r := tt.request
			r.URL, r.Header = parse(t, "https://site.test/"), header("Accept: */*")
			want, err := c.try(t, r)
			if err != nil {
				t.Fatal(err)
			}
			l.now = true
			got, err := c.try(t, r)
			if err != nil || l.now {
				t.Fatalf("error %v; content lost: %t", err, !l.now)
			}
			if body(t, got) != body(t, want) || got.Status != want.Status {
				t.Errorf("the answer is another than before")
			}
		})
	}
}
