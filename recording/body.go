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
)

// inMemory is how much of a body is held in memory before it goes to a file, in bytes.
const inMemory = 1 << 20

// body collects what is written to it: in memory, and in a file once it is long.
type body struct {
	head bytes.Buffer
	rest *os.File
	sum  hash.Hash
	n    int64
	err  error // why it is not whole
}

func newBody() *body { return &body{sum: sha256.New()} }

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

// name is the SHA-256 of the bytes, or "" when there are none.
func (b *body) name() string {
	if b.n == 0 {
		return ""
	}
	return hex.EncodeToString(b.sum.Sum(nil))
}

// lines calls f with the lines that hold the bytes.
func (b *body) lines(f func(*line) error) error {
	var from io.Reader = &b.head
	if b.rest != nil {
		if _, err := b.rest.Seek(0, io.SeekStart); err != nil {
			return fmt.Errorf("read back a long answer: %w", err)
		}
		from = io.MultiReader(&b.head, b.rest)
	}
	name, buf, kept := b.name(), make([]byte, partSize), 0
	for {
		n, err := io.ReadFull(from, buf[kept:])
		part := buf[:kept+n]
		last := errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF)
		if err != nil && !last {
			return fmt.Errorf("read back a long answer: %w", err)
		}
		kept = 0
		if !last {
			kept = cutRune(part)
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

// cutRune returns how many bytes at the end of p begin a character that is not complete there.
func cutRune(p []byte) int {
	for i := 1; i < utf8.UTFMax && i <= len(p); i++ {
		if utf8.RuneStart(p[len(p)-i]) {
			if utf8.FullRune(p[len(p)-i:]) {
				return 0
			}
			return i
		}
	}
	return 0
}

func (b *body) close() {
	if b.rest != nil {
		_ = b.rest.Close()           // nothing is read from it any more
		_ = os.Remove(b.rest.Name()) // one that stays is the system's to clear
	}
}
