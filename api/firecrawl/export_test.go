package firecrawl

import (
	"testing"
	"time"
)

// LimitResults lowers the maximum sizes of documents, in bytes, while a test runs.
func LimitResults(tb testing.TB, disk, all, memory int64) {
	tb.Helper()
	was := [3]int64{maxResults, maxAll, maxPrivate}
	maxResults, maxAll, maxPrivate = disk, all, memory
	tb.Cleanup(func() { maxResults, maxAll, maxPrivate = was[0], was[1], was[2] })
}

// LimitLifetime shortens the lifetime of jobs while a test runs.
func LimitLifetime(tb testing.TB, d time.Duration) {
	tb.Helper()
	was := lifetime
	lifetime = d
	tb.Cleanup(func() { lifetime = was })
}

// Difference is the form in which changes are told.
func Difference(was, is string) any { return difference([]byte(was), []byte(is)) }
