// Package guard bounds what one conversion costs: the limits that its rooms share, and the way to end a walk over a
// hostile page in the middle of a deep recursion.
//
// A walk calls [Check] at every node. When the context has ended, Check panics with a value that only this package
// knows, and [Run], at the entrance, turns it into the context's error. Any other panic is a bug, of which Run makes
// [ErrPanic], so that one page never takes the process down.
package guard

import (
	"context"
	"errors"
)

// The limits of a conversion. Each is told by a warning when it bites; none cuts text silently.
const (
	MaxInput = 10 << 20 // bytes of decoded text

	// MaxNesting is how deep lists and quotes nest in the output; deeper ones are flattened. Each level indents all lines
	// of what it holds, so the output grows by the product of both.
	MaxNesting = 24

	MaxColspan = 1000  // HTML's own limits
	MaxRowspan = 65534 // of spans
)

// OutputLimit is the largest output allowed for an input of n bytes.
func OutputLimit(n int) int { return 4*n + 1<<20 }

// stopped is what a walk panics with when its context has ended or its output has grown too large.
type stopped struct{ err error }

// Stop ends the walk that calls it, however deep it is: [Run] returns err.
func Stop(err error) { panic(stopped{err}) }

// Check stops the walk that calls it when ctx has ended. Every walk calls it at every node.
func Check(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		Stop(err)
	}
}

var (
	// ErrOutput is for [Stop].
	ErrOutput = errors.New("the output grew out of proportion to the input")

	// ErrPanic is the error of a page that made the code panic: a bug here or in a library, answered by the text fallback.
	ErrPanic = errors.New("the conversion failed inside")
)

// Run runs f. It returns the error given to [Stop], nil, or ErrPanic when f panicked otherwise.
func Run(f func()) (err error) {
	defer func() {
		if r := recover(); r != nil {
			if s, ok := r.(stopped); ok {
				err = s.err
				return
			}
			err = ErrPanic
		}
	}()
	f()
	return nil
}
