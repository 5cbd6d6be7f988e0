package convert_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/convert/corpustest"
	"github.com/readthru/readthru/internal/processor"
)

// corpusPage is a line of manifest.jsonl in a corpus folder.
type corpusPage struct {
	Set, ID, URL, HTML, Type string
	content                  []byte
}

// readCorpus reads the corpus in the folder that READTHRU_CORPUS names, or our own.
func readCorpus(tb testing.TB) []corpusPage {
	tb.Helper()
	dir := corpustest.Dir(tb, os.Getenv("READTHRU_CORPUS"))
	manifest, err := os.Open(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = manifest.Close() }()
	var pages []corpusPage
	lines := bufio.NewScanner(manifest)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var p corpusPage
		if err := json.Unmarshal(lines.Bytes(), &p); err != nil {
			tb.Fatal(err)
		}
		f, err := os.Open(filepath.Join(dir, p.HTML))
		if err != nil {
			tb.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			tb.Fatal(err)
		}
		if p.content, err = io.ReadAll(z); err != nil {
			tb.Fatal(err)
		}
		_ = f.Close()
		pages = append(pages, p)
	}
	return pages
}

// BenchmarkCorpus converts every page of a corpus, parses every page with html.Parse alone, and compares what both
// cost. With READTHRU_CORPUS_OUT it writes each page's markdown to SET/ID.md in that folder, for a scorer.
func BenchmarkCorpus(b *testing.B) {
	pages := readCorpus(b)
	out := os.Getenv("READTHRU_CORPUS_OUT")
	b.Run("convert", func(b *testing.B) {
		size := 0
		for b.Loop() {
			for _, p := range pages {
				u, _ := url.Parse(p.URL)
				doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
				if err != nil {
					b.Fatalf("parse %s/%s: %v", p.Set, p.ID, err)
				}
				res, err := doc.Convert(context.Background(), convert.Options{})
				if err != nil {
					b.Fatalf("convert %s/%s: %v", p.Set, p.ID, err)
				}
				size += len(p.content)
				if out != "" {
					file := filepath.Join(out, p.Set, p.ID+".md")
					if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
						b.Fatal(err)
					}
					if err := os.WriteFile(file, []byte(res.Markdown), 0o644); err != nil {
						b.Fatal(err)
					}
				}
			}
		}
		b.SetBytes(int64(size / b.N))
		b.ReportMetric(float64(len(pages)*b.N)/b.Elapsed().Seconds(), "pages/s")
	})
	b.Run("parse-alone", func(b *testing.B) {
		for b.Loop() {
			for _, p := range pages {
				if _, err := html.Parse(bytes.NewReader(p.content)); err != nil {
					continue // nested deeper than the parser goes
				}
			}
		}
		b.ReportMetric(float64(len(pages)*b.N)/b.Elapsed().Seconds(), "pages/s")
	})
	b.Run("cost", func(b *testing.B) { // processor time of both, page by page, so that other programs weigh on both alike
		var whole, alone time.Duration
		best := make([][2]time.Duration, len(pages)) // of all rounds
		for b.Loop() {
			for i, p := range pages {
				u, _ := url.Parse(p.URL)
				begun := processor.Time()
				doc, err := convert.Parse(context.Background(), p.content, "text/html", u)
				if err != nil {
					b.Fatalf("parse %s/%s: %v", p.Set, p.ID, err)
				}
				if _, err := doc.Convert(context.Background(), convert.Options{}); err != nil {
					b.Fatalf("convert %s/%s: %v", p.Set, p.ID, err)
				}
				converted := processor.Time()
				_, _ = html.Parse(bytes.NewReader(p.content)) // some are nested deeper than the parser goes
				took := [2]time.Duration{converted - begun, processor.Time() - converted}
				whole, alone = whole+took[0], alone+took[1]
				for j := range took {
					if best[i][j] == 0 || took[j] < best[i][j] {
						best[i][j] = took[j]
					}
				}
			}
		}
		b.ReportMetric(float64(whole)/float64(alone), "x-parse")
		var ratios []float64
		for i, t := range best {
			if len(pages[i].content) >= 10_000 { // of a smaller page, what every page costs is most
				ratios = append(ratios, float64(t[0])/float64(t[1]))
			}
		}
		if slices.Sort(ratios); len(ratios) > 0 {
			b.ReportMetric(ratios[len(ratios)*99/100], "x-parse-p99")
		}
	})
}
