//go:build !unix

package processor

import "time"

var started = time.Now()

// Time returns the time since the start, for want of better.
func Time() time.Duration { return time.Since(started) }
