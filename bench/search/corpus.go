package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

type document struct {
	url, title, markdown string

	manual  string        // of documentation
	anchors []page.Anchor // likewise
	options []string      // of a command, likewise
}

// passage is a passage as the peers get it.
type passage struct {
	id, url, title, path, text string
}

func (d *document) passages() []passage {
	var list []passage
	for i, p := range outline.Split([]byte(d.markdown), outline.SplitOptions{}) {
		list = append(list, passage{
			id: fmt.Sprintf("%s#%d", d.url, i), url: d.url, title: d.title, path: strings.Join(p.Path, " › "),
			text: p.Text([]byte(d.markdown)),
		})
	}
	return list
}

type collection struct {
	name    string
	docs    []document
	queries []query
}

type query struct {
	text   string
	class  string // of the documentation's queries
	half   int    // the same
	grades map[string]float64
}

// ndcg scores a ranking: linear gain, base-2 logarithmic discount, at 10.
func (q *query) ndcg(urls []string) float64 {
	gain, ideal := 0.0, 0.0
	for i, url := range urls[:min(10, len(urls))] {
		gain += q.grades[url] / math.Log2(float64(i+2))
	}
	grades := []float64{}
	for _, g := range q.grades {
		grades = append(grades, g)
	}
	slices.Sort(grades)
	slices.Reverse(grades)
	for i, g := range grades[:min(10, len(grades))] {
		ideal += g / math.Log2(float64(i+2))
	}
	return gain / ideal
}

// copies returns the documents n times and how many bytes they have.
func (c *collection) copies(n int) (docs []document, bytes int) {
	for i := range n {
		for _, d := range c.copy(i) {
			docs = append(docs, d)
			bytes += len(d.markdown) + len(d.title)
		}
	}
	return docs, bytes
}

// copy returns the documents once more. In a copy every tenth word is marked, so that it is no repetition; the first
// one, 0, is as they were, and the only one that queries were judged on.
func (c *collection) copy(i int) []document {
	docs := slices.Clone(c.docs)
	if i == 0 {
		return docs
	}
	for n, d := range docs {
		words := strings.SplitAfter(d.markdown, " ")
		for j := i % 10; j < len(words); j += 10 {
			words[j] = fmt.Sprintf("w%d%s", i, words[j])
		}
		docs[n] = document{url: fmt.Sprintf("%s?copy=%d", d.url, i), title: d.title, markdown: strings.Join(words, "")}
	}
	return docs
}

func readCollections(dir string) ([]*collection, error) {
	names, err := filepath.Glob(filepath.Join(dir, "*", "corpus.jsonl"))
	if err != nil || len(names) == 0 {
		return nil, fmt.Errorf("no collection in %s", dir)
	}
	var list []*collection
	for _, name := range names {
		c, err := readCollection(filepath.Dir(name))
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", filepath.Dir(name), err)
		}
		list = append(list, c)
	}
	return list, nil
}

func readCollection(dir string) (*collection, error) {
	c := &collection{name: filepath.Base(dir)}
	type row struct {
		ID    string `json:"_id"`
		Title string `json:"title"`
		Text  string `json:"text"`
	}
	decode := func(name string, f func(row)) error {
		return lines(filepath.Join(dir, name), func(line string) error {
			var r row
			if err := json.Unmarshal([]byte(line), &r); err != nil {
				return err
			}
			f(r)
			return nil
		})
	}
	if err := decode("corpus.jsonl", func(r row) {
		c.docs = append(c.docs, document{url: "https://" + c.name + ".test/" + r.ID, title: r.Title, markdown: r.Text})
	}); err != nil {
		return nil, err
	}
	grades := map[string]map[string]float64{}
	if err := lines(filepath.Join(dir, "qrels.tsv"), func(line string) error {
		f := strings.Split(line, "\t")
		n, err := strconv.ParseFloat(f[len(f)-1], 64)
		if err != nil {
			return nil //nolint:nilerr // the header
		}
		if grades[f[0]] == nil {
			grades[f[0]] = map[string]float64{}
		}
		if c.name == "cranfield" || c.name == "vaswani" {
			n = 1 // judged yes or no
		}
		grades[f[0]]["https://"+c.name+".test/"+f[1]] = n
		return nil
	}); err != nil {
		return nil, err
	}
	return c, decode("queries.jsonl", func(r row) {
		if len(grades[r.ID]) > 0 {
			c.queries = append(c.queries, query{text: r.Text, grades: grades[r.ID]})
		}
	})
}

func lines(name string, f func(string) error) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	s := bufio.NewScanner(file)
	s.Buffer(nil, 16<<20)
	for s.Scan() {
		if err := f(s.Text()); err != nil {
			return err
		}
	}
	return s.Err()
}
