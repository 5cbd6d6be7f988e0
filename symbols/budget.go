package symbols

import (
	"context"
	"time"
)

// stopwatch measures the work on one file, by a goroutine that is locked to its thread: the processor time of that
// thread where the system tells, so that what else the machine does takes nothing from a file's limit; else the time
// that passes.
type stopwatch struct{ wall, cpu time.Duration }

var started = time.Now()

func startWatch() stopwatch { return stopwatch{time.Since(started), threadTime()} }

func (w stopwatch) elapsed() time.Duration {
	if w.cpu == 0 {
		return time.Since(started) - w.wall
	}
	return threadTime() - w.cpu
}

// budget is an amount of work.
type budget struct {
	limit time.Duration
	began stopwatch
}

func newBudget(limit time.Duration) budget { return budget{limit, startWatch()} }

// spent tells whether all of it is used, or ctx has ended.
func (b budget) spent(ctx context.Context) bool {
	if ctx.Err() != nil {
		return true
	}
	if time.Since(started)-b.began.wall <= b.limit { // cheaper to ask, and never less
		return false
	}
	return b.began.elapsed() > b.limit
}
