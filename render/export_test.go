package render

import "time"

// Environment returns the part of our environment that a browser gets.
var Environment = environment

// Limit sets the number of pages per process and the idle time. Call it before the first page.
func (b *Browser) Limit(pages int, idle time.Duration) { b.pagesPerProcess, b.idleTime = pages, idle }
