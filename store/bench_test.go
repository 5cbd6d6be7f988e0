package store_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// benchContent returns 20 KB of text that compresses about as markdown does.
func benchContent(n int) string {
	r := rand.New(rand.NewPCG(uint64(n), 1))
	words := strings.Fields("the cache keeps what an origin said and a page is what an agent reads at its address " +
		"validator freshness lifetime request response field content rendition version visit counter")
	var b strings.Builder
	for b.Len() < 20_000 {
		b.WriteString(words[r.IntN(len(words))])
		if b.WriteByte(' '); r.IntN(6) == 0 {
			fmt.Fprintf(&b, "%x ", r.Uint32())
		}
	}
	return b.String()
}

func BenchmarkPut(b *testing.B) {
	s := openStore(b, store.Options{})
	contents := make([]string, 64)
	for i := range contents {
		contents[i] = benchContent(i)
	}
	for i := 0; b.Loop(); i++ {
		if err := s.PutResponse(response(fmt.Sprint("https://a.test/", i)),
			strings.NewReader(fmt.Sprint(i)+contents[i%64]), nil); err != nil {
			if err := s.Flush(); err != nil { // the queue is full: the writer sets the pace
				b.Fatal(err)
			}
		}
	}
	if err := s.Flush(); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "puts/s")
}

func benchGet(b *testing.B, chill bool) {
	b.Helper()
	s := openStore(b, store.Options{})
	const n = 2000
	for i := range n {
		put(b, s, response(fmt.Sprint("https://a.test/", i)), fmt.Sprint(i)+benchContent(i))
	}
	flush(b, s)
	spread := n
	if !chill {
		spread = 100
	}
	for i := 0; b.Loop(); i++ {
		if chill && i%200 == 0 {
			s.Chill()
		}
		list, err := s.Responses(fmt.Sprint("https://a.test/", i*7%spread))
		if err != nil || len(list) != 1 {
			b.Fatal(err, len(list))
		}
		body, err := s.Body(list[0].Body)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := body.WriteTo(io.Discard); err != nil {
			b.Fatal(err)
		}
		_ = body.Close()
	}
}

func BenchmarkGetHot(b *testing.B)  { benchGet(b, false) }
func BenchmarkGetCold(b *testing.B) { benchGet(b, true) }

// BenchmarkLookupCold looks up pages of which nothing is held in memory decoded.
func BenchmarkLookupCold(b *testing.B) {
	s := openStore(b, store.Options{})
	const n = 2000
	for i := range n {
		url, md := fmt.Sprint("https://a.test/", i), []byte(benchContent(i)[:8_000])
		r := put(b, s, response(url), fmt.Sprint(i)+benchContent(i))
		putPage(b, s, url, string(md))
		if err := s.PutRendition(&store.Rendition{
			Source: r.Body, Recipe: "recipe", Markdown: md, From: page.Local, Title: url, FinalURL: url,
		}); err != nil {
			b.Fatal(err)
		}
		s.AddVisit(page.KeyOf(url), store.Visit{URL: url, Source: page.Local})
	}
	flush(b, s)
	for i := 0; b.Loop(); i++ {
		if i%200 == 0 {
			s.Chill()
		}
		url := fmt.Sprint("https://a.test/", i*7%n)
		found := s.Lookup(store.Query{
			URI: url, Host: "a.test", Page: page.KeyOf(url),
			Recipes: func(*store.Response) (ofPage, ofBody string) { return "page", "recipe" },
		})
		if p, err := s.Page(page.KeyOf(url)); err != nil || p.URL != url || found.OfBody == nil {
			b.Fatalf("%+v, %v", found, err)
		}
	}
}

func BenchmarkAddVisit(b *testing.B) {
	s := openStore(b, store.Options{})
	for i := 0; b.Loop(); i++ {
		url := fmt.Sprint("https://a.test/", i*i%5000)
		s.AddVisit(page.KeyOf(url), store.Visit{URL: url, Source: page.Local})
	}
}

func BenchmarkCount(b *testing.B) {
	s := openStore(b, store.Options{})
	for i := 0; b.Loop(); i++ {
		s.Count("bench", fmt.Sprint(i*i%5000), 1)
	}
	if err := s.Flush(); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOpen10000Pages(b *testing.B) {
	dir := b.TempDir()
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 10_000 {
		p, md, _ := newPage(fmt.Sprint("https://a.test/", i), fmt.Sprint(i)+benchContent(i%64))
		p.ContentHash = fmt.Sprint(i)
		if _, err := s.PutPage(p, md, store.Sum{}); err != nil {
			if err := s.Flush(); err != nil {
				b.Fatal(err)
			}
		}
	}
	closeStore(b, s)
	for b.Loop() {
		s, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			b.Fatal(err)
		}
		closeStore(b, s)
	}
}
