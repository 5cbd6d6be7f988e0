package main

import (
	"context"
	"os"
)

// Main runs the program as main does, and returns its status.
func Main() int { return run(context.Background(), os.Args, stdio{os.Stdin, os.Stdout, os.Stderr}) }
