package main

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"time"
)

// newRate is how many pages that nobody has read before are asked for in a second.
const newRate = 50

// busy measures hits at a steady rate while other clients read new pages, which are converted, stored and indexed, and
// while nobody does: in turn.
func busy(ctx context.Context, s settings) error {
	_, p, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	defer p.process.stop()
	size := s.sizes[0]
	if _, err := load(ctx, p.plain, s.conns, limit{requests: int64(s.pages)}, everyPage(htmlKind, size, s)); err != nil {
		return fmt.Errorf("store pages: %w", err)
	}
	if err := rest(ctx, []*peer{p}); err != nil {
		return err
	}
	known := inTurn(textKind, size, 512)
	steady := func(conn, n int) page {
		time.Sleep(time.Duration(s.conns) * time.Second / steadyRate)
		return known(conn, n)
	}
	next := s.pages * hosts
	fresh := func(int, int) page {
		time.Sleep(time.Second / newRate)
		next++
		return numbered(htmlKind, size, next)
	}
	var alone, beside []time.Duration
	read := 0
	for round := range 2*s.rounds + 2 {
		with := round%2 == 1
		var others sync.WaitGroup
		var got tally
		var failed error
		if with {
			others.Go(func() { got, failed = load(ctx, p.plain, 1, limit{length: s.round}, fresh) })
		}
		hits, err := load(ctx, p.plain, s.conns, limit{length: s.round}, steady)
		others.Wait()
		if err == nil {
			err = failed
		}
		if err != nil {
			return err
		}
		if err := rest(ctx, []*peer{p}); err != nil {
			return err
		}
		switch {
		case round < 2: // fills memory
		case with:
			beside, read = append(beside, hits.latencies...), read+got.answers
		default:
			alone = append(alone, hits.latencies...)
		}
	}
	slices.Sort(alone)
	slices.Sort(beside)
	a, b := tally{latencies: alone}, tally{latencies: beside}
	fmt.Printf("%d hits a second of %d bytes, %d rounds of %s each; new pages are of HTML\n\n", steadyRate, size,
		s.rounds, s.round)
	fmt.Printf("| | hits | p50 ms | p90 ms | p99 ms | p99.9 ms |\n|---|---|---|---|---|---|\n")
	rate := float64(read) / s.round.Seconds() / float64(s.rounds)
	for _, r := range []struct {
		name string
		tally
	}{{"nothing else", a}, {fmt.Sprintf("%.0f new pages a second", rate), b}} {
		fmt.Printf("| %s | %d | %.2f | %.2f | %.2f | %.2f |\n", r.name, len(r.latencies), milliseconds(r.at(.5)),
			milliseconds(r.at(.9)), milliseconds(r.at(.99)), milliseconds(r.at(.999)))
	}
	return nil
}
