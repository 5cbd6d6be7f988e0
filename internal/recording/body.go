package recording

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/clip"
)

// inMemory is the maximum size of a body in memory, in bytes; the rest of a longer one goes to a file.
const inMemory = 1 << 20

// body collects the bytes of an answer, in memory and, if there are many, in a file.
type body struct {
	head bytes.Buffer
	rest *os.File
	sum  hash.Hash
	n    int64
	err  error // why the body is incomplete
}

// newBody returns the body of a recorded answer, without any bytes yet.
func newBody() *body { return &body{sum: sha256.New()} }

// write adds to the body of a recorded answer: in memory at first, in a temporary file from inMemory bytes on. The
// first error is kept.
func (b *body) write(p []byte) {
	if b.err != nil {
		return
	}
	b.n += int64(len(p))
	b.sum.Write(p)
	if b.rest == nil && b.head.Len()+len(p) <= inMemory {
		b.head.Write(p)
		return
	}
	if b.rest == nil {
		if b.rest, b.err = os.CreateTemp("", "readthru-recording-*"); b.err != nil {
			return
		}
	}
	_, b.err = b.rest.Write(p)
}

// name returns the hex SHA-256 of the bytes, or "" if there are none.
func (b *body) name() string {
	if b.n == 0 {
		return ""
	}
	return hex.EncodeToString(b.sum.Sum(nil))
}

// lines calls f with the lines that represent the body.
func (b *body) lines(f func(*line) error) error {
	var from io.Reader = &b.head
	if b.rest != nil {
		if _, err := b.rest.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read the temporary file of a long answer: %w", err)
		}
		from = io.MultiReader(&b.head, b.rest)
	}
	name, buf, kept := b.name(), make([]byte, partSize), 0
	for {
		n, err := io.ReadFull(from, buf[kept:])
		part := buf[:kept+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("read the temporary file of a long answer: %w", err)
		}
		kept = 0
		if !last {
			kept = clip.Incomplete(part)
			part = part[:len(part)-kept]
		}
		if len(part) > 0 {
			l := &line{Body: name}
			if utf8.Valid(part) {
				l.Text = string(part)
			} else {
				l.Base64 = part
			}
			if err := f(l); err != nil {
				return err
			}
		}
		if last {
			return nil
		}
		copy(buf, buf[len(part):len(part)+kept])
	}
}

// close removes the temporary file.
func (b *body) close() {
	if b.rest != nil {
		_ = b.rest.Close()           // the data is not needed any more
		_ = os.Remove(b.rest.Name()) // if this fails, the system clears its temporary directory
	}
}

// bodyCheck checks the hash of a body that comes in parts.
type bodyCheck struct {
	name string // of the current body; empty if there is none
	sum  hash.Hash
}

func (c *bodyCheck) begin(name string) {
	c.name = name
	c.sum.Reset()
}

func (c *bodyCheck) add(l *line) {
	c.sum.Write([]byte(l.Text))
	c.sum.Write(l.Base64)
}

// end compares the hash of a recorded body with its name, after its last part.
func (c *bodyCheck) end() error {
	name := c.name
	c.name = ""
	if name != "" && hex.EncodeToString(c.sum.Sum(nil)) != name {
		return fmt.Errorf("body %.16s… does not match its hash: the file was changed or is damaged", name)
	}
	return nil
}

// reader reads a body from the recording.
type reader struct {
	ctx   context.Context
	r     *Recording
	parts []span
	now   []byte // unread rest of the current part
	cut   bool
}

// Read implements [io.Reader]: it reads a body part by part from the recording.
func (b *reader) Read(p []byte) (int, error) {
	for len(b.now) == 0 {
		if err := b.ctx.Err(); err != nil {
			return 0, err
		}
		if len(b.parts) == 0 {
			if b.cut {
				return 0, io.ErrUnexpectedEOF
			}
			return 0, io.EOF
		}
		text := make([]byte, b.parts[0].length)
		if _, err := b.r.file.ReadAt(text, b.parts[0].at); err != nil {
			return 0, fmt.Errorf("read the recording %s: %w", b.r.name, err)
		}
		l, err := parse(text)
		if err != nil {
			return 0, fmt.Errorf("the recording %s was changed while in use: %w", b.r.name, err)
		}
		b.parts = b.parts[1:]
		if b.now = l.Base64; l.Text != "" {
			b.now = []byte(l.Text)
		}
	}
	n := copy(p, b.now)
	b.now = b.now[n:]
	return n, nil
}

// Close implements [io.Closer] for a recorded body.
func (b *reader) Close() error { return nil }
