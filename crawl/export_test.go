package crawl

import "testing"

// Unexported things that tests name.
var (
	ReadSitemap = readSitemap
	NextPart    = nextPart
)

// LimitSitemap limits sitemaps to n bytes while a test runs. Parallel tests must not use it.
func LimitSitemap(tb testing.TB, n int64) {
	tb.Helper()
	before := maxSitemap
	maxSitemap = n
	tb.Cleanup(func() { maxSitemap = before })
}

// LimitBatch limits batches of progress to about n bytes while a test runs. Parallel tests must not use it.
func LimitBatch(tb testing.TB, n int) {
	tb.Helper()
	before := maxBatch
	maxBatch = n
	tb.Cleanup(func() { maxBatch = before })
}
