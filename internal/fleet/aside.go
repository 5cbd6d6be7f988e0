package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Aside is what others have told that this node does not take over just now.
type Aside struct {
	Kind   string     `json:"kind"` // page, purge, user, host, base, response, rendition or content
	ID     string     `json:"id"`
	Reason string     `json:"reason"`
	Remedy string     `json:"remedy"`
	Time   time.Time  `json:"time"`
	Again  *time.Time `json:"again,omitempty"` // when it is tried again by itself; nil: when it changes
}

const (
	// maxAside is how many of those that were set aside are named, the newest, and maxAsideText how many bytes of an id
	// and of a reason. maxAsideKept is how many are kept in mind: those before wait for the next start.
	maxAside     = 100
	maxAsideText = 300
	maxAsideKept = 10_000

	// firstPause is after which time a row that could not be taken over is tried again at first, and lastPause at most.
	firstPause = 5 * time.Second
	lastPause  = time.Hour
)

// asideRow is a row of the fleet's database that was set aside.
type asideRow struct {
	Aside
	pause time.Duration // until it is tried again; 0: it is not
	page  page.Key      // of a row of pages
}

// asideKey identifies a row in Fleet.asides.
type asideKey struct{ kind, id string }

// remedyFor says what may be done about a row that is set aside.
func remedyFor(err error, again bool) string {
	switch {
	case errors.Is(err, errFuture):
		return "set the clocks of all nodes by NTP"
	case errors.Is(err, bucket.ErrLost), errors.Is(err, bucket.ErrObject):
		return "nothing at first: a node that has the content puts it again, and it is tried again, after growing pauses"
	case errors.Is(err, errRefused):
		return "see the object store's log; the content is in the database instead"
	case again:
		return "nothing at first: it is tried again, after growing pauses; else see the log of the database's server"
	}
	return "remove the row from the fleet's database, unless a newer readthru has written it"
}

// setAside notes that a row is not taken over. It is looked at again when it changes, or another database comes, and
// after the node has started again.
func (f *Fleet) setAside(kind, id string, err error) { f.putAside(kind, id, page.Key{}, 0, err) }

// tryLater is setAside for what may pass by itself: the row is tried again, after a pause that grows each time.
func (f *Fleet) tryLater(kind, id string, key page.Key, err error) {
	f.putAside(kind, id, key, firstPause, err)
}

// putAside notes that a row of the database is not taken over, and why. With first it is tried again after that pause,
// and each time after twice the pause before.
func (f *Fleet) putAside(kind, id string, key page.Key, first time.Duration, err error) {
	now := time.Now().UTC()
	a := asideRow{
		Aside: Aside{
			Kind: kind, ID: clip.Bytes(id, maxAsideText), Reason: clip.Bytes(err.Error(), maxAsideText),
			Remedy: remedyFor(err, first > 0), Time: now,
		},
		page: key,
	}
	f.mu.Lock()
	old, known := f.asides[asideKey{kind, id}]
	if first > 0 {
		a.pause = min(max(first, 2*old.pause), lastPause)
		a.Again = new(now.Add(a.pause))
	}
	if !known && len(f.asides) >= maxAsideKept {
		f.forgetOldestAside()
	}
	f.asides[asideKey{kind, id}] = a
	news := !known || old.Reason != a.Reason
	if news && (first == 0 || errors.Is(err, errMalformed)) {
		f.state.Refused++
	}
	f.mu.Unlock()
	if news {
		f.log.Warn("row of the fleet set aside", "kind", kind, "id", a.ID, "err", err, "again", a.pause)
	}
}

// forgetOldestAside makes room among the rows that were set aside, which are bounded because others write them. The
// caller holds mu.
func (f *Fleet) forgetOldestAside() {
	var oldest asideKey
	var at time.Time
	for k, a := range f.asides {
		if at.IsZero() || a.Time.Before(at) {
			oldest, at = k, a.Time
		}
	}
	delete(f.asides, oldest)
}

// taken notes that a row of the database was taken over, or needs to be no more: it is not aside.
func (f *Fleet) taken(kind, id string) {
	f.mu.Lock()
	delete(f.asides, asideKey{kind, id})
	f.mu.Unlock()
}

