// Command ways measures how far readthru's requests run through its own code: how many distinct functions one request
// runs, and how many own functions lie on the stack where the request reaches the store, the origin or the browser.
//
//	go run -C bench ./ways [-v]
//
// The ways are a page that is read for the first time, a hit by a request that equals no other, a hit by the same
// request again, a search, an agent's hook that asks for a page that is here, a crawl of five pages, and, where there
// is Chromium, a page that is made by a script.
//
// It builds the program with counters of coverage and asks it as clients do. Each way is run once before, so that what
// happens at a first request alone is not counted. A function is one with a name: function literals are counted on
// stacks alone. The stack begins where net/http hands a request over, goes on through goroutines that are started on
// the way, and ends with the door's function. A test holds how deep stacks are; how many functions run is only told.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"slices"
	"strings"
	"text/tabwriter"
)

func main() {
	verbose := flag.Bool("v", false, "list the functions of each way, and the stacks at its doors")
	flag.Parse()
	if err := run(*verbose); err != nil {
		fmt.Fprintln(os.Stderr, "ways: error:", err)
		os.Exit(1)
	}
}

func run(verbose bool) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ways, err := measure(ctx, "..", true)
	if err != nil {
		return err
	}
	out := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	io.WriteString(out, table(ways))
	if err := out.Flush(); err != nil {
		return err
	}
	if verbose {
		for _, w := range ways {
			fmt.Print(detail(w))
		}
	}
	return nil
}

// table returns the figures of the ways.
func table(ways []way) string {
	var text strings.Builder
	text.WriteString("way\tfunctions\twith what follows\tpackages")
	for _, d := range doors {
		fmt.Fprintf(&text, "\t%s: calls\tdeepest", d.name)
	}
	for _, w := range ways {
		fmt.Fprintf(&text, "\n%s\t%d\t%d\t%d", w.name, len(w.functions), len(w.after), len(w.packages()))
		for _, d := range doors {
			calls, deepest, turns := w.door(d.name)
			switch {
			case calls == 0:
				text.WriteString("\t-\t-")
			case turns > 1:
				fmt.Fprintf(&text, "\t%d\t%d over %d goroutines", calls, len(deepest), turns)
			default:
				fmt.Fprintf(&text, "\t%d\t%d", calls, len(deepest))
			}
		}
	}
	return text.String() + "\n"
}

// detail returns what the figures of a way are made of.
func detail(w way) string {
	var text strings.Builder
	fmt.Fprintf(&text, "\n%s\n", w.name)
	packages := w.packages()
	for _, p := range slices.Sorted(maps.Keys(packages)) {
		fmt.Fprintf(&text, "  %s (%d): %s\n", p, len(packages[p]), strings.Join(packages[p], " "))
	}
	for _, d := range doors {
		stacks := map[string]int{}
		for _, v := range w.visits {
			if v.Door == d.name {
				stacks[strings.Join(v.Own, " → ")]++
			}
		}
		for _, s := range slices.Sorted(maps.Keys(stacks)) {
			fmt.Fprintf(&text, "  %s, %d calls, %d deep: %s\n", d.name, stacks[s], strings.Count(s, " → ")+1, s)
		}
	}
	return text.String()
}
