package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// row is a way to ask a peer, measured in each round.
type row struct {
	peer  *peer
	way   string // plain or intercepted
	kind  string
	size  int
	to    target
	pages workload

	cost     []float64 // µs of processor time of an answer
	p50, p99 []float64 // ms
	rate     []float64 // answers a second
}

// ways returns the ways to ask peers for pages of a kind and size. Only readthru is asked for HTML: the others would
// answer it as text.
func ways(peers []*peer, kind string, size int, pages workload) []*row {
	var rows []*row
	for _, p := range peers {
		if kind == htmlKind && !p.converts {
			continue
		}
		rows = append(rows, &row{peer: p, way: "plain", kind: kind, size: size, to: p.plain, pages: pages})
		if p.secure.addr != "" {
			rows = append(rows, &row{peer: p, way: "intercepted", kind: kind, size: size, to: p.secure, pages: pages})
		}
	}
	return rows
}

// fill asks for each page of all rows twice, so that they are stored and held in memory before they are measured.
func fill(ctx context.Context, s settings, rows []*row) error {
	for _, r := range rows {
		for range 2 {
			end := limit{requests: int64(2 * s.pages)} // a host's pages are shared by several connections
			if _, err := load(ctx, r.to, s.conns, end, r.pages); err != nil {
				return fmt.Errorf("%s, %s: %w", r.peer.name, r.way, err)
			}
		}
	}
	return nil
}

// rest waits until the peers have done what the filling has left to do, as indexing: at most a minute.
func rest(ctx context.Context, peers []*peer) error {
	for range 60 {
		var used time.Duration
		for _, p := range peers {
			used -= p.cpu()
		}
		if err := wait(ctx, time.Second); err != nil {
			return err
		}
		for _, p := range peers {
			used += p.cpu()
		}
		if used < 50*time.Millisecond {
			break
		}
	}
	return nil
}

