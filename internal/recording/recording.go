package recording

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Recording replays answers from a file. Its methods are safe for concurrent use.
type Recording struct {
	name   string
	file   *os.File
	bodies map[string][]span
	byKey  map[string][]*exchange
	places map[string][]*exchange
	n      totals

	mu       sync.Mutex
	given    map[string]int // number of answers given, by key
	answered int
	missed   []string // requests without an answer, without duplicates; at most maxMissed
	misses   int
}

// span is the position of a line in the file.
type span struct {
	at     int64
	length int
}

// maxMissed is the maximum number of requests that are listed as missing.
const maxMissed = 100

// ErrIncomplete is wrapped by the error of [Open] if a recording has no last line.
var ErrIncomplete = errors.New("the recording is incomplete: the run that wrote it was interrupted")

// Open opens a recording and checks it completely, including the hash of each body. The caller must close it.
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
		_ = f.Close() // the first error is returned
		return nil, fmt.Errorf("read the recording %s: %w", name, err)
	}
	return r, nil
}

// Close closes the file.
func (r *Recording) Close() error { return r.file.Close() }

// load reads the file and builds the index.
func (r *Recording) load() error {
	in := bufio.NewReaderSize(r.file, maxLine)
	check := bodyCheck{sum: sha256.New()}
	var at int64
	for n := 1; ; n++ {
		text, err := in.ReadSlice('\n')
		switch {
		case errors.Is(err, io.EOF):
			return ErrIncomplete
		case errors.Is(err, bufio.ErrBufferFull):
			return fmt.Errorf("line %d is longer than %d bytes: this is not a recording", n, maxLine)
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

// atEnd checks the last line.
func (r *Recording) atEnd(in *bufio.Reader, end *totals) error {
	if *end != r.n {
		return fmt.Errorf("found %d exchanges and %d bodies, want %d and %d", r.n.Exchanges, r.n.Bodies, end.Exchanges,
			end.Bodies)
	}
	if _, err := in.Peek(1); !errors.Is(err, io.EOF) {
		return errors.New("there is data after the last line")
	}
	return nil
}

// parse reads a line of a recording, strictly: a field that is not known is of another version.
func parse(text []byte) (*line, error) {
	l := new(line)
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(l); err != nil {
		return nil, err
	}
	return l, nil
}

// take checks line n and adds it to the index.
func (r *Recording) take(l *line, n int, where span, check *bodyCheck) error {
	if (n == 1) != (l.Version != 0) {
		return errors.New("a recording has one header, in its first line")
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
		return fmt.Errorf("the recording has version %d; this program reads version %d", l.Version, version)
	case l.Body != "":
		if l.Body != check.name {
			if r.bodies[l.Body] != nil {
				return fmt.Errorf("body %.16s… occurs twice", l.Body)
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
	return errors.New("the line is neither body nor exchange nor end")
}

// takeExchange adds an exchange to the index of the recording. Its body must come before it.
func (r *Recording) takeExchange(e *exchange) error {
	if e.Body != "" && r.bodies[e.Body] == nil {
		return fmt.Errorf("the answer to %s has body %.16s…, which is missing", e.place(), e.Body)
	}
	if e.Status < 200 || e.Status > 999 {
		return fmt.Errorf("the answer to %s has status %d", e.place(), e.Status)
	}
	r.n.Exchanges++
	r.byKey[e.key()] = append(r.byKey[e.key()], e)
	r.places[e.place()] = append(r.places[e.place()], e)
	return nil
}

// NotRecordedError reports a request without an answer in the recording.
type NotRecordedError struct {
	Request string // method and masked URL
	Why     string // how the request differs from the recorded ones
	Name    string // file name of the recording
}

// Error implements error.
func (e *NotRecordedError) Error() string {
	return fmt.Sprintf("%s is not in the recording %s: %s", e.Request, e.Name, e.Why)
}

// Respond returns the recorded answer to req. It reads req's content to its end. url identifies req's URL, as for
// [Writer.Begin]. The error is a [*NotRecordedError] if the recording has no answer. The caller closes the answer's
// body.
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

// find returns the next recorded answer to a request, or again the last one, so that a client that asks more often than
// before is answered, too. It returns nil if there is none.
func (r *Recording) find(asked exchange) *exchange {
	key := asked.key()
	list := r.byKey[key]
	if list == nil && asked.Content != "" { // the recorded answer may have ended before the content was read
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

// why says how a request differs from the recorded ones.
func (r *Recording) why(asked *exchange) string {
	near := r.places[asked.place()]
	if len(near) == 0 {
		return "no request with this method and URL was recorded"
	}
	for _, e := range near {
		if e.Content != asked.Content {
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(union(e.Asked, asked.Asked))) {
			then, now := strings.Join(e.Asked[name], ", "), strings.Join(asked.Asked[name], ", ")
			if then != now {
				return fmt.Sprintf("recorded with %s: %s, now requested with %s", name, quoted(then), quoted(now))
			}
		}
	}
	return "the request's content differs"
}

// union returns, for [Recording.why], the names of the fields that either of two requests has.
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

// quoted quotes a field's value for [Recording.why].
func quoted(value string) string {
	if value == "" {
		return "none"
	}
	return strconv.Quote(value)
}

// miss counts a request without an answer.
func (r *Recording) miss(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.misses++
	if len(r.missed) < maxMissed && !slices.Contains(r.missed, what) {
		r.missed = append(r.missed, what)
	}
}

// Outcome counts the requests to a recording.
type Outcome struct {
	Answered int
	Misses   int      // requests without an answer
	Missed   []string // the first hundred of them, without duplicates, each with the reason
}

// Outcome returns the counts so far.
func (r *Recording) Outcome() Outcome {
	r.mu.Lock()
	defer r.mu.Unlock()
	return Outcome{r.answered, r.misses, slices.Clone(r.missed)}
}

// response returns a recorded answer as a response to a request. One that was cut ends with an error, as it did then.
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
	resp.Header.Del("Trailer") // as a transport does: resp.Trailer has the names
	if n, err := strconv.ParseInt(resp.Header.Get("Content-Length"), 10, 64); err == nil && n >= 0 {
		resp.ContentLength = n
	}
	return resp
}
