package symbols

import (
	"syscall"
	"time"
)

// threadTime returns, for the budget, the processor time of this thread, or 0 if it is not available.
func threadTime() time.Duration {
	const thread = 1 // RUSAGE_THREAD of getrusage(2)
	var u syscall.Rusage
	if syscall.Getrusage(thread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
