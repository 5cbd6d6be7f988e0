//go:build unix

package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/readthru/readthru/internal/needs"
)

// slowest is how many packages and tests are listed.
const slowest = 10

// report tells people what go test tells in JSON.
type report struct {
	mu       sync.Mutex
	out      io.Writer
	outputs  map[string]*strings.Builder // what a running test or package said
	packages []timed
	tests    []timed
	skipped  map[string]int // tests by why
}

func newReport(out io.Writer) *report {
	return &report{out: out, outputs: map[string]*strings.Builder{}, skipped: map[string]int{}}
}

type timed struct {
	name    string
	seconds float64
}

// event takes a line of "go test -json". What is no JSON is passed on.
func (r *report) event(line []byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var e struct {
		Action, Package, ImportPath, Test, Output string
		Elapsed                                   float64
	}
	if err := json.Unmarshal(line, &e); err != nil {
		_, _ = r.out.Write(line)
		return
	}
	key := e.Package + " " + e.Test
	switch e.Action {
	case "output":
		r.output(key, e.Package, e.Test, e.Output)
	case "build-output":
		_, _ = io.WriteString(r.out, e.Output)
	case "pass", "fail", "skip":
		said := ""
		if b := r.outputs[key]; b != nil {
			said = b.String()
			delete(r.outputs, key)
		}
		if e.Test == "" {
			if e.Action != "skip" { // it has no tests
				r.packages = append(r.packages, timed{below(e.Package), e.Elapsed})
			}
			return
		}
		switch e.Action {
		case "fail":
			_, _ = io.WriteString(r.out, said)
		case "skip":
			if why := reason(said); why != needs.InFull {
				r.skipped[why]++
			}
		}
		if e.Action != "skip" && !strings.Contains(e.Test, "/") {
			r.tests = append(r.tests, timed{below(e.Package) + " " + e.Test, e.Elapsed})
		}
	}
}

// below returns a package's path below this module.
func below(pkg string) string { return strings.TrimPrefix(pkg, "github.com/readthru/readthru/") }

// output keeps what a test says until it has ended. What a package says of itself is passed on: its closing line, or
// why it ended.
func (r *report) output(key, pkg, test, text string) {
	switch {
	case test != "":
		b := r.outputs[key]
		if b == nil {
			b = &strings.Builder{}
			r.outputs[key] = b
		}
		if !strings.HasPrefix(text, "=== ") {
			b.WriteString(text)
		}
	case text == "PASS\n" || text == "FAIL\n" || strings.HasSuffix(text, "[no test files]\n"):
	default:
		if strings.HasPrefix(text, "panic: ") || strings.HasPrefix(text, "FAIL\t") {
			r.unfinished(pkg)
		}
		_, _ = io.WriteString(r.out, text)
	}
}

// unfinished tells what tests of a package said that had not ended when it did.
func (r *report) unfinished(pkg string) {
	for key, b := range r.outputs {
		if strings.HasPrefix(key, pkg+" ") && key != pkg+" " {
			_, _ = io.WriteString(r.out, b.String())
			delete(r.outputs, key)
		}
	}
}

// reason returns why a test was skipped.
func reason(said string) string {
	for line := range strings.Lines(said) {
		if text, ok := strings.CutPrefix(line, "    "); ok {
			if _, after, ok := strings.Cut(text, ": "); ok {
				return strings.TrimSpace(after)
			}
		}
	}
	return "no reason"
}

// finish lists the slowest packages and tests, and why tests were skipped.
func (r *report) finish() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list("slowest packages", r.packages)
	r.list("slowest tests", r.tests)
	for _, why := range slices.Sorted(maps.Keys(r.skipped)) {
		_, _ = fmt.Fprintf(r.out, "skipped %d: %s\n", r.skipped[why], why)
	}
}

func (r *report) list(title string, all []timed) {
	slices.SortFunc(all, func(a, b timed) int {
		return cmp.Or(cmp.Compare(b.seconds, a.seconds), cmp.Compare(a.name, b.name))
	})
	_, _ = fmt.Fprintf(r.out, "%s:\n", title)
	for _, each := range all[:min(len(all), slowest)] {
		_, _ = fmt.Fprintf(r.out, "%7.1fs  %s\n", each.seconds, each.name)
	}
}
