package main

import (
	"fmt"
)

// A usageError is a mistake in the command line or the configuration: exit status 2.
type usageError struct{ error }

// mistake makes err a usage error.
func mistake(err error) error { return usageError{err} }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// Unwrap returns the mistake.
func (e usageError) Unwrap() error { return e.error }

// A hintError has a remedy, which is printed on its own line.
type hintError struct {
	error
	hint string
}

func withHint(err error, hint string) error { return hintError{err, hint} }

// Unwrap returns the error that the hint is for.
func (e hintError) Unwrap() error { return e.error }

// An exitError ends the program with a status and no message.
type exitError int

// Error returns the status as text.
func (e exitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
