package archive

import "errors"

// Kinds of documents that are not pages.
const (
	KindFile = "file"
	KindText = "text"
)

// ErrInvalid means that an argument is invalid; the error that wraps it says which and why.
var ErrInvalid = errors.New("not valid")

// ErrTooLarge means that a document exceeds the size limit.
var ErrTooLarge = errors.New("the document is too large")

// RefusedError says that a document cannot be kept, whatever the state of the store.
type RefusedError struct{ Reason error }

func (e *RefusedError) Error() string { return e.Reason.Error() }

// Unwrap returns the reason.
func (e *RefusedError) Unwrap() error { return e.Reason }
