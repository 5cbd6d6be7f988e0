//go:build !unix

package symbols

import "context"

// withMemory returns ctx: instances have memory of Go's heap.
func withMemory(ctx context.Context) context.Context { return ctx }
