// Command faults breaks what is around a running readthru, and says whether what is promised held.
//
// Each fault starts the program with an own data directory and an own web on loopback, and ends it again. The tests of
// this package run them in a short form; the long form is for a machine that does nothing else.
//
//	go run -C bench ./faults -readthru ../bin/readthru                 # all
//	go run -C bench ./faults -readthru ../bin/readthru kill powercut   # these
//	go run -C bench ./faults -readthru ../bin/readthru -for 1h soak    # one hour of load, without growth
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"time"
)

// A fault is something that goes wrong around a running readthru. Its run returns what was seen, and an error if that
// is not what must hold.
type fault struct {
	name string
	what string
	run  func(ctx context.Context, s settings) (seen string, err error)
}

// settings are what all faults share.
type settings struct {
	readthru string        // the binary
	dir      string        // scratch folder
	rounds   int           // of faults that are repeated
	last     time.Duration // how long a fault goes on that goes on
	clients  int
	older    string // another binary
	builds   bool   // programs are built for faults that need their own
	timed    bool   // what is too slow, or too large, fails
}

// faults are all that this program knows, in the order in which they are run.
var faults = []fault{
	{"powercut", "the power is cut while pages are read: what was not synced is lost, or torn", powercut},
	{"kill", "kill -9 while pages are read into a store that always evicts", kill},
	{"goaway", "an origin ends its connections of HTTP/2 under load, and leaves requests unanswered", goaway},
	{"streams", "a thousand requests at once on one connection of HTTP/2", streams},
	{"storm", "an origin answers 500, 503 and 429 to everything, then recovers", storm},
	{"rotate", "an origin changes its certificate under load", rotate},
	{"events", "server-sent events while others load pages", events},
	{"memory", "little memory, and large pages", memory},
	{"group", "a control group with little memory, and large pages", group},
	{"clock", "the wall clock jumps by hours and by ten years, back and forth, under load", clock},
	{"older", "an older program runs on the store of this one, and this one again", older},
	{"soak", "hours of mixed load", soak},
}

// launched is the argument with which this program starts another one so that its syncs are supervised.
const launched = "launch"

func main() {
	if len(os.Args) > 2 && os.Args[1] == launched {
		fmt.Fprintln(os.Stderr, "faults: error:", launch(os.Args[2:]))
		os.Exit(1)
	}
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "faults: error:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var s settings
	flags := flag.NewFlagSet("faults", flag.ContinueOnError)
	flags.StringVar(&s.readthru, "readthru", "../bin/readthru", "the binary under test")
	flags.IntVar(&s.rounds, "rounds", 20, "rounds of a fault that is repeated")
	flags.DurationVar(&s.last, "for", time.Minute, "how long a fault goes on that goes on")
	flags.IntVar(&s.clients, "clients", 16, "clients at once")
	flags.BoolVar(&s.timed, "timed", true, "fail what is too slow or too large: the machine does nothing else")
	flags.StringVar(&s.older, "older", "", "an older binary, for the fault of that name")
	s.builds = true
	if err := flags.Parse(args); err != nil {
		return err
	}
	for _, name := range flags.Args() {
		if !slices.ContainsFunc(faults, func(f fault) bool { return f.name == name }) {
			return fmt.Errorf("there is no fault %q", name)
		}
	}
	failed := 0
	for _, f := range faults {
		if flags.NArg() > 0 && !slices.Contains(flags.Args(), f.name) {
			continue
		}
		began := time.Now()
		seen, err := inScratch(ctx, s, f)
		if ctx.Err() != nil {
			return ctx.Err()
		}
		verdict := "held"
		if err != nil {
			failed++
			verdict = "FAILED: " + err.Error()
		}
		fmt.Printf("%s: %s\n  %s\n  %s in %v\n", f.name, f.what, seen, verdict, time.Since(began).Round(time.Second))
	}
	if failed > 0 {
		return fmt.Errorf("%d faults were not survived", failed)
	}
	return nil
}

// inScratch runs a fault in a folder of its own.
func inScratch(ctx context.Context, s settings, f fault) (seen string, err error) {
	if s.dir, err = os.MkdirTemp("", "readthru-faults-"); err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	return f.run(ctx, s)
}
