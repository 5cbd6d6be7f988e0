// Command fleet measures what a fleet of nodes does to its PostgreSQL server, to origins and to the nodes themselves.
//
//	go run -C bench ./fleet [nodes] [join] [cold] [hits]
//
// nodes: what 10, 30 and more nodes cost one server, and how late a change reaches all; nodes are package fleet with a
// store each, without a daemon. join: how long a fresh daemon needs until it answers of others, has all pages, and
// finds them. cold: how often a page that nobody has is asked of its origin, when clients of several daemons want it at
// the same moment. hits: what a hit costs a daemon in a fleet, beside one that is in none.
//
// It needs PostgreSQL, and for all but nodes bin/readthru; servers, daemons and the origin run on this machine. The
// defaults are for a short run that shows that all works; docs/benchmarks.md says which were measured. What is measured
// between two nodes alone are benchmarks of package fleet.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// settings are the flags.
type settings struct {
	readthru string // the binary under test
	dir      string // scratch folder

	nodes   []int         // numbers of nodes
	idle    time.Duration // how long nodes do nothing
	changes int           // that are to reach all nodes

	pages   int // that are there when a node joins
	cold    int // pages that nobody has
	clients int // of each daemon, that want such a page

	rounds   int // of hits
	requests int // in a round
}

// A measurement is something that can be measured, with a server of its own.
type measurement struct {
	name string
	run  func(context.Context, *fleettest.Server, settings) error
}

// measurements are in the order in which they are run.
var measurements = []measurement{{"nodes", nodes}, {"join", join}, {"cold", cold}, {"hits", hits}}

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, "fleet: error:", err)
		os.Exit(1)
	}
}

func run() error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var s settings
	var counts string
	flag.StringVar(&s.readthru, "readthru", "../bin/readthru", "the binary under test")
	flag.StringVar(&counts, "nodes", "10,30", "nodes: how many, or several numbers")
	flag.DurationVar(&s.idle, "idle", 5*time.Second, "nodes: how long they do nothing")
	flag.IntVar(&s.changes, "changes", 5, "nodes: pages that one reads and all get")
	flag.IntVar(&s.pages, "pages", 2000, "join: pages that are there")
	flag.IntVar(&s.cold, "cold", 10, "cold: pages")
	flag.IntVar(&s.clients, "clients", 25, "cold: clients of each of four daemons")
	flag.IntVar(&s.rounds, "rounds", 6, "hits: measurements of each daemon")
	flag.IntVar(&s.requests, "requests", 20_000, "hits: requests in a measurement")
	flag.Parse()
	for each := range strings.SplitSeq(counts, ",") {
		n, err := strconv.Atoi(each)
		if err != nil || n < 2 {
			return fmt.Errorf("-nodes: %q is no number of nodes", each)
		}
		s.nodes = append(s.nodes, n)
	}
	for _, name := range flag.Args() {
		if !slices.ContainsFunc(measurements, func(m measurement) bool { return m.name == name }) {
			return fmt.Errorf("there is no measurement %q: nodes, join, cold or hits", name)
		}
	}
	var err error
	if s.dir, err = os.MkdirTemp(scratch(), "readthru-fleet-"); err != nil {
		return err
	}
	defer os.RemoveAll(s.dir) //nolint:errcheck // what is left is in a folder for temporary files
	for _, m := range measurements {
		if flag.NArg() > 0 && !slices.Contains(flag.Args(), m.name) {
			continue
		}
		err := withServer(ctx, func(server *fleettest.Server) error { return m.run(ctx, server, s) })
		if err = errors.Join(err, ctx.Err()); err != nil {
			return fmt.Errorf("%s: %w", m.name, err)
		}
	}
	return nil
}

// scratch returns the folder for temporary files, in memory if possible: the nodes of a fleet have a disk each.
func scratch() string {
	const inMemory = "/dev/shm"
	if info, err := os.Stat(inMemory); err == nil && info.IsDir() {
		return inMemory
	}
	return ""
}
