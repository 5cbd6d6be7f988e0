package cache

import (
	"sync"
	"sync/atomic"

	"github.com/readthru/readthru/internal/fault"
)

// maxWaiting is how many goroutines of a crew wait for their next flight at most.
const maxWaiting = 16

// A crew is the goroutines that fly. One that has flown waits for the next flight: a flight needs a deep stack, and to
// grow one takes as long as to parse a request.
type crew struct {
	next    chan *flight
	off     chan struct{}
	dismiss func()
	waiting atomic.Int64
}

func newCrew() crew {
	off := make(chan struct{})
	return crew{next: make(chan *flight), off: off, dismiss: sync.OnceFunc(func() { close(off) })}
}

// fly runs f on a goroutine of the crew.
func (c *crew) fly(f *flight) {
	select {
	case c.next <- f:
	default:
		go fault.Contain("cache: end a flight", func() { c.serve(f) })()
	}
}

// serve runs f, and then the next flights until enough others wait for them.
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
