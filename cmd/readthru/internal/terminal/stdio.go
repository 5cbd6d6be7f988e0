package terminal

import (
	"io"
	"os"
)

// Streams is where a command reads and writes.
type Streams struct {
	In       io.Reader
	Out, Err io.Writer
}

// OfProcess returns the standard streams of this process.
func OfProcess() Streams { return Streams{os.Stdin, OnScreen(os.Stdout), OnScreen(os.Stderr)} }
