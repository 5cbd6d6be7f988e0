package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"readthru/fleet/fleettest"
)

// outside stands in for a test where none runs: fleettest starts servers for tests.
type outside struct {
	testing.TB // nil: it has a method that no other package can have
	ctx        context.Context
	cleanups   []func()
}

// gaveUp is what an outside panics with, instead of ending a test.
type gaveUp string

func (o *outside) Helper()                     {}
func (o *outside) Context() context.Context    { return o.ctx }
func (o *outside) Cleanup(f func())            { o.cleanups = append(o.cleanups, f) }
func (o *outside) Fatal(args ...any)           { panic(gaveUp(fmt.Sprint(args...))) }
func (o *outside) Fatalf(f string, arg ...any) { panic(gaveUp(fmt.Sprintf(f, arg...))) }
func (o *outside) Skip(args ...any)            { panic(gaveUp(fmt.Sprint(args...))) }

// withServer calls measure with a PostgreSQL server of its own.
func withServer(ctx context.Context, measure func(*fleettest.Server) error) (err error) {
	o := &outside{ctx: ctx}
	defer func() {
		if r := recover(); r != nil {
			what, ok := r.(gaveUp)
			if !ok {
				panic(r)
			}
			err = errors.Join(err, errors.New(string(what)))
		}
		for _, f := range slices.Backward(o.cleanups) {
			f()
		}
	}()
	return measure(fleettest.Start(o))
}
