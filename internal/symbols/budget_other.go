//go:build !linux

package symbols

import "time"

// threadTime returns 0: the processor time of a thread is not available.
func threadTime() time.Duration { return 0 }
