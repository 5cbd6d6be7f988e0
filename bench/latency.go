package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// miss measures how long an agent waits for a page that nobody has read before: straight from the origin and through
// each peer.
func miss(ctx context.Context, s settings) error {
	o, us, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	defer us.process.stop()
	peers := []*peer{us}
	if p, err := squid(ctx, s, o); err == nil {
		defer p.process.stop()
		peers = append(peers, p)
	}
	size, next := s.sizes[0], 0
	fresh := func(kind string) workload {
		return func(int, int) page { next++; return numbered(kind, size, next*hosts) } // of the first host
	}
	direct := target{addr: "127.0.0.1:" + o.plain, form: originForm}
	var rows []*row
	for _, kind := range []string{textKind, htmlKind} {
		rows = append(rows, &row{
			peer: &peer{name: "the origin itself"}, way: "plain", kind: kind, size: size, to: direct, pages: fresh(kind),
		})
		rows = append(rows, ways(peers, kind, size, fresh(kind))...)
	}
	one := s
	one.conns = 1
	if err := measure(ctx, one, rows); err != nil {
		return err
	}
	fmt.Printf("uncached page of %d bytes, one connection, medians of %d rounds of %s\n\n", size, s.rounds, s.round)
	report(rows)
	return nil
}

// start measures how long a fresh process takes to its first answer, and what it holds in memory, with many pages
// stored.
func start(ctx context.Context, s settings) error {
	o, p, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	size := s.sizes[0]
	if _, err := load(ctx, p.plain, s.conns, limit{requests: int64(s.pages)}, everyPage(htmlKind, size, s)); err != nil {
		return fmt.Errorf("store pages: %w", err)
	}
	fmt.Printf("%d pages stored over %d connections; resident memory then %d MB", s.pages, s.conns, p.process.rss()>>20)
	if err := wait(ctx, 30*time.Second); err != nil {
		return err
	}
	fmt.Printf(", 30 s later %d MB\n", p.process.rss()>>20)
	p.process.stop()
	var took, idle, work, used []float64
	for range s.rounds {
		begin := time.Now()
		p, err := oursIn(ctx, s, o, filepath.Join(s.dir, "data"))
		if err != nil {
			return err
		}
		_, err = load(ctx, p.plain, 1, limit{requests: 1}, func(int, int) page { return numbered(htmlKind, size, 1) })
		took = append(took, milliseconds(time.Since(begin)))
		if err == nil {
			err = wait(ctx, 2*time.Second)
		}
		idle, work = append(idle, float64(p.process.rss()>>20)), append(work, milliseconds(p.process.cpu()))
		if err == nil {
			_, err = load(ctx, p.plain, s.conns, limit{length: 3 * time.Second}, inTurn(htmlKind, size, s.pages))
		}
		used = append(used, float64(p.process.rss()>>20))
		p.process.stop()
		if err != nil {
			return err
		}
	}
	for _, row := range []struct {
		name   string
		values []float64
	}{
		{"start to first answer, ms", took},
		{"resident memory two idle seconds later, MB", idle},
		{"processor time until then, ms", work},
		{"resident memory after three seconds of reading, MB", used},
	} {
		middle, noise := median(row.values)
		fmt.Printf("%-52s %7.1f  ±%.0f %%\n", row.name, middle, noise*100)
	}
	return nil
}

// wait waits for a time, or until ctx ends.
func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}
