// Command trec measures how well search finds what judges found right. It starts a daemon of its own, makes a knowledge
// base of each collection in a folder, asks every query over /api/v1/search, writes a TREC run and prints nDCG@10,
// MRR@10 and R@100.
//
// A collection is a folder in the layout of BEIR: corpus.jsonl (_id, title, text), queries.jsonl (_id, text), and
// qrels.tsv (query, document, grade, below a line of headings).
package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

func main() {
	corpus := flag.String("corpus", "", "`folder` of collections")
	binary := flag.String("readthru", "../bin/readthru", "the `program`")
	runs := flag.String("runs", "", "`folder` for the TREC runs; none are written without it")
	yesNo := flag.String("binary", "cranfield,vaswani",
		"`collections` that are judged yes or no, whatever their grades say")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err := measure(ctx, *corpus, *binary, *runs, strings.Split(*yesNo, ","))
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "trec:", err)
		os.Exit(1)
	}
}

func measure(ctx context.Context, corpus, binary, runs string, yesNo []string) error {
	found, err := filepath.Glob(filepath.Join(corpus, "*", "qrels.tsv"))
	if err != nil {
		return err
	}
	if corpus == "" || len(found) == 0 {
		return fmt.Errorf("there is no collection in %q: name the corpus folder, with "+
			"COLLECTION/{corpus.jsonl,queries.jsonl,qrels.tsv} in it", corpus)
	}
	d, err := start(ctx, binary)
	if err != nil {
		return err
	}
	defer d.stop()
	fmt.Printf("%-20s %9s %8s %8s %8s %8s %8s %8s %8s\n", "collection", "documents", "load s", "queries", "nDCG@10",
		"MRR@10", "R@100", "p50 ms", "p99 ms")
	for _, qrels := range found {
		dir := filepath.Dir(qrels)
		if err := d.collection(ctx, dir, runs, slices.Contains(yesNo, filepath.Base(dir))); err != nil {
			return fmt.Errorf("%s: %w", dir, err)
		}
	}
	return nil
}

// depth is how many documents are asked for.
const depth = 100

// collection loads a collection, asks its queries and prints a line of figures.
func (d *daemon) collection(ctx context.Context, dir, runs string, yesNo bool) error {
	name := strings.ToLower(filepath.Base(dir))
	judged, err := readJudgements(filepath.Join(dir, "qrels.tsv"), yesNo)
	if err != nil {
		return err
	}
	queries, err := readQueries(filepath.Join(dir, "queries.jsonl"))
	if err != nil {
		return err
	}
	began := time.Now()
	documents, err := d.load(ctx, name, filepath.Join(dir, "corpus.jsonl"))
	if err != nil {
		return err
	}
	loading := time.Since(began)
	run, times := map[string][]string{}, []time.Duration{}
	var trec strings.Builder
	for _, q := range queries {
		began := time.Now()
		hits, err := d.search(ctx, name, q.Text)
		if err != nil {
			return fmt.Errorf("query %s: %w", q.ID, err)
		}
		times = append(times, time.Since(began))
		for i, h := range hits {
			run[q.ID] = append(run[q.ID], h.URL)
			fmt.Fprintf(&trec, "%s Q0 %s %d %s readthru\n", q.ID, h.URL, i+1, strconv.FormatFloat(h.Score, 'g', -1, 64))
		}
	}
	if runs != "" {
		if err := os.MkdirAll(runs, 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(runs, name+".trec"), []byte(trec.String()), 0o644); err != nil {
			return err
		}
	}
	s := rate(judged, run)
	slices.Sort(times)
	fmt.Printf("%-20s %9d %8.1f %8d %8.4f %8.4f %8.4f %8.1f %8.1f\n", name, documents, loading.Seconds(), len(judged),
		s.NDCG, s.MRR, s.Recall, ms(times, .5), ms(times, .99))
	return nil
}

// ms returns a quantile of sorted times in milliseconds.
func ms(sorted []time.Duration, q float64) float64 {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[int(q*float64(len(sorted)-1))].Seconds() * 1e3
}

// query is a line of queries.jsonl.
type query struct {
	ID   string `json:"_id"`
	Text string `json:"text"`
}

func readQueries(name string) (list []query, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read
	for dec := json.NewDecoder(bufio.NewReader(f)); dec.More(); {
		var q query
		if err := dec.Decode(&q); err != nil {
			return nil, fmt.Errorf("read %s: %w", name, err)
		}
		list = append(list, q)
	}
	return list, nil
}

// load makes a knowledge base of a file and returns how many documents it has.
func (d *daemon) load(ctx context.Context, name, file string) (int, error) {
	cmd := exec.CommandContext(ctx, d.binary, "kb", "new", name, "--file", file, "--json")
	cmd.Env = d.env
	out, err := cmd.Output()
	if err != nil {
		if failed, ok := errors.AsType[*exec.ExitError](err); ok {
			err = errors.New(strings.TrimSpace(string(failed.Stderr)))
		}
		return 0, fmt.Errorf("load %s: %w", file, err)
	}
	var job struct {
		Documents int `json:"documents"`
	}
	if err := json.Unmarshal(out, &job); err != nil {
		return 0, fmt.Errorf("load %s: %w", file, err)
	}
	return job.Documents, nil
}
