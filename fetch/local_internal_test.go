package fetch

import (
	"context"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/store"
)

// A page that waits for somebody would keep its tree and a worker for as long.
func TestPageThatWaitsHasNoTurn(t *testing.T) {
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close() //nolint:errcheck // nothing of it is wanted
	text := "<p>" + strings.Repeat("A sentence about the harbour and its ships. ", 40)
	var f *Fetcher
	asked := false
	takeTurn := func() {
		if err := f.Turn(t.Context(), 1, func(context.Context) error { return nil }); err != nil {
			t.Error(err)
		}
	}
	f = New(Options{Store: s, Workers: 1, Client: tripper(func(r *http.Request) (*http.Response, error) {
		h := http.Header{"Content-Type": {"text/html"}}
		if strings.HasSuffix(r.URL.Path, ".md") {
			asked = true
			takeTurn()
			return &http.Response{StatusCode: http.StatusNotFound, Header: h, Body: http.NoBody, Request: r}, nil
		}
		body := `<link rel=alternate type="text/markdown" href="/twin.md">` + text
		return &http.Response{
			StatusCode: http.StatusOK, Header: h, Body: io.NopCloser(strings.NewReader(body)),
			ContentLength: int64(len(body)), Request: r,
		}, nil
	})})
	defer f.Close() //nolint:errcheck // as above
	ans, err := f.Page(t.Context(), Request{
		URL: &url.URL{Scheme: "https", Host: "example.com", Path: "/"}, Method: http.MethodGet, Own: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	if !asked || !strings.Contains(string(ans.Body), "about the harbour") {
		t.Errorf("twin asked: %t, body %.80q", asked, ans.Body)
	}
	takeTurn()
}

type tripper func(*http.Request) (*http.Response, error)

func (t tripper) RoundTrip(r *http.Request) (*http.Response, error) { return t(r) }
