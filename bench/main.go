// Command bench measures readthru beside its peers on one machine, the way docs/benchmarks.md reports it.
//
// What is compared in one run is interleaved round by round, servers on one core and the load on another; cost is the
// processor time of a server's whole process tree per answer, read from /proc. Ratios of one run are what counts:
// absolute figures move with the machine. It needs Linux; a peer that is not installed is left out and named.
//
//	go run ./bench hits   -readthru bin/readthru [-size 10240] [-rounds 5]
//	go run ./bench miss   -readthru bin/readthru
//	go run ./bench start  -readthru bin/readthru [-pages 10000]
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
	"time"
)

// settings are the flags all measurements share.
type settings struct {
	readthru string        // the binary
	size     int           // bytes of a page
	rounds   int           // how often each peer is measured
	round    time.Duration // how long one measurement takes
	conns    int           // keep-alive connections
	pages    int           // pages stored before a start is measured
	dir      string        // scratch folder
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "bench: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(args) == 0 {
		return errors.New("say what to measure: hits, miss or start")
	}
	var s settings
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.StringVar(&s.readthru, "readthru", "bin/readthru", "the binary under test")
	flags.IntVar(&s.size, "size", 10<<10, "bytes of a page")
	flags.IntVar(&s.rounds, "rounds", 5, "measurements of each peer")
	flags.DurationVar(&s.round, "round", time.Second, "length of one measurement")
	flags.IntVar(&s.conns, "conns", 16, "keep-alive connections")
	flags.IntVar(&s.pages, "pages", 10_000, "pages stored before a start is measured")
	if err := flags.Parse(args[1:]); err != nil {
		return err
	}
	if args[0] == "serve" { // the bare net/http peer runs this program again
		return serveBare(ctx, flags.Arg(0), flags.Arg(1), flags.Arg(2), s.size)
	}
	if runtime.GOOS != "linux" {
		return errors.New("processor time is read from /proc: this needs Linux")
	}
	dir, err := os.MkdirTemp("", "readthru-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)                      //nolint:errcheck // what is left is in the system's temporary folder
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // a peer that gives up root reads its configuration there
		return err
	}
	s.dir = dir
	switch args[0] {
	case "hits":
		return hits(ctx, s)
	case "miss":
		return miss(ctx, s)
	case "start":
		return start(ctx, s)
	}
	return fmt.Errorf("unknown measurement %q: hits, miss or start", args[0])
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
