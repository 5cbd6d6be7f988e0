package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"

	"github.com/readthru/readthru/internal/fleet/fleettest"
)

// outside is what a server is run by where no test runs. Fatal ends its goroutine, as that of a test.
type outside struct {
	ctx      context.Context
	cleanups []func()
	err      error
}

func (o *outside) Helper()                  {}
func (o *outside) Context() context.Context { return o.ctx }
func (o *outside) Cleanup(f func())         { o.cleanups = append(o.cleanups, f) }

func (o *outside) Fatal(args ...any) {
	o.err = errors.New(fmt.Sprint(args...))
	runtime.Goexit()
}

func (o *outside) Fatalf(format string, args ...any) { o.Fatal(fmt.Sprintf(format, args...)) }

// withServer calls measure with a PostgreSQL server of its own.
func withServer(ctx context.Context, measure func(*fleettest.Server) error) error {
	o := &outside{ctx: ctx}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		defer func() {
			for _, f := range slices.Backward(o.cleanups) {
				f()
			}
		}()
		o.err = measure(fleettest.Run(o))
	}()
	<-ended
	return o.err
}
