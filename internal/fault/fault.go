// Package fault keeps a panic of this program to the work that had it.
//
// A panic in any goroutine ends a Go process, and agents have no web without this one. So every goroutine of the daemon
// is started through a function of this package: [Contain] for one that ends by itself, [Wrap] in an error group,
// [Loop] for one that runs as long as the daemon. [Catch] is for a piece of work whose failure its caller handles: a
// document to index, a crawl, a row of another node. [Handler] answers 500 to a request that panics. Each fault is
// logged with its stack, counted, and listed by [Caught], which /stats, /readyz, doctor and the dashboard show. A test
// of the repository finds goroutines that are started in any other way. Work whose name begins with "end" only hands on
// what work within it gave.
//
// What Go cannot recover from (an endless recursion, memory that is exhausted) ends the process all the same. A
// [Journal] keeps what was being done then, so that the next start does not do it again.
package fault

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// An Error is a panic that was caught.
type Error struct {
	Work  string    // what was being done, "package: what"
	Job   string    // the id of what it was done to; empty if that has none
	Cause string    // the value of the panic, at most 500 bytes
	Stack string    // where
	Time  time.Time // when, in UTC
}

// Error names the work that panicked, and the cause.
func (f *Error) Error() string {
	if f.Job != "" {
		return f.Work + " (" + f.Job + "): panic: " + f.Cause
	}
	return f.Work + ": panic: " + f.Cause
}

// maxKept is how many faults are kept, the newest, and maxCause how many bytes of a cause.
const (
	maxKept  = 20
	maxCause = 500
)

// caught are the faults of this process. It is the only state of the package: a goroutine that panics has no better
// place to say so than its process.
var caught struct {
	sync.Mutex
	n    int64
	last []*Error
	log  *slog.Logger
}

// injected is what Begin calls; nil outside tests.
var injected atomic.Pointer[func(work string)]

// Log sends faults to a log from now on, beside counting them.
func Log(log *slog.Logger) {
	caught.Lock()
	defer caught.Unlock()
	caught.log = log
}

// Caught returns how many faults this process has had, and the newest of them, the latest last.
func Caught() (n int64, last []*Error) {
	caught.Lock()
	defer caught.Unlock()
	return caught.n, slices.Clone(caught.last)
}

// Inject has every piece of work call f with its name before it begins, so that a test can have it panic. Nil ends
// that.
func Inject(f func(work string)) {
	if f == nil {
		injected.Store(nil)
		return
	}
	injected.Store(&f)
}

// Note records what recover returned, for a caller that has to recover itself.
func Note(work string, cause any) *Error { return record(work, "", cause) }

// record counts a fault and keeps it among the last ones.
func record(work, job string, cause any) *Error {
	f := &Error{Work: work, Job: job, Cause: fmt.Sprint(cause), Stack: string(debug.Stack()), Time: time.Now().UTC()}
	if len(f.Cause) > maxCause {
		f.Cause = f.Cause[:maxCause]
	}
	caught.Lock()
	defer caught.Unlock()
	caught.n++
	caught.last = append(caught.last, f)
	if over := len(caught.last) - maxKept; over > 0 {
		caught.last = slices.Delete(caught.last, 0, over)
	}
	if caught.log != nil {
		caught.log.Error("fault", "work", f.Work, "job", f.Job, "cause", f.Cause, "stack", f.Stack)
	}
	return f
}

// Begin gives a test the chance to have a piece of work panic: see [Inject]. The other functions of this package call
// it themselves.
func Begin(work string) {
	if f := injected.Load(); f != nil {
		(*f)(work)
	}
}

// Catch does a piece of work. A panic in it becomes a *Error.
func Catch(work string, f func() error) error { return CatchJob(work, "", f) }

// CatchJob is Catch for work on something that has an id, which the fault names.
func CatchJob(work, job string, f func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = record(work, job, cause)
		}
	}()
	Begin(work)
	return f()
}

// Is reports whether an error is a fault, or wraps one.
func Is(err error) bool {
	_, ok := errors.AsType[*Error](err)
	return ok
}

