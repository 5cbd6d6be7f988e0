package cache

import (
	"context"
	"errors"
	"io"
	"maps"
	"net/http"
	"sync"
	"time"
)

// A spoolReader is the body of a response, read from a spool.
type spoolReader struct {
	spool   *spool
	ctx     context.Context // of the answered request; reads end with it
	outcome Outcome
	resp    *http.Response // its trailer is set at the end; may be nil. Set before the first Read

	reading sync.Mutex // held while body is read or closed

	// Guarded by spool.mu.
	chunk, offset int               // read position
	pos           int64             // the same in bytes from the start
	err           error             // the error at its end
	body          io.ReadSeekCloser // the stored body, after the spool moved the reader to the store
	owed          time.Duration     // how long other readers waited for this one, less what is forgiven
	reckoned      time.Time         // when owed was last changed
	hungry        time.Time         // since when it waits for bytes; zero if it does not
}

// Outcome implements what [OutcomeOf] looks for. It says that the response is stored only once it is.
func (r *spoolReader) Outcome() Outcome {
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	o := r.outcome
	o.Stored = r.spool.stored
	return o
}

// more waits for the next bytes of the spool and returns at most limit of them. If it returns neither bytes nor an
// error, reading continues in r.body, the stored body.
func (r *spoolReader) more(limit int) ([]byte, error) {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	for r.err == nil {
		if r.body != nil && r.pos < s.size {
			if err := r.ctx.Err(); err != nil {
				r.err = context.Cause(r.ctx)
				break
			}
			return nil, nil
		}
		if r.pos < s.visible {
			return r.take(limit), nil
		}
		if s.ended {
			if r.err = s.err; r.resp != nil && len(s.trailer) > 0 {
				if r.resp.Trailer == nil {
					r.resp.Trailer = http.Header{}
				}
				maps.Copy(r.resp.Trailer, s.trailer)
			}
			continue
		}
		if r.hungry.IsZero() {
			r.hungry = time.Now()
		}
		if err := s.wait(r.ctx, nil); err != nil {
			r.err = err
		}
	}
	return nil, r.err
}

// take returns the next bytes of a chunk of the spool, at least one, and advances past them. The caller holds spool.mu.
func (r *spoolReader) take(limit int) []byte {
	s := r.spool
	data := s.chunks[r.chunk-s.base]
	if r.offset == len(data) {
		r.chunk, r.offset = r.chunk+1, 0
		data = s.chunks[r.chunk-s.base]
		if !s.keeping && !s.ended {
			s.broadcast() // fill may be waiting for this reader
		}
	}
	n := min(int64(limit), int64(len(data)-r.offset), s.visible-r.pos)
	data = data[r.offset : r.offset+int(n)]
	r.offset += int(n)
	r.pos += n
	r.hungry = time.Time{}
	return data
}

// owe adds a time for which other readers waited for r, and returns what it owes them. The caller holds spool.mu.
func (r *spoolReader) owe(waited time.Duration, now time.Time) time.Duration {
	if !r.reckoned.IsZero() {
		r.owed = max(0, r.owed-now.Sub(r.reckoned)/10)
	}
	r.owed += waited
	r.reckoned = now
	return r.owed
}

// Read reads the bytes received from the origin, and waits for the next ones if there are none.
func (r *spoolReader) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	data, err := r.more(len(p))
	if data == nil && err == nil {
		return r.readStored(p)
	}
	return copy(p, data), err
}

// readStored continues reading in the stored body, where the spool's bytes ended for this reader.
func (r *spoolReader) readStored(p []byte) (int, error) {
	r.reading.Lock()
	defer r.reading.Unlock()
	n := 0
	_, err := r.body.Seek(r.pos, io.SeekStart)
	if err == nil {
		n, err = r.body.Read(p)
	}
	r.spool.mu.Lock()
	defer r.spool.mu.Unlock()
	if r.pos += int64(n); errors.Is(err, io.EOF) && r.pos == r.spool.size {
		err = nil // the next Read returns it, with the trailer
	} else if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	if r.err == nil {
		r.err = err
	}
	return n, err
}

// Close detaches the reader from the spool.
func (r *spoolReader) Close() error {
	if body := r.leave(); body != nil {
		r.reading.Lock()
		defer r.reading.Unlock()
		return body.Close()
	}
	return nil
}

// leave removes r from the readers of its spool and returns the stored body that it read, if any.
func (r *spoolReader) leave() io.Closer {
	s := r.spool
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, reading := s.readers[r]; !reading {
		return nil
	}
	delete(s.readers, r)
	if r.err == nil {
		r.err = http.ErrBodyReadAfterClose
	}
	if len(s.readers) == 0 {
		s.idle(false, s.keeping || s.ended)
	}
	s.broadcast()
	s.release()
	if r.body == nil {
		return nil // not an interface that holds a nil body
	}
	return r.body
}

// A chunkReader reads the chunks of a spool one after another.
type chunkReader struct {
	chunks [][]byte
	offset int // in the first chunk
}

// Read implements [io.Reader] over the chunks of a spool.
func (r *chunkReader) Read(p []byte) (int, error) {
	for len(r.chunks) > 0 && r.offset == len(r.chunks[0]) {
		r.chunks, r.offset = r.chunks[1:], 0
	}
	if len(r.chunks) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.chunks[0][r.offset:])
	r.offset += n
	return n, nil
}

// Whole returns the content if all of it is in one chunk that it fills, else nil.
func (r *chunkReader) Whole() []byte {
	if len(r.chunks) != 1 || cap(r.chunks[0]) > len(r.chunks[0])*9/8 {
		return nil
	}
	return r.chunks[0][r.offset:]
}
