package server_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/convert"
)

// paragraph matches one that is long enough to be content.
var paragraph = regexp.MustCompile(`(?is)<p[ >][^<]{120,}</p>`)

// correction is what one paragraph of a page says more in its second version.
const correction = " This sentence was corrected on a Tuesday, after a reader had written.</p>"

// BenchmarkDelta reads pages of the corpus folder (READTHRU_CORPUS, html/SET/NAME.html.gz), lets one paragraph of each
// change, reads them again, and tells what the changed sections cost against the whole page, in tokens.
func BenchmarkDelta(b *testing.B) {
	dir := os.Getenv("READTHRU_CORPUS")
	if dir == "" {
		b.Skip("READTHRU_CORPUS names no corpus folder")
	}
	names, err := filepath.Glob(filepath.Join(dir, "html", "*", "*.html.gz"))
	if err != nil || len(names) == 0 {
		b.Fatalf("no pages in %s: %v", dir, err)
	}
	var now atomic.Pointer[[]byte]
	w := newWorldOver(b, func(w http.ResponseWriter, _ *http.Request) bool {
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = w.Write(*now.Load())
		return true
	}, nil, nil)
	for b.Loop() {
		var whole, delta, pages, larger int
		for _, name := range names {
			html := unzipped(b, name)
			places := paragraph.FindAllIndex(html, -1)
			if len(places) == 0 {
				continue
			}
			end := places[len(places)/2][1] - len("</p>")
			edited := bytes.Join([][]byte{html[:end], []byte(correction), html[end+len("</p>"):]}, nil)
			url := "https://example.com/" + strings.TrimSuffix(filepath.Base(name), ".html.gz")
			for _, version := range [][]byte{html, edited} {
				now.Store(&version)
				if _, err := w.client.Fetch(b.Context(), api.FetchRequest{URL: url, Force: true}); err != nil {
					b.Fatal(err)
				}
			}
			p, err := w.client.Page(b.Context(), url)
			if err != nil {
				continue // no page: a wall, or nothing to read
			}
			c, err := w.client.Changes(b.Context(), url, "")
			if err != nil {
				b.Fatal(err)
			}
			if !c.Changed {
				continue // the paragraph is none of the content
			}
			var text strings.Builder
			for _, s := range c.Changes {
				text.WriteString(s.Heading + "\n" + s.Text + "\n")
			}
			pages++
			n, all := convert.Tokens(text.String()), convert.Tokens(p.Content)
			whole, delta = whole+all, delta+n
			if n > all {
				larger++
			}
		}
		b.ReportMetric(float64(pages), "pages")
		b.ReportMetric(float64(whole)/float64(max(1, pages)), "tokens/page")
		b.ReportMetric(float64(delta)/float64(max(1, pages)), "tokens/delta")
		b.ReportMetric(float64(larger), "larger")
	}
}

func unzipped(b *testing.B, name string) []byte {
	b.Helper()
	f, err := os.Open(name)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = f.Close() }() // it was read only
	z, err := gzip.NewReader(f)
	if err != nil {
		b.Fatal(err)
	}
	text, err := io.ReadAll(z)
	if err != nil {
		b.Fatal(err)
	}
	return text
}
