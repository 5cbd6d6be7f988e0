package crawl

// Unexported things that tests name.
var (
	ReadSitemap = readSitemap
	NextPart    = nextPart
)
