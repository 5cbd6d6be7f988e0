//go:build !unix

package convert_test

import "time"

var started = time.Now()

// processorTime returns the time since the start, for want of better.
func processorTime() time.Duration { return time.Since(started) }