// measure runs all rows, round by round, so that what changes on the machine changes for all of them. The first round
// fills caches and does not count.
func measure(ctx context.Context, s settings, rows []*row) error {
	for round := range s.rounds + 1 {
		for _, r := range rows {
			before := r.peer.cpu()
			got, err := load(ctx, r.to, s.conns, limit{length: s.round}, r.pages)
			if err != nil {
				return fmt.Errorf("%s, %s: %w", r.peer.name, r.way, err)
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			if used := r.peer.cpu() - before; round > 0 && got.answers > 0 {
				r.add(got, used)
			}
		}
	}
	return nil
}

// add adds a measurement, of a load that used so much processor time.
func (r *row) add(got tally, used time.Duration) {
	r.cost = append(r.cost, float64(used.Microseconds())/float64(got.answers))
	r.p50 = append(r.p50, milliseconds(got.at(.5)))
	r.p99 = append(r.p99, milliseconds(got.at(.99)))
	r.rate = append(r.rate, float64(got.answers)/got.length.Seconds())
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

// report prints rows as a markdown table. "times" is how many times the first row's cost a row has, of the rows of the
// same way and size: what the first row is better by.
func report(rows []*row) {
	fmt.Println("| bytes | way | server | CPU µs | ± | times ours | p50 ms | p99 ms | answers/s |")
	fmt.Println("|---|---|---|---|---|---|---|---|---|")
	ours := map[string]float64{}
	for _, r := range rows {
		cost, noise := median(r.cost)
		key := fmt.Sprint(r.size, r.way)
		name := r.peer.name
		if r.peer.converts && r.kind == htmlKind {
			name += ", HTML as markdown"
		} else if r.peer.converts && r.peer.variant == "" {
			ours[key] = cost
		}
		times := "–"
		if base := ours[key]; base > 0 && !r.peer.converts {
			times = fmt.Sprintf("%.2f", cost/base)
		}
		p50, _ := median(r.p50)
		p99, _ := median(r.p99)
		rate, _ := median(r.rate)
		fmt.Printf("| %d | %s | %s | %.1f | %.0f %% | %s | %.2f | %.2f | %.0f |\n", r.size, r.way, name, cost, noise*100,
			times, p50, p99, rate)
	}
}

// starter starts a peer.
type starter func(context.Context, settings, *origin) (*peer, error)

// anew starts readthru without answers that are given again: each hit is decided anew.
func anew(ctx context.Context, s settings, o *origin) (*peer, error) {
	s.memory = "0"
	return variant(ctx, s, o, "decided anew")
}

// silent starts readthru with a log of warnings alone, for what a line of each request costs.
func silent(ctx context.Context, s settings, o *origin) (*peer, error) {
	s.log = "warn"
	return variant(ctx, s, o, "log level warn")
}

// variant starts readthru with other settings, beside the one that is compared with the others.
func variant(ctx context.Context, s settings, o *origin, name string) (*peer, error) {
	p, err := oursIn(ctx, s, o, filepath.Join(s.dir, strings.ReplaceAll(name, " ", "-")))
	if err == nil {
		p.variant = name
		p.name += ", " + name
	}
	return p, err
}

// open starts peers. One that is not installed is left out and named.
func open(ctx context.Context, s settings, o *origin, starters ...starter) (peers []*peer, stop func()) {
	for _, start := range starters {
		p, err := start(ctx, s, o)
		if err != nil {
			fmt.Fprintln(os.Stderr, "left out:", strings.TrimSpace(err.Error()))
			continue
		}
		peers = append(peers, p)
	}
	return peers, func() {
		for _, p := range peers {
			p.process.stop()
		}
	}
}

// hits measures a cached hit, hot: plain and intercepted, bytes that pass untouched and markdown made of HTML. Sizes
// and kinds are measured one after the other, since all of them together would not fit in the memory of any peer.
func hits(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	peers, stop := open(ctx, s, o, ours, anew, silent, bare, squid, nginx, varnish)
	defer stop()
	var rows []*row
	for _, size := range s.sizes {
		pages := min(s.pages, max(hosts, maxHot/max(size, 1)))
		for _, kind := range []string{textKind, htmlKind} {
			if kind == htmlKind && size > maxMarkdown {
				continue
			}
			of := ways(peers, kind, size, inTurn(kind, size, pages))
			if err := fill(ctx, s, of); err != nil {
				return err
			}
			if err := rest(ctx, peers); err != nil {
				return err
			}
			if err := measure(ctx, s, of); err != nil {
				return err
			}
			rows = append(rows, of...)
		}
	}
	fmt.Printf("cached hit, %d pages of %d hosts, %d connections, medians of %d rounds of %s, log level %s\n\n",
		s.pages, hosts, s.conns, s.rounds, s.round, s.log)
	report(rows)
	return nil
}

const (
	// maxHot bounds the content of the pages of one size, in bytes: more would measure how large a memory was configured.
	maxHot = 32 << 20

	// maxMarkdown is the largest HTML that is measured, in bytes. An article is rarely longer.
	maxMarkdown = 100 << 10
)

// cold measures hits at random over many pages, most of which no process holds in memory decoded, and beside them hits
// over a few hundred of the same pages.
func cold(ctx context.Context, s settings) error {
	o, err := newOrigin(ctx, s)
	if err != nil {
		return err
	}
	size := s.sizes[0]
	var rows []*row
	var peers []*peer
	for _, start := range []starter{ours, squid} {
		p, err := start(ctx, s, o)
		if err != nil {
			fmt.Fprintln(os.Stderr, "left out:", strings.TrimSpace(err.Error()))
			continue
		}
		defer p.process.stop()
		peers = append(peers, p)
		kinds := []string{textKind}
		if p.converts {
			kinds = append(kinds, htmlKind)
		}
		for _, kind := range kinds {
			begin, before := time.Now(), p.process.cpu()
			if _, err := load(ctx, p.plain, s.conns, limit{requests: int64(s.pages)}, everyPage(kind, size, s)); err != nil {
				return fmt.Errorf("store pages: %w", err)
			}
			used := p.process.cpu() - before
			fmt.Printf("%s: %d pages of %s stored in %s, %.2f ms of processor time each, %d MB resident\n", p.name, s.pages,
				kind, time.Since(begin).Round(time.Millisecond), milliseconds(used)/float64(s.pages), p.process.rss()>>20)
			rows = append(rows,
				&row{peer: p, way: "cold", kind: kind, size: size, to: p.plain, pages: atRandom(kind, size, s.pages)},
				&row{peer: p, way: "hot", kind: kind, size: size, to: p.plain, pages: inTurn(kind, size, min(500, s.pages))})
		}
	}
	if err := rest(ctx, peers); err != nil {
		return err
	}
	if err := measure(ctx, s, rows); err != nil {
		return err
	}
	fmt.Printf("\nhits at random over %d pages (cold) and in turn over %d (hot), %d connections, "+
		"medians of %d rounds of %s\n\n", s.pages, min(500, s.pages), s.conns, s.rounds, s.round)
	report(rows)
	return nil
}

// everyPage asks for each page once.
func everyPage(kind string, size int, s settings) workload {
	return func(conn, n int) page { return numbered(kind, size, (conn+n*s.conns)%s.pages) }
}
