package fetch_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"readthru/fetch"
)

// BenchmarkHit is a page that was read before: from the cache, its rendition from the store.
func BenchmarkHit(b *testing.B) {
	c := newChain(b, respond(200, article("Harbour", strings.Repeat("<p>A paragraph of words like any other.</p>", 400)),
		html, "Cache-Control: max-age=3600"))
	r := fetch.Request{URL: parse(b, "https://site.test/"), Header: header("Accept: */*", "User-Agent: bench")}
	ans, err := c.Page(b.Context(), r)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(ans.Body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := c.Page(b.Context(), r); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkUntouched is what is no page, from the cache: the cost of having looked at it.
func BenchmarkUntouched(b *testing.B) {
	c := newChain(b, respond(200, `{"a":1}`, "Content-Type: application/json", "Cache-Control: max-age=3600"))
	r := fetch.Request{URL: parse(b, "https://site.test/"), Header: http.Header{}}
	b.ReportAllocs()
	for b.Loop() {
		ans, err := c.Page(b.Context(), r)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, ans.Response.Body); err != nil {
			b.Fatal(err)
		}
		ans.Response.Body.Close()
	}
}