// forgetAsides forgets all rows that were set aside: this is another database.
func (f *Fleet) forgetAsides() {
	f.mu.Lock()
	clear(f.asides)
	f.mu.Unlock()
}

// hasAside reports whether any row of a kind is aside.
func (f *Fleet) hasAside(kind string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k := range f.asides {
		if k.kind == kind {
			return true
		}
	}
	return false
}

// waits reports whether a row was set aside and is not due to be tried again yet.
func (f *Fleet) waits(kind, id string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	a, known := f.asides[asideKey{kind, id}]
	return known && a.Again != nil && time.Now().Before(*a.Again)
}

// namedAside returns how many rows are aside, and the newest of them, the newest last. Under mu.
func (f *Fleet) namedAside() (n int, newest []Aside) {
	for k, a := range f.asides {
		if (k.kind == "response" || k.kind == "rendition" || k.kind == "content") && time.Since(a.Time) > lastPause {
			delete(f.asides, k) // its row was removed, or the content is in its row
			continue
		}
		newest = append(newest, a.Aside)
	}
	slices.SortFunc(newest, func(a, b Aside) int {
		return cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	return len(newest), newest[max(0, len(newest)-maxAside):]
}

// pagesDue returns the keys of pages that were set aside and are to be tried again, at most a batch of them.
func (f *Fleet) pagesDue(now time.Time) (keys [][]byte) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for k, a := range f.asides {
		if k.kind == "page" && a.Again != nil && !now.Before(*a.Again) && len(keys) < batchPages {
			keys = append(keys, slices.Clone(a.page[:]))
		}
	}
	return keys
}

// tryAgain takes over the pages that were set aside and are due to be tried again.
func (f *Fleet) tryAgain(ctx context.Context) error {
	keys := f.pagesDue(time.Now())
	if len(keys) == 0 {
		return nil
	}
	known, err := f.known(ctx, keys)
	if err != nil {
		return err
	}
	var rows []row
	for _, k := range keys {
		if r := known[page.Key(k)]; r != nil {
			rows = append(rows, *r)
		} else { // it was removed
			f.taken("page", page.Key(k).Doc())
		}
	}
	skipped, err := f.takeAll(ctx, rows)
	if err != nil || !skipped {
		return err
	}
	return f.markSkipped(f.position, f.position.AsideXID, f.position.AsideKey)
}

// catchTaking takes over a row that may be set aside. A panic in that is its error.
func catchTaking(kind, id string, take func() error) error {
	return fault.CatchJob("fleet: take a "+kind, id, take)
}

// takeOne takes over a row that may be set aside. If that panics the row is set aside, so that those behind it are
// taken over.
func (f *Fleet) takeOne(kind, id string, take func() error) error {
	err := catchTaking(kind, id, take)
	if fault.Is(err) {
		f.setAside(kind, id, err)
		return nil
	}
	return err
}

// mayBeRow reports whether an error may be due to a single row, which is then set aside: the node's own store takes
// writes, and the database answers.
func (f *Fleet) mayBeRow(ctx context.Context, err error) bool {
	if ctx.Err() != nil || errors.Is(err, store.ErrFull) {
		return false
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	return f.db.PingContext(ctx) == nil
}

// The times that infinity of PostgreSQL is read as. database/sql reads it as no time, so that one row with it would end
// each look.
var (
	leastTime    = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	greatestTime = time.Date(10000, 1, 1, 0, 0, 0, 0, time.UTC)
)

func init() { pq.EnableInfinityTs(leastTime, greatestTime) }

// maxFuture is how far in the future something may have happened, by the clock of another node. What is later would
// count for ever as the latest.
const maxFuture = 24 * time.Hour

var (
	errNotItsOwn = errors.New("its record names another one")

	errNoTime = errors.New("its time is out of range")
	errFuture = fmt.Errorf("it is more than %v in the future", maxFuture)
)

// checkTime returns an error, for which a row is set aside, for a time that JSON cannot say, or that is before there
// was a web, and errFuture.
func checkTime(t time.Time) error {
	switch {
	case t.Year() < 1990 || !t.Before(greatestTime):
		return errNoTime
	case time.Until(t) > maxFuture:
		return errFuture
	}
	return nil
}
