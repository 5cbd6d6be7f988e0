package media

import "io"

// Ending returns a body that calls end when it is closed, such as one that ends its request's context.
func Ending(body io.ReadCloser, end func()) io.ReadCloser { return &ending{body, end} }

type ending struct {
	io.ReadCloser
	end func()
}

func (e *ending) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

// WriteTo keeps the way by which a stored body writes itself.
func (e *ending) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, e.ReadCloser) }
