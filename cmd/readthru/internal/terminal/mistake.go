package terminal

import (
	"fmt"
)

// A UsageError is a mistake in the command line or the configuration: exit status 2.
type UsageError struct{ error }

// Mistake makes err a usage error.
func Mistake(err error) error { return UsageError{err} }

// Usagef returns a usage error.
func Usagef(format string, args ...any) error { return UsageError{fmt.Errorf(format, args...)} }

// Unwrap returns the mistake.
func (e UsageError) Unwrap() error { return e.error }

// A HintError has a remedy, which is printed on its own line.
type HintError struct {
	error
	Hint string
}

// WithHint gives err a remedy.
func WithHint(err error, hint string) error { return HintError{err, hint} }

// Unwrap returns the error that the hint is for.
func (e HintError) Unwrap() error { return e.error }

// An ExitError ends the program with a status and no message.
type ExitError int

// Error returns the status as text.
func (e ExitError) Error() string { return fmt.Sprintf("exit status %d", int(e)) }
