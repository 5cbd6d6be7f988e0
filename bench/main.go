// Command bench measures readthru beside its peers on one machine, the way docs/benchmarks.md reports it.
//
// What is compared in one run is interleaved round by round, servers on one core and the load on another; cost is the
// processor time of a server's whole process tree per answer, read from /proc. Ratios of one run are what counts:
// absolute figures move with the machine. It needs Linux; a peer that is not installed is left out and named.
//
//	go run -C bench . hits    [-size 1024,10240,102400,1048576] [-pages 512]
//	go run -C bench . cold    [-pages 10000]
//	go run -C bench . miss
//	go run -C bench . budget  [-size 10240,102400]
//	go run -C bench . busy    [-pages 1000]
//	go run -C bench . fill    [-pages 10000]
//	go run -C bench . tunnels
//	go run -C bench . start   [-pages 10000]
//	go run -C bench . rooms   [-pages 100000] [-requests 100000]
//	go run -C bench . bounds  [-rounds 3] [-only idle,chunks,bombs]
//	go run -C bench . compare COMMIT
//
// With -cores 0,1 the servers have both cores, for latencies at full load. With -dir what a run has stored is there for
// the next one.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// settings are the flags all measurements share.
type settings struct {
	readthru string        // the binary
	sizes    []int         // bytes of a page; measurements of one size take the first
	rounds   int           // how often each row is measured
	round    time.Duration // how long one measurement takes
	conns    int           // keep-alive connections
	pages    int           // different pages
	requests int           // in the log, for rooms
	cores    string        // of the servers, as for taskset
	log      string        // log level of readthru
	memory   string        // cache.memory of readthru
	pprof    string        // where readthru answers with profiles; empty: nowhere
	dir      string        // scratch folder
	only     string        // parts of bounds; empty: all
}

// measurements are what can be measured, with the number of pages unless one is given.
var measurements = map[string]struct {
	pages int
	run   func(context.Context, settings) error
}{
	"hits":  {512, hits},
	"cold":  {10_000, cold},
	"fill":  {10_000, filling},
	"miss":  {1, miss},
	"busy":  {1_000, busy},
	"start": {10_000, start},

	"rooms":   {100_000, rooms},
	"bounds":  {1, bounds},
	"budget":  {1, budget},
	"tunnels": {1, tunnels},
}

const measured = "hits, cold, miss, budget, busy, fill, tunnels, start, rooms, bounds or compare COMMIT"

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if len(args) == 0 {
		return errors.New("say what to measure: " + measured)
	}
	what, args := args[0], args[1:]
	if what == "serve" { // the bare net/http peer runs this program again
		return serveBare(ctx, args[0], args[1], args[2])
	}
	m, known := measurements[what]
	var commit string
	if what == "compare" {
		if len(args) == 0 || strings.HasPrefix(args[0], "-") {
			return errors.New("say with which commit to compare")
		}
		commit, args = args[0], args[1:]
		m.pages, m.run = 512, func(ctx context.Context, s settings) error { return compare(ctx, s, commit) }
	} else if !known {
		return fmt.Errorf("unknown measurement %q: %s", what, measured)
	}
	if runtime.GOOS != "linux" {
		return errors.New("processor time is read from /proc: this needs Linux")
	}
	s, err := parse(what, m.pages, args)
	if err != nil {
		return err
	}
	if s.dir != "" {
		err = os.MkdirAll(s.dir, 0o755) //nolint:gosec // see below
	} else if s.dir, err = os.MkdirTemp("", "readthru-bench-"); err == nil {
		defer os.RemoveAll(s.dir) //nolint:errcheck // what is left is in the system's temporary folder
	}
	if err != nil {
		return err
	}
	//nolint:gosec // a peer that gives up root reads its configuration there
	if err := os.Chmod(s.dir, 0o755); err != nil {
		return err
	}
	return m.run(ctx, s)
}

// parse returns the settings that the flags of a measurement say.
func parse(what string, pages int, args []string) (settings, error) {
	var s settings
	var sizes string
	usual := "10240"
	if what == "budget" {
		usual = "10240,102400"
	}
	flags := flag.NewFlagSet(what, flag.ContinueOnError)
	flags.StringVar(&s.readthru, "readthru", "../bin/readthru", "the binary under test")
	flags.StringVar(&sizes, "size", usual, "bytes of a page, or several numbers")
	flags.IntVar(&s.rounds, "rounds", 5, "measurements of each row")
	flags.DurationVar(&s.round, "round", time.Second, "length of one measurement")
	flags.IntVar(&s.conns, "conns", 16, "keep-alive connections")
	flags.IntVar(&s.pages, "pages", pages, "different pages")
	flags.IntVar(&s.requests, "requests", 0, "requests that the dashboard has on disk")
	flags.StringVar(&s.cores, "cores", "0", "cores of the servers, as for taskset")
	flags.StringVar(&s.log, "log", "info", "log level of readthru")
	flags.StringVar(&s.memory, "memory", "64MiB", "cache.memory of readthru; 0: each hit is decided anew")
	flags.StringVar(&s.pprof, "pprof", "", "address where readthru answers with profiles meanwhile")
	flags.StringVar(&s.dir, "dir", "", "folder for what is stored, to keep; empty: a new one, removed at the end")
	if what == "bounds" {
		flags.StringVar(&s.only, "only", "", "idle, chunks or bombs, or several; empty: all")
	}
	if err := flags.Parse(args); err != nil {
		return s, err
	}
	for text := range strings.SplitSeq(sizes, ",") {
		size, err := strconv.Atoi(text)
		if err != nil || size < 0 {
			return s, fmt.Errorf("-size: %q is not a number of bytes", text)
		}
		s.sizes = append(s.sizes, size)
	}
	if s.pages < 1 || s.conns < 1 || s.rounds < 1 {
		return s, errors.New("-pages, -conns and -rounds begin at 1")
	}
	return s, nil
}

// median returns the middle of values, and half the distance between the quartiles as a share of it: the noise.
func median(values []float64) (middle, noise float64) {
	if len(values) == 0 {
		return 0, 0
	}
	sorted := slices.Sorted(slices.Values(values))
	middle = sorted[len(sorted)/2]
	if middle > 0 {
		noise = (sorted[len(sorted)*3/4] - sorted[len(sorted)/4]) / 2 / middle
	}
	return middle, noise
}
