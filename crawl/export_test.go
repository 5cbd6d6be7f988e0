package crawl

import "testing"

// Unexported things that tests name.
var (
	ReadSitemap = readSitemap
	NextPart    = nextPart
)

// LimitSitemap has sitemaps be cut at n bytes while a test runs. It is not for tests that run side by side.
func LimitSitemap(tb testing.TB, n int64) {
	tb.Helper()
	before := maxSitemap
	maxSitemap = n
	tb.Cleanup(func() { maxSitemap = before })
}

// LimitBatch has progress be saved in batches of about n bytes while a test runs. It is not for tests that run side by
// side.
func LimitBatch(tb testing.TB, n int) {
	tb.Helper()
	before := maxBatch
	maxBatch = n
	tb.Cleanup(func() { maxBatch = before })
}
