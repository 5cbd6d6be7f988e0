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

// doubts is about documents that failed to be indexed: when to try them again, and which were given up.
type doubts struct {
	mu      sync.Mutex
	tries   map[page.Key]try
	givenUp map[page.Key]struct{}
}

type try struct {
	attempts int
	next     time.Time
}

// failure is what k/qf/ holds.
type failure struct {
	Error string    `json:"error"`
	Time  time.Time `json:"time"`
}

func (d *doubts) load(records *store.Records) {
	d.tries, d.givenUp = map[page.Key]try{}, map[page.Key]struct{}{}
	records.Keys(failedPrefix, "", func(key string) bool {
		if k, ok := keyIn(key, failedPrefix); ok {
			d.givenUp[k] = struct{}{}
		}
		return true
	})
}

// due reports whether a document may be tried now.
func (d *doubts) due(key page.Key, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !now.Before(d.tries[key].next)
}

// waiting returns how many documents wait to be tried again.
func (d *doubts) waiting() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tries)
}

// next returns how long it is until a document is due.
func (d *doubts) next(now time.Time) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	wait := time.Duration(math.MaxInt64)
	for _, t := range d.tries {
		wait = min(wait, max(t.next.Sub(now), 0))
	}
	return wait
}

// again notes a failed attempt, and reports whether there will be another: after 1, 2, 4 and 8 seconds.
func (d *doubts) again(t *task, now time.Time) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	at := d.tries[t.key]
	for _, j := range t.jobs {
		at.attempts = max(at.attempts, j.Attempts)
	}
	at.attempts++
	if at.attempts >= maxAttempts {
		return false
	}
	at.next = now.Add(time.Second << (at.attempts - 1))
	d.tries[t.key] = at
	return true
}

// settle ends a document's doubts, with the reason it was given up for, or none. It returns what is to be written.
func (d *doubts) settle(key page.Key, cause error) (store.Change, bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	delete(d.tries, key)
	_, was := d.givenUp[key]
	c := store.Change{Key: failedPrefix + string(key[:])}
	if cause == nil {
		c.Gone = true
		delete(d.givenUp, key)
		return c, was
	}
	d.givenUp[key] = struct{}{}
	c.Value, _ = json.Marshal(failure{cutRunes(cause.Error(), 500), time.Now().UTC()})
	return c, true
}

func (d *doubts) failed() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.givenUp)
}
