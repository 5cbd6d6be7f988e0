//go:build unix

package symbols

import (
	"context"
	"syscall"

	"github.com/tetratelabs/wazero/experimental"
)

// withMemory returns a context whose instances have memory outside of Go's heap: it grows in place, where the heap
// would copy it and leave the copies to the collector, and is the system's again at once when the instance is closed.
func withMemory(ctx context.Context) context.Context {
	return experimental.WithMemoryAllocator(ctx, experimental.MemoryAllocatorFunc(reserve))
}

// reserved is a range of addresses, of which the system gives memory to the parts that were written.
type reserved struct{ all []byte }

// reserve returns a memory for the grammars that is one mapping of limit bytes, of which the system gives only the
// pages that are written: so growing never copies. Where it cannot be mapped, the memory is on the heap.
func reserve(_, limit uint64) experimental.LinearMemory {
	all, err := syscall.Mmap(-1, 0, int(limit), syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return &onHeap{}
	}
	return &reserved{all}
}

// Reallocate returns the first size bytes of the mapping, the memory of a module; nil beyond its limit.
func (r *reserved) Reallocate(size uint64) []byte {
	if size > uint64(len(r.all)) {
		return nil
	}
	return r.all[:size]
}

// Free gives the mapping back to the system.
func (r *reserved) Free() {
	_ = syscall.Munmap(r.all) // it fails for what was not mapped only
	r.all = nil
}

// onHeap is memory where addresses cannot be reserved.
type onHeap struct{ all []byte }

// Reallocate returns the memory, grown to size bytes.
func (h *onHeap) Reallocate(size uint64) []byte {
	h.all = append(h.all, make([]byte, size-uint64(len(h.all)))...)
	return h.all
}

// Free leaves the memory to the collector.
func (h *onHeap) Free() { h.all = nil }
