package llm

import (
	"errors"
	"math/rand/v2"
	"time"
)

// WaitAfter returns how long to wait after a number of failures in a row: a second, then twice as long each time up to
// five minutes, and at least as long as the endpoint asks for.
func WaitAfter(failures int, err error) time.Duration {
	wait := min(time.Second<<min(failures-1, 9), 5*time.Minute)
	if e, ok := errors.AsType[*Error](err); ok {
		wait = max(wait, e.RetryAfter)
	}
	return wait
}

// backOff returns how long to wait after an attempt of a call. The wait doubles with each attempt and varies by half,
// so that many callers do not retry at the same time.
func backOff(attempt int) time.Duration {
	wait := firstWait << min(attempt-1, 10)
	return min(wait/2+rand.N(wait), longestWait)
}
