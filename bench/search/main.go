// Command search measures the search of readthru beside SQLite's FTS5, bleve and PostgreSQL: the same passages, the
// same queries, one after the other.
//
//	go run . [-corpus FOLDER] [-docs FOLDER] [-copies N] [-only readthru]
//	go run . -docs FOLDER -copies 32 -only readthru -clients 1,2,8
//	go run . -docs FOLDER -copies 320 -grow [-dir FOLDER]
//	go run . -docs FOLDER -places
//	go run . -docs FOLDER -queries misspelt|concept
//
// The corpus is a folder of test collections as BEIR has them (corpus.jsonl, queries.jsonl, qrels.tsv). The docs are
// where Debian 12 installs python3-doc, postgresql-doc, git-doc, sqlite3-doc, nodejs-doc and golang-doc, which the
// queries in testdata ask about: /usr/share/doc. PostgreSQL is measured where it is installed.
//
// It is a module of its own, so that what it measures against is no part of readthru.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"
)

func main() {
	dir := flag.String("corpus", os.Getenv("READTHRU_CORPUS_IR"), "folder of test collections")
	docs := flag.String("docs", "", "folder of Debian's documentation")
	copies := flag.Int("copies", 1, "how often the documents are there; each copy has other words here and there")
	only := flag.String("only", "", "measure this engine alone")
	clients := flag.String("clients", "", "ask the queries by so many clients at once, too: numbers with commas "+
		"between")
	growing := flag.Bool("grow", false, "with -copies: say what each doubling of the documents costs readthru")
	kept := flag.String("dir", "", "with -grow: `folder` to keep the index in; one that has as many copies already is "+
		"asked alone. Empty: a new one, removed at the end")
	places := flag.Bool("places", false, "with -docs: measure how often the first hit leads to what a query names")
	queries := flag.String("queries", "agent", "with -docs: what to ask: agent, what agents do; misspelt, queries "+
		"with a mistake each, and the same without; concept, what pages are about in other words")
	verbose := flag.Bool("v", false, "with -places: name the definitions that it does not lead to")
	flag.Parse()
	var err error
	switch {
	case *growing:
		err = runGrowing(*docs, *kept, *copies)
	case *places:
		err = runPlaces(*docs, *verbose)
	default:
		err = run(*dir, *docs, *queries, *copies, *only, *clients)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "search:", err)
		os.Exit(1)
	}
}

// engine is what is measured.
type engine interface {
	// add indexes documents and returns when they can be found.
	add(ctx context.Context, docs []document) error
	// search returns the best documents for a query, best first: URLs.
	search(ctx context.Context, text string, limit int) ([]string, error)
	close() error
}

func run(dir, docs, queries string, copies int, only, clients string) error {
	ctx := context.Background()
	atOnce, err := numbers(clients)
	if err != nil {
		return err
	}
	if dir == "" && docs == "" {
		return errors.New("nothing to search: give -corpus, READTHRU_CORPUS_IR or -docs")
	}
	var collections []*collection
	if dir != "" {
		var err error
		if collections, err = readCollections(dir); err != nil {
			return err
		}
	}
	if docs != "" {
		list, err := readDocumentation(ctx, docs, queries)
		if err != nil {
			return err
		}
		collections = append(collections, list...)
	}
	fmt.Printf("%-10s %-16s %8s %10s %8s %8s %9s %9s %9s\n", "engine", "collection", "docs", "docs/s", "disk",
		"nDCG@10", "p50", "p90", "p99")
	for _, c := range collections {
		for _, e := range []struct {
			name string
			open func(dir string) (engine, error)
		}{{"readthru", openOurs}, {"fts5", openFTS5}, {"bleve", openBleve}, {"postgres", openPostgres}} {
			if only != "" && only != e.name {
				continue
			}
			err := measure(ctx, e.name, e.open, c, copies, atOnce)
			if errors.Is(err, errNoPostgres) {
				fmt.Printf("%-10s %-16s not measured: %v\n", e.name, c.name, err)
				continue
			}
			if err != nil {
				return fmt.Errorf("measure %s on %s: %w", e.name, c.name, err)
			}
		}
	}
	return nil
}

// measure indexes a collection and asks its queries, and prints a line. Disk is what the engine's files take, as a
// share of the text: readthru's hold the text, too, compressed, FTS5's as it is, bleve's not at all.
func measure(ctx context.Context, name string, open func(string) (engine, error), c *collection,
	copies int, clients []int,
) (err error) {
	dir, err := os.MkdirTemp("", "readthru-bench-search-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	e, err := open(dir)
	if err != nil {
		return err
	}
	docs, bytes := c.copies(copies)
	start := time.Now()
	for batch := range slices.Chunk(docs, 500) {
		if err := e.add(ctx, batch); err != nil {
			return err
		}
	}
	took := time.Since(start)
	var times []time.Duration
	gain := 0.0
	var classes byClass
	for range 2 { // the first round warms up
		times, gain, classes = nil, 0, byClass{}
		for i := range c.queries {
			q := &c.queries[i]
			start := time.Now()
			urls, err := e.search(ctx, q.text, 10)
			if err != nil {
				return err
			}
			times = append(times, time.Since(start))
			gain += q.ndcg(urls)
			if q.class != "" {
				classes.add(q, q.placeOf(urls))
			}
		}
	}
	var rounds []string
	for _, n := range clients {
		round, err := askAtOnce(ctx, e, c.queries, n)
		if err != nil {
			return err
		}
		rounds = append(rounds, round)
	}
	if err := e.close(); err != nil {
		return err
	}
	slices.Sort(times)
	at := func(share float64) string {
		return fmt.Sprintf("%.2fms", times[int(share*float64(len(times)-1))].Seconds()*1000)
	}
	fmt.Printf("%-10s %-16s %8d %10.0f %8.2f %8.4f %9s %9s %9s\n", name, c.name, len(docs),
		float64(len(docs))/took.Seconds(),
		float64(sizeOf(dir))/float64(bytes), gain/float64(len(c.queries)), at(.5), at(.9), at(.99))
	if len(classes) > 0 {
		classes.print(name)
	}
	for _, round := range rounds {
		fmt.Println(round)
	}
	return nil
}

// sizeOf returns what the files in a folder take. Logs that an engine made larger than what is in them do not count.
func sizeOf(dir string) (bytes int64) {
	_ = filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if ext := filepath.Ext(name); ext == ".mem" || ext == ".vlog" {
			return nil
		}
		if info, err := d.Info(); err == nil {
			bytes += info.Size()
		}
		return nil
	})
	return bytes
}
