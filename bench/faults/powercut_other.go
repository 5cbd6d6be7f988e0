//go:build !linux

package main

import (
	"context"
	"errors"
)

func powercut(context.Context, settings) (string, error) {
	return "", errors.New("syncs are seen by the kernel's seccomp: this needs Linux")
}

func launch([]string) error { return errors.New("this needs Linux") }
