package main

import (
	"context"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"
)

// filling measures what it costs to store pages that nobody has read before, as fast as they come: processor time for
// each tenth of them, and what the daemon holds in memory, at most, then and thirty quiet seconds later.
func filling(ctx context.Context, s settings) error {
	_, p, err := ourselves(ctx, s)
	if err != nil {
		return err
	}
	defer p.process.stop()
	most, stop := p.process.watch()
	defer stop()
	fmt.Printf("%d pages of HTML of %d bytes stored over %d connections\n\n", s.pages, s.sizes[0], s.conns)
	fmt.Println("| pages | CPU ms a page | seconds | resident MB | of it anonymous | most resident since the row before |")
	fmt.Println("|---|---|---|---|---|---|")
	row := func(pages string, cpu time.Duration, n int, took time.Duration) {
		m := p.process.memory()
		fmt.Printf("| %s | %.2f | %.1f | %d | %d | %d |\n", pages, milliseconds(cpu)/float64(max(n, 1)), took.Seconds(),
			m.resident>>20, m.anonymous>>20, most()>>20)
	}
	for from, tenth := 0, max(1, s.pages/10); from < s.pages; from += tenth {
		n := min(tenth, s.pages-from)
		begin, before := time.Now(), p.process.cpu()
		_, err := load(ctx, p.plain, s.conns, limit{requests: int64(n)}, pagesFrom(htmlKind, s.sizes[0], from, s.conns))
		if err != nil {
			return fmt.Errorf("store pages: %w", err)
		}
		row(strconv.Itoa(from+n), p.process.cpu()-before, n, time.Since(begin))
	}
	begin, before := time.Now(), p.process.cpu()
	if err := wait(ctx, 30*time.Second); err != nil {
		return err
	}
	row("30 s later", p.process.cpu()-before, s.pages, time.Since(begin))
	return nil
}

// pagesFrom asks for pages that were not asked for before, from a number on.
func pagesFrom(kind string, size, from, conns int) workload {
	return func(conn, n int) page { return numbered(kind, size, from+conn+n*conns) }
}

// memory is what a process and its children hold, in bytes.
type memory struct{ resident, anonymous int64 }

func (p *process) memory() (m memory) {
	for _, pid := range tree(p.cmd.Process.Pid) {
		text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
		for line := range strings.Lines(string(text)) {
			name, value, _ := strings.Cut(line, ":")
			kb, _ := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(value), " kB"), 10, 64)
			switch name {
			case "VmRSS":
				m.resident += kb << 10
			case "RssAnon":
				m.anonymous += kb << 10
			}
		}
	}
	return m
}

// watch looks at a process's memory ten times a second. most returns the most that it held since the last call.
func (p *process) watch() (most func() int64, stop func()) {
	var mu sync.Mutex
	var top int64
	quit := make(chan struct{})
	go func() {
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-quit:
				return
			case <-tick.C:
				now := p.rss()
				mu.Lock()
				top = max(top, now)
				mu.Unlock()
			}
		}
	}()
	return func() int64 {
		mu.Lock()
		defer mu.Unlock()
		was := top
		top = 0
		return was
	}, func() { close(quit) }
}
