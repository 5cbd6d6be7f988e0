package main

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"
)

// runGrowing grows the documentation in a folder, which is kept if it is named.
func runGrowing(docs, dir string, copies int) error {
	ctx := context.Background()
	list, err := readDocumentation(ctx, docs, "agent")
	if err != nil {
		return err
	}
	if dir == "" {
		if dir, err = os.MkdirTemp("", "readthru-bench-grow-"); err != nil {
			return err
		}
		defer os.RemoveAll(dir) //nolint:errcheck // what is left is in the system's temporary folder
	}
	return grow(ctx, list[0], dir, copies)
}

// grow indexes copies of a collection one after the other, and at each doubling says what the index costs: indexing,
// memory, its size on disk, queries, and an opening. Where the folder has so many copies
// already, it asks them alone.
func grow(ctx context.Context, c *collection, dir string, copies int) (err error) {
	kept := sizeOf(dir) > 0
	e, err := open(dir, nil, kept)
	if err != nil {
		return err
	}
	each := 0
	for i := range c.docs {
		each += len(c.docs[i].passages())
	}
	fmt.Printf("%10s %12s %10s %10s %10s %10s %8s %8s %10s\n", "passages", "CPU s/100k", "anon MB", "mapped MB",
		"disk MB", "CPU ms", "p50", "p99", "opening")
	used, since := processorTime(), 0
	for n := 1; n <= copies; n++ {
		if !kept {
			if err := e.add(ctx, c.copy(n-1)); err != nil {
				return err
			}
		}
		since++
		if n != copies && (kept || n&(n-1) != 0) {
			continue
		}
		indexing := processorTime() - used
		times, cost, err := askAll(ctx, e, c.queries)
		if err != nil {
			return err
		}
		runtime.GC()
		anon, mapped := memory()
		if err := e.close(); err != nil {
			return err
		}
		began := time.Now()
		if e, err = reopen(dir); err != nil {
			return err
		}
		opening := time.Since(began)
		fmt.Printf("%10d %12.1f %10d %10d %10d %10.1f %8.1f %8.1f %10v\n", n*each,
			indexing.Seconds()*100_000/float64(since*each), anon, mapped, sizeOf(dir)>>20, cost.Seconds()*1000,
			times[len(times)/2].Seconds()*1000, times[len(times)*99/100].Seconds()*1000,
			opening.Round(time.Millisecond))
		used, since = processorTime(), 0
	}
	return e.close()
}

// askAll asks all queries, one after the other, and returns how long each took, ascending, and the processor time of
// one.
func askAll(ctx context.Context, e engine, queries []query) (times []time.Duration, each time.Duration, err error) {
	before := processorTime()
	for i := range queries {
		start := time.Now()
		if _, err := e.search(ctx, queries[i].text, 10); err != nil {
			return nil, 0, err
		}
		times = append(times, time.Since(start))
	}
	slices.Sort(times)
	return times, (processorTime() - before) / time.Duration(len(queries)), nil
}

// memory returns the resident memory of this process in MB: its own, and that of mapped files.
func memory() (anon, mapped int) {
	file, err := os.Open("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	defer file.Close() //nolint:errcheck // it is only read
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var kB int
		switch name, value, _ := strings.Cut(lines.Text(), ":"); name {
		case "RssAnon":
			_, _ = fmt.Sscan(value, &kB)
			anon = kB >> 10
		case "RssFile":
			_, _ = fmt.Sscan(value, &kB)
			mapped = kB >> 10
		}
	}
	return anon, mapped
}
