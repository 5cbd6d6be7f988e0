package fetch_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
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

// BenchmarkColdHit is one of many pages that were read before, most of which are on disk only.
func BenchmarkColdHit(b *testing.B) {
	const pages = 5000
	words := strings.Fields("a harbour is where ships lie and a page is what agents read at its address version field")
	c := newChain(b, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		w.Header().Set("Cache-Control", "max-age=36000")
		var text strings.Builder
		for n := 0; text.Len() < 10_000; n++ {
			fmt.Fprintf(&text, "<h2>Part %d</h2><p>", n)
			for range 60 {
				text.WriteString(words[rand.IntN(len(words))] + " ")
			}
			fmt.Fprintf(&text, "%x.</p>", rand.Uint32())
		}
		_, _ = io.WriteString(w, article("Page "+r.URL.Path, text.String()))
	}))
	request := func(n int) fetch.Request {
		return fetch.Request{
			URL:    parse(b, fmt.Sprintf("https://site.test/docs/%d", n)),
			Header: header("Accept: */*", "User-Agent: bench"),
		}
	}
	for n := range pages {
		if _, err := c.Page(b.Context(), request(n)); err != nil {
			b.Fatal(err)
		}
	}
	if err := c.store.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.ResetTimer()
	for b.Loop() {
		ans, err := c.Page(b.Context(), request(rand.IntN(pages)))
		if err != nil {
			b.Fatal(err)
		}
		if len(ans.Body) < 5000 {
			b.Fatalf("%d bytes", len(ans.Body))
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