// Contain returns f for a goroutine of its own: a panic in it ends that goroutine and nothing else. Whoever waits for
// something that f does must learn of its end by a defer in f.
func Contain(work string, f func()) func() {
	return func() {
		_ = Catch(work, func() error { f(); return nil }) // Catch has noted it
	}
}

// ContainTo is [Contain], and calls failed with the error that a panic in f becomes: whoever f works for does not wait
// for it then.
func ContainTo(failed func(error), work string, f func()) func() {
	return func() {
		if err := Catch(work, func() error { f(); return nil }); err != nil {
			failed(err)
		}
	}
}

// Wrap returns f for an error group: a panic in it becomes its error.
func Wrap(work string, f func() error) func() error {
	return func() error { return Catch(work, f) }
}

// The pauses of Loop.
const (
	firstPause = time.Second
	lastPause  = time.Minute
)

// Loop returns f for an error group, as work that goes on as long as ctx: after a panic it waits, a second first,
// twice as long each further time up to a minute, and runs f again. It returns what f returned, or nil when ctx ends.
func Loop(ctx context.Context, work string, f func(context.Context) error) func() error {
	return func() error { return repeat(ctx, work, f) }
}

// repeat runs f again and again, for [Loop].
func repeat(ctx context.Context, work string, f func(context.Context) error) error {
	for pause := firstPause; ; pause = min(2*pause, lastPause) {
		var faulty bool
		err := Catch(work, func() (err error) {
			faulty = true
			err = f(ctx)
			faulty = false
			return err
		})
		if !faulty && !isFault(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(pause):
		}
	}
}

// isFault reports whether err is a fault itself, not one that it wraps.
func isFault(err error) bool {
	_, ok := err.(*Error) //nolint:errorlint // what f returned may wrap one that it has handled
	return ok
}

// Handler returns h for a server: a request that panics is answered with 500 (Internal Server Error) if nothing was
// answered yet, else its connection is closed, so that a short answer does not look whole. Other requests go on.
// [http.ErrAbortHandler] is left to net/http.
func Handler(work string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := &answer{ResponseWriter: w}
		defer func() {
			cause := recover()
			if cause == nil {
				return
			}
			if cause == http.ErrAbortHandler { //nolint:errorlint // net/http compares it so, too
				panic(cause)
			}
			_ = Note(work, cause)
			if a.begun {
				panic(http.ErrAbortHandler)
			}
			header := w.Header()
			clear(header)
			header.Set("Content-Type", "application/problem+json")
			header.Set("Cache-Control", "no-store")
			w.WriteHeader(http.StatusInternalServerError)
			_, _ = w.Write([]byte(`{"status":500,"title":"Internal Server Error",` +
				`"detail":"readthru failed at this request; its log says where"}` + "\n"))
		}()
		Begin(work)
		h.ServeHTTP(a, r)
	})
}

// answer notes whether an answer has begun.
type answer struct {
	http.ResponseWriter
	begun bool
}

// WriteHeader implements [http.ResponseWriter]: it notes that an answer has begun.
func (a *answer) WriteHeader(status int) {
	a.begun = a.begun || status >= 200 || status == http.StatusSwitchingProtocols
	a.ResponseWriter.WriteHeader(status)
}

// Write implements [http.ResponseWriter]: it notes that an answer has begun.
func (a *answer) Write(b []byte) (int, error) {
	a.begun = true
	return a.ResponseWriter.Write(b)
}

// Flush implements [http.Flusher], for handlers of others.
func (a *answer) Flush() {
	a.begun = true
	_ = http.NewResponseController(a.ResponseWriter).Flush() // a client that has gone shows in its request's context
}

// Unwrap is for [http.ResponseController].
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// Forever is [Loop] for a goroutine of its own.
func Forever(ctx context.Context, work string, f func(context.Context)) func() {
	return func() {
		_ = repeat(ctx, work, func(ctx context.Context) error { f(ctx); return nil }) // f has no error
	}
}
