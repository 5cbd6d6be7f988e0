package kv

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/cespare/xxhash/v2"
	"github.com/dgraph-io/badger/v4"
)

// A backup is backupMagic, then frames: length (4 bytes, big-endian, at most maxFrame), xxHash64 of the content (8
// bytes), the content. A frame of length 0 ends it: a backup that was cut is known by its absence. The contents
// together are the engine's own stream.
const (
	backupMagic = "readthru backup 1\n"
	maxFrame    = 1 << 20
)

// Backup writes a consistent copy to w, after flush has written what waits. restore reads it.
func (k *DB) Backup(w io.Writer, flush func() error) error {
	if !k.enter() {
		return fmt.Errorf("it is not open: %w", ErrNotFound)
	}
	defer k.leave()
	k.copying.Lock()
	defer k.copying.Unlock()
	if err := flush(); err != nil {
		return err
	}
	frames := &frameWriter{w: w}
	buffered := bufio.NewWriterSize(frames, maxFrame/4)
	_, err := io.WriteString(w, backupMagic)
	if err == nil {
		_, err = k.db.Backup(buffered, 0)
	}
	if err == nil {
		err = buffered.Flush()
	}
	if err == nil {
		err = frames.end()
	}
	return err
}

// Restore reads a backup of a store into dir, which must be missing or empty. After an error it removes what it has
// written.
func Restore(dir string, r io.Reader) (err error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("restore store: %w", err)
	}
	if len(entries) > 0 {
		return fmt.Errorf("restore store: %s is not empty", dir)
	}
	magic := make([]byte, len(backupMagic))
	if _, err := io.ReadFull(r, magic); err != nil || string(magic) != backupMagic {
		return errors.New("restore store: not a backup of readthru")
	}
	db := filepath.Join(dir, dbName)
	if err := os.MkdirAll(db, 0o700); err != nil {
		return fmt.Errorf("restore store: %w", err)
	}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("restore store into %s: %w", dir, err), os.RemoveAll(db))
		}
	}()
	return load(db, r)
}

// load feeds a backup's stream to a new engine, and verifies that it was whole: that nothing follows its end, and that
// it has a schema.
func load(dir string, r io.Reader) (err error) {
	var unreadable atomic.Int64
	db, err := badger.Open(badgerOptions(dir, DefaultMemory, slog.New(slog.DiscardHandler), &unreadable))
	if err != nil {
		return err
	}
	defer func() {
		if e := db.Close(); err == nil {
			err = e
		}
	}()
	frames := &frameReader{r: r}
	if err := db.Load(frames, 16); err != nil {
		return err
	}
	if !frames.ended {
		return errors.New("the backup has data after its end")
	}
	if err := db.View(func(txn *badger.Txn) error { _, err := txn.Get([]byte(schemaKey)); return err }); err != nil {
		return fmt.Errorf("the backup has no schema record: %w", err)
	}
	return nil
}

// frameWriter writes what it gets as frames of a backup, each with its hash.
type frameWriter struct{ w io.Writer }

// Write implements [io.Writer]: it cuts a backup into frames.
func (f *frameWriter) Write(p []byte) (n int, err error) {
	for len(p) > 0 {
		part := p[:min(len(p), maxFrame)]
		if err := f.frame(part); err != nil {
			return n, err
		}
		n += len(part)
		p = p[len(part):]
	}
	return n, nil
}

// frame writes one frame of a backup: length, hash and content.
func (f *frameWriter) frame(p []byte) error {
	var head [12]byte
	binary.BigEndian.PutUint32(head[:], uint32(len(p)))
	binary.BigEndian.PutUint64(head[4:], xxhash.Sum64(p))
	if _, err := f.w.Write(head[:]); err != nil {
		return err
	}
	_, err := f.w.Write(p)
	return err
}

// end writes the empty frame without which a backup counts as cut.
func (f *frameWriter) end() error { return f.frame(nil) }

// frameReader gives the contents of frames, each only after it was verified.
type frameReader struct {
	r     io.Reader
	buf   []byte
	rest  []byte
	ended bool
}

// Read implements [io.Reader]: it reads the frames of a backup, each of which must be whole.
func (f *frameReader) Read(p []byte) (int, error) {
	for len(f.rest) == 0 {
		if f.ended {
			return 0, io.EOF
		}
		if err := f.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, f.rest)
	f.rest = f.rest[n:]
	return n, nil
}

// next reads and verifies the next frame of a backup.
func (f *frameReader) next() error {
	var head [12]byte
	if _, err := io.ReadFull(f.r, head[:]); err != nil {
		return fmt.Errorf("the backup is incomplete: %w", noEOF(err))
	}
	length := binary.BigEndian.Uint32(head[:])
	if length > maxFrame {
		return errors.New("the backup is damaged")
	}
	if f.buf == nil {
		f.buf = make([]byte, maxFrame)
	}
	f.rest = f.buf[:length]
	if _, err := io.ReadFull(f.r, f.rest); err != nil {
		return fmt.Errorf("the backup is incomplete: %w", noEOF(err))
	}
	if xxhash.Sum64(f.rest) != binary.BigEndian.Uint64(head[4:]) {
		return errors.New("the backup is damaged")
	}
	f.ended = length == 0
	return nil
}

// noEOF turns the end of a backup's reader into an error: the engine would take io.EOF for a good end.
func noEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errors.New("it ends too early")
	}
	return err
}
