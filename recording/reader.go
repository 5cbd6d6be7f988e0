package recording

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Recording answers from a file. Its methods are safe for concurrent use.
type Recording struct {
	name   string
	file   *os.File
	bodies map[string][]span
	byKey  map[string][]*exchange
	places map[string][]*exchange
	n      totals

	mu       sync.Mutex
	given    map[string]int // answers given, by key
	answered int
	missed   []string // requests that are not in it, each once; at most maxMissed
	misses   int
}

// span is a line's place in the file.
type span struct {
	at     int64
	length int
}

// maxMissed bounds the requests that are named for not being in a recording.
const maxMissed = 100

// ErrNotWhole is wrapped when a recording was not written to its end.
var ErrNotWhole = errors.New("it ends before its end: the run that wrote it did not come to its own")

// Open reads a recording, checks the hash of each body in it, and keeps the file open until Close.
func Open(name string) (*Recording, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("open the recording: %w", err)
	}
	r := &Recording{
		name: name, file: f, bodies: map[string][]span{}, byKey: map[string][]*exchange{}, places: map[string][]*exchange{},
		given: map[string]int{},
	}
	if err := r.load(); err != nil {
		_ = f.Close() // the first error is told
		return nil, fmt.Errorf("read the recording %s: %w", name, err)
	}
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() error { return r.file.Close() }

// load makes the index.
func (r *Recording) load() error {
	in := bufio.NewReaderSize(r.file, maxLine)
	check := bodyCheck{sum: sha256.New()}
	var at int64
	for n := 1; ; n++ {
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return ErrNotWhole
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d is longer than %d bytes: this is no recording", n, maxLine)
		case err != nil:
			return err
		}
		l, err := parse(text)
		if err == nil {
			err = r.take(l, n, span{at, len(text)}, &check)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
		at += int64(len(text))
		if l.End != nil {
			return r.atEnd(in, l.End)
		}
	}
}

func (r *Recording) atEnd(in *bufio.Reader, end *totals) error {
	if *end != r.n {
		return fmt.Errorf("it has %d exchanges and %d bodies, and says %d and %d", r.n.Exchanges, r.n.Bodies, end.Exchanges,
			end.Bodies)
	}
	if _, err := in.Peek(1); !errors.Is(err, io.EOF) {
		return errors.New("it goes on after its end")
	}
	return nil
}

func parse(text []byte) (*line, error) {
	l := new(line)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	return l, nil
}

// take takes one line into the index.
func (r *Recording) take(l *line, n int, where span, check *bodyCheck) error {
	if (n == 1) != (l.Version != 0) {
		return errors.New("a recording begins with what it is, once")
	}
	if l.Body == "" || l.Body != check.name {
		if err := check.end(); err != nil {
			return err
		}
	}
	switch {
	case l.Version == version, l.End != nil:
		return nil
	case l.Version != 0:
		return fmt.Errorf("a recording of version %d, and this program reads version %d", l.Version, version)
	case l.Body != "":
		if l.Body != check.name {
			if r.bodies[l.Body] != nil {
				return fmt.Errorf("body %.16s… is there twice", l.Body)
			}
			check.begin(l.Body)
			r.n.Bodies++
		}
		check.add(l)
		r.bodies[l.Body] = append(r.bodies[l.Body], where)
		return nil
	case l.Exchange != nil:
		return r.takeExchange(l.Exchange)
	}
	return errors.New("neither body nor exchange nor end")
}

func (r *Recording) takeExchange(e *exchange) error {
	if e.Body != "" && r.bodies[e.Body] == nil {
		return fmt.Errorf("the answer to %s has body %.16s…, which is not there", e.place(), e.Body)
	}
	if e.Status < 200 || e.Status > 999 {
		return fmt.Errorf("the answer to %s has status %d", e.place(), e.Status)
	}
	r.n.Exchanges++
	r.byKey[e.key()] = append(r.byKey[e.key()], e)
	r.places[e.place()] = append(r.places[e.place()], e)
	return nil
}

