// Package faulttest has work panic in tests, to show what goes on.
package faulttest

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/fault"
)

// Once has each kind of work that is named panic when it begins for the first time from now on. When the test ends,
// those that have not begun by then fail it: the names of a test are what it shows. Injecting is of the whole process,
// so the test must not be parallel.
func Once(tb testing.TB, kinds ...string) *Injection {
	tb.Helper()
	i := &Injection{tb: tb, due: map[string]bool{}}
	i.Add(kinds...)
	fault.Inject(i.begin)
	tb.Cleanup(func() {
		i.End()
		if left := i.left(); len(left) > 0 {
			tb.Errorf("did not panic: %s", strings.Join(left, ", "))
		}
	})
	return i
}

// An Injection is what [Once] injects.
type Injection struct {
	tb  testing.TB
	mu  sync.Mutex
	due map[string]bool // false: it has panicked
}

// Add has more kinds of work panic.
func (i *Injection) Add(kinds ...string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for _, kind := range kinds {
		i.due[kind] = true
	}
}

// Await waits until each kind of work has panicked.
func (i *Injection) Await() {
	i.tb.Helper()
	eventually.True(i.tb, "all work has begun", func() bool { return len(i.left()) == 0 })
}

// End has nothing panic anymore.
func (i *Injection) End() { fault.Inject(nil) }

func (i *Injection) begin(work string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.due[work] {
		i.due[work] = false
		panic("injected")
	}
}

// left returns what has not panicked, in order.
func (i *Injection) left() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	left := maps.Clone(i.due)
	maps.DeleteFunc(left, func(_ string, due bool) bool { return !due })
	return slices.Sorted(maps.Keys(left))
}
