package convert_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/convert/corpustest"
	"github.com/readthru/readthru/internal/processor"
)

// corpusPage is a line of manifest.jsonl in a corpus folder.
type corpusPage struct {
	Set, ID, URL, HTML, Type string
	content                  []byte
	stated                   statedFacts
}

// statedFacts are the title, the author and the date that the reference of a page states; "" for those it does not. A
// date is a day.
type statedFacts [3]string

// readStated reads them from the reference of a page, whose form its set decides. It returns none without a reference.
func readStated(file string) (s statedFacts) {
	f, err := os.Open(file)
	if err != nil {
		return s
	}
	defer func() { _ = f.Close() }()
	type facts struct{ Title, Author, Byline, Date, Published, PublishedTime string }
	var reference struct {
		facts
		Meta facts
	}
	z, err := gzip.NewReader(f)
	if err != nil || json.NewDecoder(z).Decode(&reference) != nil {
		return s
	}
	r, m := reference.facts, reference.Meta
	date := cmp.Or(r.Date, m.Published, m.PublishedTime)
	return statedFacts{cmp.Or(r.Title, m.Title), cmp.Or(r.Author, m.Author, m.Byline), date[:min(len(date), 10)]}
}

// factScore counts, for one kind of stated fact of a set: references that state one, those that were met, those that
// were not with what was said instead, and facts that were given where the reference has none.
type factScore struct{ stated, right, wrong, given int }

// add compares what was found with what is stated. Letters and digits count, in lower case.
func (s *factScore) add(found, stated string) {
	fold := func(text string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsLetter(r) || unicode.IsDigit(r) {
				return unicode.ToLower(r)
			}
			return -1
		}, text)
	}
	found, stated = fold(found), fold(stated)
	switch {
	case stated == "" && found != "":
		s.given++
	case stated == "":
	case found == stated:
		s.right++
	case found != "":
		s.wrong++
	}
	if stated != "" {
		s.stated++
	}
}

// String returns precision and recall where the reference states a fact, and how many were given elsewhere.
func (s factScore) String() string {
	if s.stated == 0 {
		return "-"
	}
	return fmt.Sprintf("P %.3f R %.3f of %d, %d more", float64(s.right)/float64(max(1, s.right+s.wrong)),
		float64(s.right)/float64(s.stated), s.stated, s.given)
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
		p.stated = readStated(filepath.Join(dir, "expect", p.Set, p.ID+".json.gz"))
		pages = append(pages, p)
	}
	return pages
}

// BenchmarkCorpus converts every page of a corpus, parses every page with html.Parse alone, and compares what both
// cost. With READTHRU_CORPUS_OUT it writes each page's markdown to SET/ID.md in that folder, for a scorer. Of titles,
// authors and dates it prints precision and recall for each set.
func BenchmarkCorpus(b *testing.B) {
	pages := readCorpus(b)
	out := os.Getenv("READTHRU_CORPUS_OUT")
	b.Run("convert", func(b *testing.B) {
		size := 0
		facts := map[string]*[3]factScore{}
		for b.Loop() {
			clear(facts)
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
				if facts[p.Set] == nil {
					facts[p.Set] = &[3]factScore{}
				}
				date := res.Meta["date"]
				for i, found := range []string{res.Title, res.Meta["author"], date[:min(len(date), 10)]} {
					facts[p.Set][i].add(found, p.stated[i])
				}
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
		for _, set := range slices.Sorted(maps.Keys(facts)) {
			f := facts[set]
			b.Logf("%s: titles %v; authors %v; dates %v", set, f[0], f[1], f[2])
		}
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
