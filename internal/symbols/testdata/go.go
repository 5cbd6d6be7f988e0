package a

import "example.com/b"

const Limit, hidden = 10, 11

var (
	Default = b.New(Limit)
	other   = 1
)

// Table func notHere() is in a comment.
type Table[T any] struct{ rows []T }

type Reader interface {
	Read(p []byte) (n int, err error)
}

type Names = []string

func (t *Table[T]) First(
	fallback T,
) T {
	func() { b.Close() }()
	return t.rows[0]
}

func load(path string) (*Table[int], error) { return nil, nil }
