//go:build !linux

package kv

func mappedBytes() int64 { return 0 }

func forgetMapped(func(name string) bool) {}
