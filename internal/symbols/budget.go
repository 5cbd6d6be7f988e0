package symbols

import (
	"context"
	"time"
)

// stopwatch measures the work on one file by a goroutine that is locked to its thread. It measures the processor time
// of the thread if the system tells it, so that other load does not use up a file's limit; otherwise it measures real
// time.
type stopwatch struct{ wall, cpu time.Duration }

var started = time.Now()

// startWatch starts the watch that measures a file's budget.
func startWatch() stopwatch { return stopwatch{time.Since(started), threadTime()} }

// elapsed returns how much of its budget of processor time the thread has used since the stopwatch began, or how much
// time has passed where that is not known.
func (w stopwatch) elapsed() time.Duration {
	if w.cpu == 0 {
		return time.Since(started) - w.wall
	}
	return threadTime() - w.cpu
}

// budget is a limit on work.
type budget struct {
	limit time.Duration
	began stopwatch
}

// newBudget returns a budget of which nothing is spent.
func newBudget(limit time.Duration) budget { return budget{limit, startWatch()} }

// spent reports whether the budget is used up or ctx has ended.
func (b budget) spent(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	if time.Since(started)-b.began.wall <= b.limit { // cheaper to get, and never less than the processor time
		return false
	}
	return b.began.elapsed() > b.limit
}
