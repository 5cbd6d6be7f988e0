package recording

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"strings"
	"sync"
	"time"
)

// Writer writes a recording. It is safe for concurrent use.
type Writer struct {
	mu     sync.Mutex
	out    io.Writer
	head   *line           // the first line, until it is written; then nil
	known  map[string]bool // bodies already written
	n      totals
	open   int // exchanges that have not ended
	idle   chan struct{}
	closed bool
	err    error // the first error; nothing is written after it
}

// NewWriter returns a Writer that writes to out. It writes nothing before the first exchange ends or Close is called.
// madeBy names the program and its version.
func NewWriter(out io.Writer, madeBy string) *Writer {
	return &Writer{
		out: out, known: map[string]bool{},
		head: &line{Version: version, MadeBy: madeBy, At: time.Now().UTC().Truncate(time.Second)},
	}
}

// write writes a line. The caller holds mu.
func (w *Writer) write(l *line) {
	if head := w.head; head != nil {
		w.head = nil
		w.write(head)
	}
	if w.err != nil {
		return
	}
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false) // for human readers
	err := enc.Encode(l)
	if err == nil && text.Len() > maxLine {
		err = fmt.Errorf("a line has %d bytes; the maximum is %d", text.Len(), maxLine)
	}
	if err == nil {
		_, err = w.out.Write(text.Bytes())
	}
	if err != nil {
		w.err = fmt.Errorf("write the recording: %w", err)
	}
}

// Close waits until all exchanges have ended, or ctx has, and completes the recording. It is an error if exchanges are
// still running: they are missing from the recording. Answers that begin after Close are not recorded.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	for w.open > 0 && ctx.Err() == nil {
		idle := make(chan struct{})
		w.idle = idle
		w.mu.Unlock()
		select {
		case <-idle:
		case <-ctx.Done():
		}
		w.mu.Lock()
	}
	if w.closed {
		return w.err
	}
	w.closed = true
	if w.open > 0 {
		w.err = errors.Join(w.err, fmt.Errorf("close the recording: %d answers are still running and not recorded", w.open))
		return w.err
	}
	w.write(&line{End: &w.n})
	return w.err
}

// Exchange is an [http.ResponseWriter] that writes an answer to a client and records it. [Writer.Begin] makes one.
type Exchange struct {
	http.ResponseWriter
	w       *Writer
	e       exchange
	content *content
	body    *body
}

// Begin starts to record the answer to r, which the Exchange passes on to to. url identifies r's URL, with its secrets
// masked. Begin replaces r.Body to observe the content. It returns nil if the Writer is closed or has failed. The
// caller must call [Exchange.End].
func (w *Writer) Begin(to http.ResponseWriter, r *http.Request, url string) *Exchange {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed || w.err != nil {
		return nil
	}
	w.open++
	x := &Exchange{ResponseWriter: to, w: w, body: newBody(), content: watch(r)}
	x.e = exchange{Method: r.Method, URL: url, Asked: askedOf(r.Header)}
	if x.content != nil {
		r.Body = x.content
	}
	return x
}

// WriteHeader implements [http.ResponseWriter]. Interim answers pass and are not recorded.
func (x *Exchange) WriteHeader(status int) {
	if x.e.Status == 0 && status >= 200 {
		x.e.Status = status
		x.e.Header = x.Header().Clone()
		maps.DeleteFunc(x.e.Header, func(name string, values []string) bool {
			return len(values) == 0 || strings.HasPrefix(name, http.TrailerPrefix)
		})
	}
	x.ResponseWriter.WriteHeader(status)
}

// Write implements [io.Writer].
func (x *Exchange) Write(p []byte) (int, error) {
	if x.e.Status == 0 {
		x.WriteHeader(http.StatusOK)
	}
	n, err := x.ResponseWriter.Write(p)
	x.body.write(p[:n])
	return n, err
}

// Flush implements [http.Flusher].
func (x *Exchange) Flush() {
	_ = http.NewResponseController(x.ResponseWriter).Flush() // a writer that cannot flush does not buffer
}

// Unwrap is for [http.ResponseController].
func (x *Exchange) Unwrap() http.ResponseWriter { return x.ResponseWriter }

// End writes the exchange to the recording, unless no answer was written. cut says that the answer ended early.
func (x *Exchange) End(cut bool) {
	w := x.w
	w.mu.Lock()
	defer w.mu.Unlock()
	defer x.body.close()
	w.open--
	if w.open == 0 && w.idle != nil {
		close(w.idle)
		w.idle = nil
	}
	if w.closed || x.e.Status == 0 {
		return
	}
	if x.body.err != nil && w.err == nil {
		w.err = fmt.Errorf("record the answer to %s: %w", x.e.place(), x.body.err)
	}
	x.e.Content, x.e.Body, x.e.Cut, x.e.Trailer = x.content.name(), x.body.name(), cut, trailerOf(x.Header())
	if name := x.e.Body; name != "" && !w.known[name] && w.err == nil {
		w.known[name] = true
		w.n.Bodies++
		if err := x.body.lines(func(l *line) error { w.write(l); return w.err }); err != nil && w.err == nil {
			w.err = err
		}
	}
	w.n.Exchanges++
	w.write(&line{Exchange: &x.e})
}

// trailerOf returns, to be written to the recording, the trailer fields, which a handler sets in the header after it
// has written it.
func trailerOf(h http.Header) http.Header {
	var trailer http.Header
	put := func(name string, values []string) {
		if len(values) == 0 {
			return
		}
		if trailer == nil {
			trailer = http.Header{}
		}
		trailer[name] = values
	}
	for _, announced := range h["Trailer"] {
		for name := range strings.SplitSeq(announced, ",") {
			name = http.CanonicalHeaderKey(strings.TrimSpace(name))
			put(name, h[name])
		}
	}
	for name, values := range h {
		if bare, ok := strings.CutPrefix(name, http.TrailerPrefix); ok {
			put(bare, values)
		}
	}
	return trailer
}
