package main

import (
	"io"
	"os"
)

// stdio is where a command reads and writes.
type stdio struct {
	in       io.Reader
	out, err io.Writer
}

// ofProcess returns the standard streams of this process.
func ofProcess() stdio { return stdio{os.Stdin, onScreen(os.Stdout), onScreen(os.Stderr)} }
