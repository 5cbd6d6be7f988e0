//go:build !linux

package store

func mappedBytes() int64 { return 0 }

func forgetMapped(func(name string) bool) {}
