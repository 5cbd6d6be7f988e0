package cache

import (
	"sync"
	"sync/atomic"

	"github.com/readthru/readthru/internal/fault"
)

// maxWaiting is how many goroutines of a crew wait for the next flight at most.
const maxWaiting = 16

// A crew is a pool of goroutines that run flights. A goroutine that has run one waits for the next: a flight needs a
// deep stack, and growing a stack takes as long as parsing a request.
type crew struct {
	next    chan *flight
	off     chan struct{}
	dismiss func()
	waiting atomic.Int64
}

// newCrew returns a crew of nobody; goroutines join it as flights need them.
func newCrew() crew {
	off := make(chan struct{})
	return crew{next: make(chan *flight), off: off, dismiss: sync.OnceFunc(func() { close(off) })}
}

// fly runs a flight on a waiting goroutine of the crew, or on a new one. It does not wait for the flight.
func (c *crew) fly(f *flight) {
	select {
	case c.next <- f:
	default:
		go fault.Contain("cache: end a flight", func() { c.serve(f) })()
	}
}

// serve runs f, and then further flights. It returns when enough other goroutines wait, or when the crew is dismissed.
func (c *crew) serve(f *flight) {
	for {
		f.run()
		if c.waiting.Add(1) > maxWaiting {
			c.waiting.Add(-1)
			return
		}
		select {
		case f = <-c.next:
			c.waiting.Add(-1)
		case <-c.off:
			return
		}
	}
}