// bodyCheck checks the hash of a body whose parts come one after another.
type bodyCheck struct {
	name string // of the body at hand; empty when there is none
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

func (c *bodyCheck) end() error {
	name := c.name
	c.name = ""
	if name != "" && hex.EncodeToString(c.sum.Sum(nil)) != name {
		return fmt.Errorf("body %.16s… has other bytes than its name says: the file was changed or is damaged", name)
	}
	return nil
}

// NotRecordedError is a request that a recording has no answer to.
type NotRecordedError struct {
	Request string // method and URL, masked
	Why     string
	Name    string // of the recording
}

// Error implements error.
func (e *NotRecordedError) Error() string {
	return fmt.Sprintf("%s is not in the recording %s: %s", e.Request, e.Name, e.Why)
}

// Respond answers r, whose content it reads to its end. url is r's in the form by which it is known. What is not in the
// recording is a [*NotRecordedError].
func (r *Recording) Respond(req *http.Request, url string) (*http.Response, error) {
	asked := exchange{Method: req.Method, URL: url, Asked: askedOf(req.Header)}
	if c := watch(req); c != nil {
		if _, err := io.Copy(io.Discard, c); err != nil {
			return nil, fmt.Errorf("read the content of %s: %w", asked.place(), err)
		}
		asked.Content = c.name()
	}
	e := r.find(asked)
	if e == nil {
		why := r.why(&asked)
		r.miss(asked.place() + " (" + why + ")")
		return nil, &NotRecordedError{asked.place(), why, r.name}
	}
	return r.response(req, e), nil
}

// find chooses the answer: the next of those to requests alike, the last one when all were given.
func (r *Recording) find(asked exchange) *exchange {
	key := asked.key()
	list := r.byKey[key]
	if list == nil && asked.Content != "" { // its answer may not have waited for the content
		asked.Content = unread
		key = asked.key()
		list = r.byKey[key]
	}
	if list == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	e := list[min(r.given[key], len(list)-1)]
	r.given[key]++
	r.answered++
	return e
}

// why tells what of a request is not as recorded.
func (r *Recording) why(asked *exchange) string {
	near := r.places[asked.place()]
	if len(near) == 0 {
		return "nothing was read from there with this method"
	}
	for _, e := range near {
		if e.Content != asked.Content {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(union(e.Asked, asked.Asked))) {
			then, now := strings.Join(e.Asked[name], ", "), strings.Join(asked.Asked[name], ", ")
			if then != now {
				return fmt.Sprintf("it was asked with %s: %s, now it is %s", name, given(then), given(now))
			}
		}
	}
	return "the request's content is another"
}

func union(a, b http.Header) map[string]bool {
	names := map[string]bool{}
	for name := range a {
		names[name] = true
	}
	for name := range b {
		names[name] = true
	}
	return names
}

func given(value string) string {
	if value == "" {
		return "none"
	}
	return strconv.Quote(value)
}

func (r *Recording) miss(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.misses++
	if len(r.missed) < maxMissed && !slices.Contains(r.missed, what) {
		r.missed = append(r.missed, what)
	}
}

// Outcome is how a recording served.
type Outcome struct {
	Answered int
	Misses   int      // requests that were not in it
	Missed   []string // they, each once, with the reason; the first hundred
}

// Outcome returns what has been answered so far.
func (r *Recording) Outcome() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Outcome{r.answered, r.misses, slices.Clone(r.missed)}
}

func (r *Recording) response(req *http.Request, e *exchange) *http.Response {
	resp := &http.Response{
		Status: strconv.Itoa(e.Status) + " " + http.StatusText(e.Status), StatusCode: e.Status, Proto: "HTTP/1.1",
		ProtoMajor: 1, ProtoMinor: 1,
		Header: e.Header.Clone(), Trailer: e.Trailer.Clone(), ContentLength: -1, Request: req,
		Body: &reader{ctx: req.Context(), r: r, parts: r.bodies[e.Body], cut: e.Cut},
	}
	if resp.Header == nil {
		resp.Header = http.Header{}
	}
	resp.Header.Del("Trailer") // as a transport does: Trailer names them
	if n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		resp.ContentLength = n
	}
	return resp
}

// reader reads a body from its parts.
type reader struct {
	ctx   context.Context
	r     *Recording
	parts []span
	now   []byte
	cut   bool
}

// Read implements [io.Reader].
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

// Close implements [io.Closer].
func (b *reader) Close() error { return nil }
