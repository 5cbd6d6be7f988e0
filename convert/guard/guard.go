// Package guard bounds the cost of a conversion. It holds the limits that the packages of a conversion share, and it
// ends a walk over a hostile page in the middle of a deep recursion.
//
// A walk calls [Check] at every node. When the context has ended, Check panics with a value of this package, and [Run],
// at the entrance, turns the panic into the context's error. Any other panic is a bug: Run turns it into [ErrPanic], so
// that no page can end the process.
package guard

import (
	"context"
	"errors"
)

// The limits of a conversion. When one of them cuts something, a warning says so.
const (
	MaxInput = 10 << 20 // bytes of decoded text that are read as a whole

	// MaxPage is the largest page of HTML, in bytes of decoded text. One over MaxInput is converted in parts.
	MaxPage = 256 << 20

	// MaxNesting is how deep lists and quotes nest in the output; deeper ones are flattened. Each level indents all lines
	// of what it holds, so the output grows by the product of both.
	MaxNesting = 24

	MaxColspan = 1000  // HTML's own limits
	MaxRowspan = 65534 // of spans
)

// OutputLimit is the largest output allowed for an input of n bytes: a guard against pages that grow without limit as
// they are converted.
func OutputLimit(n int) int { return 4*n + 1<<20 }

// stopped is what a walk panics with when its context has ended or its output has grown too large.
type stopped struct{ err error }

// Stop ends the walk over a page that calls it, however deep it is: [Run] returns err.
func Stop(err error) { panic(stopped{err}) }

// Check stops the walk that calls it when ctx has ended. Every walk calls it at every node.
func Check(ctx context.Context) {
	if err := ctx.Err(); err != nil {
		Stop(err)
	}
}

var (
	// ErrOutput is the error of a page whose output exceeds [OutputLimit].
	ErrOutput = errors.New("the output is too large for the input")

	// ErrPanic is the error of a page that made the code panic: a bug here or in a library, answered by the text fallback.
	ErrPanic = errors.New("internal error in the conversion")
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
