package main

import (
	"context"
	"os"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// Main runs the program as main does, and returns its status.
func Main() int {
	completionTime = time.Minute // the machine may be busy
	return run(context.Background(), os.Args, terminal.OfProcess())
}
