//go:build !linux

package kv

// mappedBytes returns 0: nothing is let go where the system does not tell how much is mapped.
func mappedBytes() int64 { return 0 }

func forgetMapped(func(name string) bool) {}
