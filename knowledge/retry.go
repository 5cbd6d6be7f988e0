package knowledge

import (
	"encoding/json"
	"math"
	"sync"
	"time"

	"readthru/page"
	"readthru/store"
)

// failedPrefix begins k/qf/<key>: a document that could not be indexed, and why.
const failedPrefix = "k/qf/"

const maxAttempts = 5

// retries keeps which documents failed to be indexed: when to try them again, and which were given up.
type retries struct {
	mu      sync.Mutex
	waiting map[page.Key]retry
	givenUp map[page.Key]struct{}
}

// retry is the next attempt to index a document.
type retry struct {
	failures int
	due      time.Time
}

// failure is what k/qf/ holds.
type failure struct {
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

// load reads which documents were given up.
func (r *retries) load(records *store.Records) {
	r.waiting, r.givenUp = map[page.Key]retry{}, map[page.Key]struct{}{}
	records.Keys(failedPrefix, "", func(key string) bool {
		if k, ok := keyIn(key, failedPrefix); ok {
			r.givenUp[k] = struct{}{}
		}
		return true
	})
}

// due reports whether a document may be tried now.
func (r *retries) due(key page.Key, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return !now.Before(r.waiting[key].due)
}

// len returns how many documents wait to be tried again.
func (r *retries) len() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.waiting)
}

// wait returns how long it is until the next document is due.
func (r *retries) wait(now time.Time) time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait := time.Duration(math.MaxInt64) // none waits
	for _, t := range r.waiting {
		wait = min(wait, max(t.due.Sub(now), 0))
	}
	return wait
}

// add records a failed attempt and reports whether there will be another: after 1, 2, 4 and 8 seconds.
func (r *retries) add(t *task, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	next := r.waiting[t.key]
	for _, j := range t.jobs {
		next.failures = max(next.failures, j.Attempts)
	}
	next.failures++
	if next.failures >= maxAttempts {
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
	delete(r.waiting, key)
	_, was := r.givenUp[key]
	c := store.Change{Key: failedPrefix + string(key[:])}
	if cause == nil {
		c.Gone = true
		delete(r.givenUp, key)
		return c, was
	}
	r.givenUp[key] = struct{}{}
	c.Value, _ = json.Marshal(failure{truncateRunes(cause.Error(), 500), time.Now().UTC()})
	return c, true
}

// failed returns how many documents were given up.
func (r *retries) failed() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.givenUp)
}
