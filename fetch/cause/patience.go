package cause

import "sync/atomic"

// Patience says whether the time limit of a page holds while the head of its response is awaited: not for a client that
// may get something else than a page.
type Patience struct{ state atomic.Int32 }

// The states of patience.
const (
	patient   = iota // the limit does not hold
	impatient        // it holds
	tried            // it has passed and did not hold
)

// NewPatience returns a patience with a page's origin that is or is not there from the beginning.
func NewPatience(has bool) *Patience {
	p := &Patience{}
	if !has {
		p.state.Store(impatient)
	}
	return p
}

// Tested is called at the time limit of a page. It reports whether the limit does not hold.
func (p *Patience) Tested() bool { return p.state.CompareAndSwap(patient, tried) }

// End is called when the head of a page arrives. From then on the limit holds. It reports whether the limit had passed
// already.
func (p *Patience) End() (late bool) {
	return !p.state.CompareAndSwap(patient, impatient) && p.state.Load() == tried
}
