//go:build !linux && !darwin && !windows

package kv

import "errors"

func diskSpace(string) (free, total uint64, err error) { return 0, 0, errors.ErrUnsupported }
