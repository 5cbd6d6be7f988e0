package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"time"
)

// urls is how many different pages a measurement of hits asks for.
const urls = 64

// hits measures the processor time of a cached hit: plain and intercepted, bytes that pass untouched and markdown made
// of HTML.
func hits(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	var peers []*peer
	for _, open := range []func() (*peer, error){
		func() (*peer, error) { return ours(ctx, s, o, filepath.Join(s.dir, "data")) },
		func() (*peer, error) { return bare(ctx, s, o) },
		func() (*peer, error) { return squid(ctx, s, o) },
	} {
		p, err := open()
		if err != nil {
			fmt.Fprintln(os.Stderr, "left out:", err)
			continue
		}
		defer p.process.stop()
		peers = append(peers, p)
	}
	text := func(n int) string { return fmt.Sprintf("/text/%d", n%urls) }
	html := func(n int) string { return fmt.Sprintf("/html/%d", n%urls) }
	type row struct {
		name string
		peer *peer
		to   target
		path func(int) string
		cost []float64
	}
	var rows []*row
	for _, p := range peers {
		rows = append(rows, &row{name: p.name + ", plain", peer: p, to: p.plain, path: text},
			&row{name: p.name + ", intercepted", peer: p, to: p.intercept, path: text})
		if p.name == "readthru" {
			rows = append(rows, &row{name: "readthru, plain, markdown", peer: p, to: p.plain, path: html},
				&row{name: "readthru, intercepted, markdown", peer: p, to: p.intercept, path: html})
		}
	}
	for round := range s.rounds + 1 { // the first fills the caches and does not count
		for _, r := range rows {
			before := r.peer.process.cpu()
			got, err := load(ctx, r.to, s.conns, s.round, r.path)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if used := r.peer.process.cpu() - before; round > 0 && got.answers > 0 {
				r.cost = append(r.cost, float64(used.Microseconds())/float64(got.answers))
			}
		}
	}
	fmt.Printf("cached hit of %d bytes, µs of processor time per answer, median of %d rounds\n", s.size, s.rounds)
	for _, r := range rows {
		middle, noise := median(r.cost)
		fmt.Printf("%-34s %7.1f  ±%.0f %%\n", r.name, middle, noise*100)
	}
	return nil
}

// miss measures how long an agent waits for a page that nobody has read before: straight from the origin and through
// readthru.
func miss(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	p, err := ours(ctx, s, o, filepath.Join(s.dir, "data"))
	if err != nil {
		return err
	}
	defer p.process.stop()
	next := 0
	fresh := func(kind string) func(int) string {
		return func(int) string { next++; return fmt.Sprintf("/%s/miss/%d", kind, next) }
	}
	direct := target{addr: "127.0.0.1:" + o.plain, host: hostName(0), form: samePath}
	rows := []struct {
		name string
		to   target
		path func(int) string
	}{
		{"direct, text", direct, fresh("text")},
		{"through readthru, text", p.plain, fresh("text")},
		{"direct, HTML", direct, fresh("html")},
		{"through readthru, HTML to markdown", p.plain, fresh("html")},
		{"through readthru, intercepted, HTML to markdown", p.intercept, fresh("html")},
	}
	times := make([][]float64, len(rows))
	for round := range s.rounds + 1 {
		for i, r := range rows {
			got, err := load(ctx, r.to, 1, s.round, r.path)
			if err != nil {
				return fmt.Errorf("%s: %w", r.name, err)
			}
			if round > 0 && len(got.latencies) > 0 {
				slices.Sort(got.latencies)
				times[i] = append(times[i], float64(got.latencies[len(got.latencies)/2].Microseconds()))
			}
		}
	}
	fmt.Printf("uncached page of %d bytes, one connection, p50 in µs, median of %d rounds\n", s.size, s.rounds)
	for i, r := range rows {
		middle, noise := median(times[i])
		fmt.Printf("%-50s %8.0f  ±%.0f %%\n", r.name, middle, noise*100)
	}
	return nil
}

// start measures how long a fresh process takes to its first answer, and what it holds in memory, with many pages
// stored.
func start(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	dir := filepath.Join(s.dir, "data")
	p, err := ours(ctx, s, o, dir)
	if err != nil {
		return err
	}
	read := 0
	for read < s.pages {
		got, err := load(ctx, p.plain, 1, time.Second,
			func(int) string { read++; return fmt.Sprintf("/html/stored/%d", read) })
		if err != nil || got.answers == 0 {
			return fmt.Errorf("store pages: %d answers: %w", got.answers, err)
		}
	}
	fmt.Printf("%d pages stored; resident memory after writing them %d MB\n", read, p.process.rss()>>20)
	p.process.stop()
	var took, idle, used []float64
	for range s.rounds {
		begin := time.Now()
		p, err := ours(ctx, s, o, dir)
		if err != nil {
			return err
		}
		if err := getOnce(ctx, p.plain, "/html/stored/1"); err != nil {
			return err
		}
		took = append(took, float64(time.Since(begin).Microseconds())/1000)
		time.Sleep(2 * time.Second)
		idle = append(idle, float64(p.process.rss()>>10)/1024)
		if _, err := load(ctx, p.plain, s.conns, 3*time.Second,
			func(n int) string { return fmt.Sprintf("/html/stored/%d", n%s.pages+1) }); err != nil {
			return err
		}
		used = append(used, float64(p.process.rss()>>10)/1024)
		p.process.stop()
	}
	for _, row := range []struct {
		name   string
		values []float64
	}{
		{"start to first answer, ms", took},
		{"idle resident memory, MB", idle},
		{"resident memory after reading pages, MB", used},
	} {
		middle, noise := median(row.values)
		fmt.Printf("%-42s %7.1f  ±%.0f %%\n", row.name, middle, noise*100)
	}
	return nil
}

func getOnce(ctx context.Context, t target, path string) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, t.form(path), http.NoBody)
	if err != nil {
		return err
	}
	conn, err := connect(ctx, t)
	if err != nil {
		return err
	}
	defer conn.Close() //nolint:errcheck // the answer has been read
	if err := req.WriteProxy(conn); err != nil {
		return err
	}
	resp, err := readOne(conn)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	_, err = io.Copy(io.Discard, resp.Body)
	return err
}
