package media

import (
	"bytes"
	"errors"
	"io"
)

// replay is a body of a response that is read from one place and closed at another.
type replay struct {
	io.Reader
	io.Closer
}

// ReadThrough returns a body that is read from r, which reads body, and closed as body is.
func ReadThrough(r io.Reader, body io.ReadCloser) io.ReadCloser { return replay{r, body} }

// Replayed returns a body of a response that consists of read and then rest, for who has looked at the beginning of a
// response.
func Replayed(read []byte, rest io.ReadCloser) io.ReadCloser {
	return replay{io.MultiReader(bytes.NewReader(read), rest), rest}
}

// Observed returns a body that is copied while it is read, up to a limit in bytes. At its end, and not before, whole is
// called with the copy, unless it is longer. With limit 0 there is no copy, and whole is called with nil.
func Observed(body io.ReadCloser, limit int, whole func([]byte)) io.ReadCloser {
	return &observer{ReadCloser: body, limit: limit, whole: whole}
}

// observer copies a body while it is read, up to a limit, and calls whole with the copy at EOF, once. A body that
// breaks off, or is closed before its end, calls nothing.
type observer struct {
	io.ReadCloser
	limit int // bytes; 0: call whole at EOF without a copy
	copy  bytes.Buffer
	over  bool
	whole func([]byte) // nil once called
}

// Read implements [io.Reader]: it copies what is read of the body.
func (o *observer) Read(p []byte) (int, error) {
	n, err := o.ReadCloser.Read(p)
	if o.limit > 0 && !o.over {
		if o.copy.Len()+n > o.limit {
			o.over, o.copy = true, bytes.Buffer{}
		} else {
			o.copy.Write(p[:n])
		}
	}
	if errors.Is(err, io.EOF) && o.whole != nil && !o.over {
		o.whole(o.copy.Bytes())
		o.whole = nil
	}
	return n, err
}

// Ending returns a body that calls end when it is closed, such as one that ends its request's context.
func Ending(body io.ReadCloser, end func()) io.ReadCloser { return &ending{body, end} }

type ending struct {
	io.ReadCloser
	end func()
}

// Close implements [io.Closer]: it calls end, too.
func (e *ending) Close() error {
	defer e.end()
	return e.ReadCloser.Close()
}

// WriteTo keeps the way by which a stored body writes itself.
func (e *ending) WriteTo(w io.Writer) (int64, error) { return io.Copy(w, e.ReadCloser) }
