package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// join measures a daemon that is new in a fleet with pages: until it answers of others, has all, and finds all.
func join(ctx context.Context, server *fleettest.Server, s settings) error {
	w, err := newWeb(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	first, err := serve(ctx, s, w, "first", server.URL)
	if err != nil {
		return err
	}
	defer first.kill()
	const known = "http://answers.test/known"
	if _, err := first.get(ctx, known); err != nil {
		return err
	}
	if err := fill(ctx, server.URL, s); err != nil {
		return err
	}
	first.kill() // which would take pages over, too
	size := server.Number("SELECT pg_total_relation_size('readthru.pages')")
	cpu, began := server.CPU(), time.Now()
	d, err := serve(ctx, s, w, "fresh", server.URL)
	if err != nil {
		return err
	}
	defer d.kill()
	status, err := d.get(ctx, known)
	if err != nil {
		return err
	}
	answered := time.Since(began)
	var stored, found time.Duration
	var own time.Duration
	err = until(ctx, "all pages are found", func() (bool, error) {
		var st struct {
			Pages struct{ Total int64 }
			Index struct{ Queued int64 }
		}
		if _, err := d.Ask(ctx, "/api/v1/stats", "", &st); err != nil {
			return false, err
		}
		if stored == 0 && st.Pages.Total >= int64(s.pages) {
			stored, cpu, own = time.Since(began), server.CPU()-cpu, d.cpu()
		}
		found = time.Since(began)
		return stored != 0 && st.Index.Queued == 0, wait(ctx, 50*time.Millisecond)
	})
	if err != nil {
		return err
	}
	fmt.Printf("join: %d pages of 4 KB, %d B each in the database\n", s.pages, size/int64(s.pages))
	fmt.Printf("  first answer after %v: %s; asked of its origin %d times\n", answered.Round(time.Millisecond), status,
		w.times("/known"))
	fmt.Printf("  all stored after %v, %.0f pages/s; the server took %d µs a page, the node %d\n",
		stored.Round(time.Millisecond), float64(s.pages)/stored.Seconds(), cpu.Microseconds()/int64(s.pages),
		own.Microseconds()/int64(s.pages))
	fmt.Printf("  all found after %v, %.0f pages/s; the node took %d µs a page\n", found.Round(time.Millisecond),
		float64(s.pages)/found.Seconds(), d.cpu().Microseconds()/int64(s.pages))
	return nil
}

// fill has a node read pages and tell them.
func fill(ctx context.Context, database string, s settings) (err error) {
	reader, err := begin(ctx, database, "", "reader", filepath.Join(s.dir, "reader"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, reader.end()) }()
	err = until(ctx, "a node has joined", func() (bool, error) { return reader.Status().State == fleet.Connected, nil })
	if err != nil {
		return err // what it reads before stays its own
	}
	for i := range s.pages {
		if err := reader.read(fmt.Sprintf("https://a.test/%d", i), prose(i)); err != nil {
			return err
		}
	}
	return until(ctx, "all pages are told", func() (bool, error) {
		return reader.Status().Published == int64(s.pages), nil
	})
}

// cold measures how often pages are asked of their origin that clients of four daemons want at the same moment.
func cold(ctx context.Context, server *fleettest.Server, s settings) error {
	w, err := newWeb(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	list := make([]*daemon, 4)
	for i := range list {
		if list[i], err = serve(ctx, s, w, fmt.Sprint("cold", i), server.URL); err != nil {
			return err
		}
		defer list[i].kill()
	}
	var mu sync.Mutex
	var times []time.Duration
	failed, distribution := 0, map[int]int{}
	for i := range s.cold {
		path := fmt.Sprintf("/cold/%d", i)
		var group sync.WaitGroup
		for _, d := range list {
			for range s.clients {
				group.Go(func() {
					began := time.Now()
					_, err := d.get(ctx, "http://pages.test"+path)
					took := time.Since(began)
					mu.Lock()
					defer mu.Unlock()
					if times = append(times, took); err != nil {
						failed++
					}
				})
			}
		}
		group.Wait()
		distribution[w.times(path)]++
	}
	slices.Sort(times)
	fmt.Printf("cold: %d of %d pages asked of their origin once by %d clients of each of %d daemons; "+
		"%d requests failed; p50 %v, p99 %v, of which the origin took 50ms\n", distribution[1], s.cold, s.clients, len(list),
		failed, at(times, .5).Round(time.Millisecond), at(times, .99).Round(time.Millisecond))
	if distribution[1] < s.cold {
		fmt.Printf("  pages by how often they were asked for: %v\n", distribution)
	}
	return nil
}

// hits measures what a hit costs a daemon that is in a fleet, beside one that is not, in turn.
func hits(ctx context.Context, server *fleettest.Server, s settings) error {
	w, err := newWeb(ctx)
	if err != nil {
		return err
	}
	defer w.Close()
	alone, err := serve(ctx, s, w, "alone", "")
	if err != nil {
		return err
	}
	defer alone.kill()
	with, err := serve(ctx, s, w, "with", server.URL)
	if err != nil {
		return err
	}
	defer with.kill()
	const target = "http://pages.test/hit"
	var costs [2][]float64 // µs of a hit
	var ratios []float64
	for round := range s.rounds + 1 {
		for i := range 2 {
			which := (i + round) % 2 // each is the first as often
			d := []*daemon{alone, with}[which]
			before := d.cpu()
			if err := d.repeat(ctx, target, 16, s.requests); err != nil {
				return err
			}
			if used := d.cpu() - before; round > 0 { // the first round fills caches
				costs[which] = append(costs[which], float64(used.Microseconds())/float64(s.requests))
			}
		}
		if round > 0 {
			ratios = append(ratios, costs[1][round-1]/costs[0][round-1])
		}
	}
	status, err := with.get(ctx, target)
	if err != nil || !strings.Contains(status, "hit") {
		return errors.Join(err, fmt.Errorf("no hit: %s", status))
	}
	low, middle, high := quartiles(ratios)
	_, aloneCost, _ := quartiles(costs[0])
	_, withCost, _ := quartiles(costs[1])
	fmt.Printf("hits: %.2f µs of processor time in a fleet, %.2f alone; "+
		"ratio %.3f (quartiles %.3f to %.3f of %d rounds)\n", withCost, aloneCost, middle, low, high, s.rounds)
	return nil
}

// quartiles returns the quartiles of figures.
func quartiles(list []float64) (low, middle, high float64) {
	list = slices.Sorted(slices.Values(list))
	return list[len(list)/4], list[len(list)/2], list[len(list)*3/4]
}
