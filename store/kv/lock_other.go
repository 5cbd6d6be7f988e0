//go:build !linux && !darwin

package kv

// lockEngine does nothing where an open file cannot be renamed or the engine locks in a way of its own: it finds out
// itself.
func lockEngine(string) (release func(), err error) { return func() {}, nil }
