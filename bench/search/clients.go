package main

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// rounds is how often the clients ask all queries together.
const rounds = 3

// askAtOnce asks the queries by several clients at once, and returns a line that says how long an answer takes, and how
// much processor time of the whole program.
func askAtOnce(ctx context.Context, e engine, queries []query, clients int) (string, error) {
	var next atomic.Int64
	times, errs := make([][]time.Duration, clients), make([]error, clients)
	var group sync.WaitGroup
	before, began := processorTime(), time.Now()
	for i := range clients {
		group.Go(func() {
			for n := int(next.Add(1)) - 1; n < rounds*len(queries) && errs[i] == nil; n = int(next.Add(1)) - 1 {
				start := time.Now()
				_, errs[i] = e.search(ctx, queries[n%len(queries)].text, 10)
				times[i] = append(times[i], time.Since(start))
			}
		})
	}
	group.Wait()
	took, used := time.Since(began), processorTime()-before
	for _, err := range errs {
		if err != nil {
			return "", err
		}
	}
	all := slices.Concat(times...)
	slices.Sort(all)
	at := func(share float64) time.Duration {
		return all[int(share*float64(len(all)-1))].Round(10 * time.Microsecond)
	}
	each := (used / time.Duration(len(all))).Round(10 * time.Microsecond)
	return fmt.Sprintf("%d clients: %.0f queries/s, p50 %v, p90 %v, p99 %v, %v of processor time each", clients,
		float64(len(all))/took.Seconds(), at(.5), at(.9), at(.99), each), nil
}

// processorTime returns what the program has used of the processors.
func processorTime() time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// numbers reads numbers with commas between them; an empty text has none.
func numbers(text string) (list []int, err error) {
	if text == "" {
		return nil, nil
	}
	for one := range strings.SplitSeq(text, ",") {
		n, err := strconv.Atoi(one)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-clients: %q is no number of clients", one)
		}
		list = append(list, n)
	}
	return list, nil
}
