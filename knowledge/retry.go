package knowledge

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// failedPrefix begins k/qf/<key>: a document that could not be indexed, and why.
const failedPrefix = "k/qf/"

// maxAttempts is how often a document is tried: once, and three times more.
const maxAttempts = 4

// retries keeps which documents failed to be indexed: when to try them again, in memory, and which were given up, which
// are records, too.
type retries struct {
	mu      sync.Mutex
	waiting map[page.Key]retry
	givenUp map[page.Key]struct{}
}

// retry is the next attempt to index a document.
type retry struct {
	failures int
	due      time.Time
	cause    error
}

// failure is what k/qf/ holds.
type failure struct {
	Error    string    `json:"error"`
	Time     time.Time `json:"time"`
	Attempts int       `json:"attempts,omitempty"`
}

// load reads which documents were given up. Those that only waited for another attempt are tried at once: their jobs
// are still queued.
func (r *retries) load(records *store.Records) {
	r.waiting, r.givenUp = map[page.Key]retry{}, map[page.Key]struct{}{}
	records.Keys(failedPrefix, "", func(key string) bool {
		if k, ok := archive.KeyIn(key, failedPrefix); ok {
			r.givenUp[k] = struct{}{}
		}
		return true
	})
}

// due reports whether a document may be indexed now: it never failed, or its pause is over.
func (r *retries) due(key page.Key, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !now.Before(r.waiting[key].due)
}

// len returns how many documents wait for another attempt to index them.
func (r *retries) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// wait returns how long it is until the next document is to be tried again; for ever if none is.
func (r *retries) wait(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := time.Duration(math.MaxInt64) // none waits
	for _, t := range r.waiting {
		wait = min(wait, max(t.due.Sub(now), 0))
	}
	return wait
}

// add records a failed attempt and reports whether there will be another: after 1, 2 and 4 seconds.
func (r *retries) add(t *task, cause error, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.waiting[t.key]
	for _, j := range t.jobs {
		next.failures = max(next.failures, j.Attempts)
	}
	next.failures++
	next.cause = cause
	if next.failures >= maxAttempts {
		r.waiting[t.key] = next // settle follows
		return false
	}
	next.due = now.Add(time.Second << (next.failures - 1))
	r.waiting[t.key] = next
	return true
}

// settle ends the attempts to index a document: it was indexed, or given up because of cause. It returns the change to
// write, if there is one.
func (r *retries) settle(key page.Key, cause error) (store.Change, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	attempts := r.waiting[key].failures
	delete(r.waiting, key)
	_, was := r.givenUp[key]
	c := store.Change{Key: failedPrefix + string(key[:])}
	if cause == nil {
		c.Gone = true
		delete(r.givenUp, key)
		return c, was
	}
	r.givenUp[key] = struct{}{}
	c.Value, _ = json.Marshal(failure{clip.Runes(cause.Error(), 500), time.Now().UTC(), attempts})
	return c, true
}

// release forgets that a document was given up, and writes further changes with that.
func (r *retries) release(records *store.Records, key page.Key, further ...store.Change) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	err := records.Apply(append(further, store.Change{Key: failedPrefix + string(key[:]), Gone: true})...)
	if err == nil {
		delete(r.givenUp, key)
	}
	return err
}

// jobs returns the documents that wait to be tried again.
func (r *retries) jobs() (list []Job) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key, t := range r.waiting {
		list = append(list, Job{
			key: key, ID: key.Doc(), State: JobWaiting, Attempts: t.failures, Error: clip.Runes(t.cause.Error(), 500),
			Time: t.due.UTC(),
		})
	}
	return list
}

// failed returns how many documents were given up because they could not be indexed.
func (r *retries) failed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.givenUp)
}
