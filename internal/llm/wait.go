package llm

import (
	"errors"
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
