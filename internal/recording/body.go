package recording

import (
	"bytes"
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
