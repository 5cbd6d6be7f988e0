package render

import "time"

// Environment is what a browser gets of our environment.
var Environment = environment

// Limit sets how many pages a process renders and how long it rests. Before the first page.
func (b *Browser) Limit(pages int, idle time.Duration) { b.mostOf, b.idleTime = pages, idle }
