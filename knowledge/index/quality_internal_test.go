package index

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/knowledge/storetest"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

// corpusIR names a folder of larger test collections, each a folder with corpus.jsonl, queries.jsonl and qrels.tsv as
// BEIR has them.
const corpusIR = "READTHRU_CORPUS_IR"

// collection is a test collection: documents, queries, and which documents answer them.
type collection struct {
	name    string
	docs    []*Document
	queries []judgedQuery
}

type judgedQuery struct {
	id, text string
	grades   map[string]int // by document
}

// TestRankingReachesItsFigures indexes our own small collection, and each of the folder of larger ones if one is named,
// and holds the ranking to what is documented of it. READTHRU_RUNS names a folder for the runs in TREC's form.
func TestRankingReachesItsFigures(t *testing.T) {
	least := map[string]float64{"cacm": .52, "cranfield": .394, "vaswani": .434, "docs-powershell": .80, "ranking": .935}
	for _, c := range collections(t) {
		t.Run(c.name, func(t *testing.T) {
			x := openTestIndex(t, c.docs)
			start := time.Now()
			indexAllOf(t, x, c.docs)
			n := x.Stats().Passages
			t.Logf("%d documents, %d passages, %.0f passages/s", len(c.docs), n, float64(n)/time.Since(start).Seconds())
			got := c.score(t, x, os.Getenv("READTHRU_RUNS"))
			t.Logf("nDCG@10 %.4f", got)
			if want, ok := least[c.name]; ok && got < want {
				t.Errorf("nDCG@10 of %s = %.4f, want at least %.4f", c.name, got, want)
			}
		})
	}
}

func collections(tb testing.TB) []*collection {
	tb.Helper()
	list := []*collection{readCollection(tb, filepath.Join("testdata", "ranking"))}
	dir := os.Getenv(corpusIR)
	if dir == "" {
		return list
	}
	names, err := filepath.Glob(filepath.Join(dir, "*", "corpus.jsonl"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("no collection in %s: %v", dir, err)
	}
	for _, name := range names {
		list = append(list, readCollection(tb, filepath.Dir(name)))
	}
	return list
}

func readCollection(tb testing.TB, dir string) *collection {
	tb.Helper()
	c := &collection{name: filepath.Base(dir)}
	type row struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	rows := func(name string, f func(row)) {
		for line := range linesOf(tb, filepath.Join(dir, name)) {
			var r row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				tb.Fatalf("%s: %v", name, err)
			}
			f(r)
		}
	}
	rows("corpus.jsonl", func(r row) {
		c.docs = append(c.docs, &Document{
			Key: page.KeyOf(r.ID), URL: r.ID, Title: r.Title, Kind: "file",
			Markdown: []byte(r.Text),
		})
	})
	grades := map[string]map[string]int{}
	for line := range linesOf(tb, filepath.Join(dir, "qrels.tsv")) {
		f := strings.Split(line, "\t")
		n, err := strconv.Atoi(f[len(f)-1])
		if err != nil {
			continue // the header
		}
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]int{}
		}
		if c.name == "cranfield" || c.name == "vaswani" {
			n = 1 // judged yes or no
		}
		grades[f[0]][f[1]] = n
	}
	rows("queries.jsonl", func(r row) {
		if len(grades[r.ID]) > 0 {
			c.queries = append(c.queries, judgedQuery{r.ID, r.Text, grades[r.ID]})
		}
	})
	return c
}

func linesOf(tb testing.TB, name string) func(func(string) bool) {
	tb.Helper()
	return func(yield func(string) bool) {
		f, err := os.Open(name)
		if err != nil {
			tb.Fatal(err)
		}
		defer func() { _ = f.Close() }()
		s := bufio.NewScanner(f)
		s.Buffer(nil, 16<<20)
		for s.Scan() {
			if !yield(s.Text()) {
				return
			}
		}
		if err := s.Err(); err != nil {
			tb.Fatal(err)
		}
	}
}

// score returns the mean nDCG@10 of a collection's queries, and writes the run into a folder, if one is given.
func (c *collection) score(tb testing.TB, x *Index, runs string) float64 {
	tb.Helper()
	var out strings.Builder
	sum := 0.0
	for _, q := range c.queries {
		r, err := x.Search(context.Background(), Query{Text: q.text, Limit: 100})
		if err != nil {
			tb.Fatalf("Search(%q): %v", q.text, err)
		}
		gain := 0.0
		for i, h := range r.Hits {
			if i < 10 {
				gain += float64(q.grades[h.URL]) / math.Log2(float64(i+2))
			}
			fmt.Fprintf(&out, "%s Q0 %s %d %g readthru\n", q.id, h.URL, i+1, h.Score)
		}
		ideal := 0.0
		best := []int{}
		for _, g := range q.grades {
			best = append(best, g)
		}
		slices.SortFunc(best, func(a, b int) int { return cmp.Compare(b, a) })
		for i, g := range best[:min(10, len(best))] {
			ideal += float64(g) / math.Log2(float64(i+2))
		}
		sum += gain / ideal
	}
	if runs != "" {
		if err := os.WriteFile(filepath.Join(runs, c.name+".trec"), []byte(out.String()), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return sum / float64(len(c.queries))
}

// openTestIndex opens an index in a store of its own that finds the texts of docs.
func openTestIndex(tb testing.TB, docs []*Document) *Index {
	tb.Helper()
	texts := map[page.Key][]byte{}
	for _, d := range docs {
		texts[d.Key] = d.Markdown
	}
	x, err := openIndex(Options{
		Records: storetest.Open(tb).Records(), Text: func(key page.Key) ([]byte, error) { return texts[key], nil },
	})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := x.Close(); err != nil {
			tb.Error(err)
		}
	})
	return x
}

func indexAllOf(tb testing.TB, x *Index, docs []*Document) {
	tb.Helper()
	var batch []Item
	n := 0
	flush := func() {
		if err := x.IndexAll(context.Background(), batch); err != nil {
			tb.Fatalf("indexAll: %v", err)
		}
		batch, n = nil, 0
	}
	for _, d := range docs {
		passages := outline.Split(d.Markdown, outline.SplitOptions{})
		batch = append(batch, Item{d, passages})
		if n += len(passages); n >= 2000 {
			flush()
		}
	}
	flush()
}
