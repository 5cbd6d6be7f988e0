package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"
	"golang.org/x/net/http/httpguts"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/store"
)

const (
	// flightTime is for how long others wait at most for a node that asks an origin, and then do so themselves.
	flightTime = 10 * time.Second

	// aloneTime is for how long nodes do not wait for each other where an answer was not shared.
	aloneTime = 30 * time.Second

	// looksWait is between two looks of a node that waits for another: at first, and at most.
	looksWait    = 4 * time.Millisecond
	maxLooksWait = 100 * time.Millisecond

	// maxVariants is how many stored responses of a URI are looked at, the newest first.
	maxVariants = 16

	// maxLate is after how many questions in a row that the database did not answer in time it is asked no more, for
	// breakTime.
	maxLate   = 3
	breakTime = 5 * time.Second

	// maxAhead is how far in the future a response may have been received, by the clock of another node; maxAheadSQL is
	// the same in SQL.
	maxAhead    = 10 * time.Minute
	maxAheadSQL = `interval '10 minutes'`

	// maxHead is the longest record of a response or a rendition that is read, in bytes.
	maxHead = 4 << 20

	// maxAsking is how many questions are under way at most.
	maxAsking = 32
)

// A breaker keeps requests from asking a database or an object store that does not answer in time: after maxLate late
// answers in a row nothing is asked for breakTime.
type breaker struct {
	mu    sync.Mutex
	late  int
	until time.Time
}

// open reports whether the database is not asked just now.
func (b *breaker) open() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return time.Now().Before(b.until)
}

// note notes whether what was asked was answered in time. After a break, the first late answer begins the next.
func (b *breaker) note(inTime bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if inTime {
		b.late = 0
		return
	}
	if b.late++; b.late >= maxLate {
		b.until, b.late = time.Now().Add(breakTime), maxLate-1
	}
}

// Ask looks for what other nodes have stored of a URI, before its origin is asked. If choose takes one of their stored
// responses, Ask puts it into the node's store and returns it. If another node asks the origin just now, Ask waits for
// what that gets.
//
// If it returns no response, the caller asks the origin, and calls done when it has told the fleet of the answer, or
// knows that there is nothing to tell: others may wait for that. Where nobody else asks the origin, Ask waits for the
// database twice at most, for Options.Wait each. choose must be quick; what it gets is not stored and has no ID.
func (f *Fleet) Ask(ctx context.Context, uri string, choose func([]*store.Response) *store.Response) (
	r *store.Response, done func(),
) {
	done = func() {}
	if !f.mayAsk(uri) {
		return nil, done
	}
	key := keyOf(uri)
	end := func() { //nolint:contextcheck // the request may be over by then
		f.work.Go(fault.Contain("fleet: end a flight", func() { f.endFlight(key) }))
	}
	for w := newWaiting(); ; {
		purges := f.o.Store.PurgeCount()
		found, err := f.look(ctx, key, uri, choose)
		switch {
		case err != nil:
			return nil, end // the database may have noted that this node asks
		case found.leased:
			done = end
		}
		busy := !found.leased && !found.fresh && !found.alone
		if found.chosen != nil && !busy {
			if r, err := f.importResponse(ctx, key, found.chosen, found.content, purges); err == nil {
				f.note(func(s *Status) { s.Reused++ })
				return r, done
			}
		}
		if !busy || !f.waitForNews(ctx, w, key) {
			return nil, done
		}
	}
}

// mayAsk reports whether the database may be asked about a URI, and answers just now.
func (f *Fleet) mayAsk(uri string) bool {
	return shareableURI(uri) && f.connected() && !f.breaker.open()
}

// waiting is how a request waits for what another node gets from an origin or makes.
type waiting struct {
	pause time.Duration // until the next look
	limit time.Time
	began bool
}

// newWaiting begins to wait for what was asked, for flightTime at most.
func newWaiting() *waiting { return &waiting{pause: looksWait, limit: time.Now().Add(flightTime)} }

// waitForNews waits, when the fleet is asked, until another node has ended what key names, and reports whether to look
// for what came of it. It does not if the time is over, or the database does not answer.
func (f *Fleet) waitForNews(ctx context.Context, w *waiting, key [32]byte) bool {
	if time.Now().After(w.limit) {
		return false
	}
	if !w.began {
		w.began = true
		f.note(func(s *Status) { s.Waited++ })
	}
	for {
		select {
		case <-ctx.Done():
			return false
		case <-time.After(w.pause/2 + rand.N(w.pause)):
		}
		if w.pause = min(w.pause*3/2, maxLooksWait); time.Now().After(w.limit) {
			return true
		}
		switch busy, err := f.busy(ctx, key); {
		case err != nil:
			return false
		case !busy:
			return true
		}
	}
}

// found is what the fleet's database has of a URI, and whether this node is to ask the origin.
type found struct {
	leased  bool            // this node is to ask the origin
	alone   bool            // every node is
	fresh   bool            // there is a fresh response, so nobody is
	chosen  *store.Response // a stored response that suits
	content whereabouts     // of chosen

	malformed []malformed
}

// malformed is a row of a response that is none, by its slot and the hash of its record, and why.
type malformed struct {
	slot []byte
	sum  [32]byte
	err  error
}

// whereabouts say where the content of a response is, unless it is in its row and large.
type whereabouts struct {
	packed []byte   // it is small
	away   bool     // in the object store
	sum    [32]byte // of the row's record
}

// flies is true in SQL if a flight is under way. One that ends later than any node says counts for nothing.
const flies = `until BETWEEN now() AND now() + interval '1 minute'`

// lookFor reads the stored responses of a URI, and in the same statement takes its flight for this node unless there is
// a fresh response, or another node has taken it. Two nodes that ask at once cannot both take it: the row of flights is
// one.
const lookFor = `
	WITH known AS (
		SELECT slot, form, record, body, response_time, fresh_until > now() AS fresh FROM responses AS r
		WHERE uri = $1 AND retain_until > now() AND NOT purged(url, host, tags, response_time)
			AND response_time < now() + ` + maxAheadSQL + ` AND octet_length(record) <= $6
		ORDER BY response_time DESC LIMIT $4
	), taken AS (
		INSERT INTO flights AS f (uri, node, until) SELECT $1, $2, now() + $3::interval
		WHERE NOT EXISTS (SELECT FROM known WHERE fresh)
		ON CONFLICT (uri) DO UPDATE SET node = excluded.node, until = excluded.until, alone = false
		WHERE NOT (f.` + flies + `)
		RETURNING true
	)
	SELECT EXISTS (SELECT FROM taken), EXISTS (SELECT FROM flights WHERE uri = $1 AND alone AND ` + flies + `),
		EXISTS (SELECT FROM known WHERE fresh), known.slot, known.form, known.record,
		CASE WHEN octet_length(known.body) <= $5 THEN known.body END, known.body IS NULL
	FROM (SELECT) AS one LEFT JOIN known ON true ORDER BY response_time DESC`

// look asks the database once what it has of a URI, within Options.Wait, and lets choose take one of the responses that
// no purge covers.
func (f *Fleet) look(ctx context.Context, key [32]byte, uri string,
	choose func([]*store.Response) *store.Response,
) (found, error) {
	var is found
	var list []*store.Response
	contents := map[*store.Response]whereabouts{}
	purges := f.o.Store.Purges() // one that is told while the database answers is in neither of them
	err := f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
		var form *int
		var slot, record []byte
		var of whereabouts
		return query(ctx, f.askingOften, lookFor, []any{
			key[:], f.o.Node, flightTime.String(), maxVariants, inRow, maxHead,
		}, []any{&is.leased, &is.alone, &is.fresh, &slot, &form, &record, &of.packed, &of.away}, func() error {
			if form == nil || *form != store.ResponseForm {
				return nil
			}
			switch r, err := readResponse(uri, slot, record); {
			case err != nil:
				is.malformed = append(is.malformed, malformed{bytes.Clone(slot), sha256.Sum256(record), err})
			case trustable(r):
				of.sum = sha256.Sum256(record)
				list, contents[r] = append(list, r), of
			}
			return nil
		})
	})
	if err != nil {
		return found{}, err
	}
	for _, m := range is.malformed {
		f.dropResponse(key, uri, m) //nolint:contextcheck // it outlives who asks
	}
	list = slices.DeleteFunc(list, func(r *store.Response) bool {
		return f.o.Store.Purged(r) || slices.ContainsFunc(purges, func(p store.Purge) bool { return p.Covers(r) })
	})
	if len(list) > 0 {
		is.chosen = choose(list)
		is.content = contents[is.chosen]
	}
	return is, nil
}

// readResponse returns the stored response that was asked for, of a row, after it was checked to be one of a URI and a
// slot.
func readResponse(uri string, slot, record []byte) (*store.Response, error) {
	r, ok := store.DecodeResponse(record)
	if !ok {
		return nil, errors.New("its record cannot be read")
	}
	if s := slotOf(r); r.URL != uri || r.Partition != "" || !bytes.Equal(s.selects[:], slot) {
		return nil, errNotItsOwn
	}
	return r, nil
}

// dropResponse sets a row aside that has not the response that was asked for, and removes it: no node can use it, and
// while it is there none waits for another.
func (f *Fleet) dropResponse(key [32]byte, uri string, m malformed) {
	f.setAside("response", uri, m.err)
	f.work.Go(fault.Contain("fleet: end a malformed response", func() {
		err := f.inTime(context.Background(), &f.breaker, func(ctx context.Context) error {
			_, err := f.asking.ExecContext(ctx, // unless another one has taken its place
				"DELETE FROM responses WHERE uri = $1 AND slot = $2 AND sha256(record) = $3", key[:], m.slot, m.sum[:])
			return err
		})
		if err != nil {
			f.log.Debug("malformed response not removed", "err", err)
		}
	}))
}

// trustable reports whether a stored response that the fleet was asked for is one that this node could have stored:
// others write the database, so its status, times, length and fields are checked.
func trustable(r *store.Response) bool {
	if r.Status < 200 || r.Status > 599 || r.Status == 206 || r.Length < 0 || r.Length > maxShared ||
		time.Until(r.ResponseTime) > maxAhead || r.RequestTime.After(r.ResponseTime) {
		return false
	}
	for name, values := range r.Header {
		if !httpguts.ValidHeaderFieldName(name) {
			return false
		}
		for _, value := range values {
			if !httpguts.ValidHeaderFieldValue(value) {
				return false
			}
		}
	}
	return true
}

// isKnown is true in SQL if the fleet has what the flight $1 is for: a fresh response of a URI, or a rendition.
const isKnown = `(EXISTS (SELECT FROM responses WHERE uri = $1 AND fresh_until > now()
		AND response_time < now() + ` + maxAheadSQL + `)
	OR EXISTS (SELECT FROM renditions WHERE id = $1 AND expires > now()))`

// busy reports whether another node still asks the origin, or makes the rendition, that key names, and there is no news
// of it.
func (f *Fleet) busy(ctx context.Context, key [32]byte) (busy bool, err error) {
	err = f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
		return query(ctx, f.askingOften, `SELECT EXISTS (SELECT FROM flights WHERE uri = $1 AND NOT alone AND `+flies+`)
			AND NOT `+isKnown, []any{key[:]}, []any{&busy}, func() error { return nil })
	})
	if err != nil {
		return false, err
	}
	return busy, nil
}

// importResponse fetches the content of a stored response that was asked for, where it is not at hand, and stores both.
// It returns an error if the content is not what its hash says, or if something was purged since purges were counted:
// it may have been this response.
func (f *Fleet) importResponse(ctx context.Context, key [32]byte, r *store.Response, of whereabouts, purges int64,
) (*store.Response, error) {
	packed, found := of.packed, of.packed != nil || of.away
	var err error
	if !found {
		s := slotOf(r)
		err = f.inTime(ctx, &f.breaker, func(ctx context.Context) error {
			const bodyOf = `SELECT body, true FROM responses WHERE uri = $1 AND slot = $2 AND body_hash = $3
				AND octet_length(body) <= $4`
			return query(ctx, f.askingOften, bodyOf,
				[]any{key[:], s.selects[:], r.Body[:], maxPacked}, []any{&packed, &found}, func() error { return nil })
		})
	}
	switch {
	case err != nil:
		return nil, err
	case !found:
		return nil, errors.New("it was replaced")
	}
	content, err := f.contentInTime(ctx, packed, int(r.Length), r.Body[:])
	if errors.Is(err, errContent) {
		s := slotOf(r)
		f.dropResponse(key, r.URL, malformed{s.selects[:], of.sum, err}) //nolint:contextcheck // it outlives who asks
	}
	if err != nil {
		return nil, err
	}
	if now := time.Now(); r.ResponseTime.After(now) { // the other node's clock is ahead
		r.RequestTime, r.ResponseTime = now.Add(r.RequestTime.Sub(r.ResponseTime)), now
	}
	if err := f.o.Store.PutResponse(r, bytes.NewReader(content), nil); err != nil {
		return nil, err
	}
	if f.o.Store.PurgeCount() != purges {
		return nil, errors.Join(errors.New("something was purged meanwhile"), f.o.Store.DeleteResponse(r.URL, r.ID))
	}
	f.taken("response", r.URL)
	return r, nil
}

// contentInTime returns the content of a row that was asked for: packed, or, if that is nil, the object of its hash,
// within Options.Wait.
func (f *Fleet) contentInTime(ctx context.Context, packed []byte, length int, hash []byte) ([]byte, error) {
	switch {
	case packed != nil || length == 0:
		content, err := bucket.Unpack(packed, length, hash)
		if err != nil {
			err = fmt.Errorf("%w: %w", errContent, err)
		}
		return content, err
	case f.bucketBreaker.open():
		return nil, errNotNow
	}
	var content []byte
	var cause error // which says nothing of how long it took
	err := f.inTime(ctx, &f.bucketBreaker, func(ctx context.Context) error {
		content, cause = f.bodyOf(ctx, nil, length, hash)
		return ctx.Err()
	})
	if err != nil {
		return nil, err // the question may still be under way, and write into content
	}
	return content, cause
}

// errContent is the error for a content in a row that is not what its hash says.
var errContent = errors.New("its content cannot be used")

// isOfRow reports whether the database answered in time, that it cannot do what it was asked to for what a row has.
func isOfRow(err error) bool {
	e, ok := errors.AsType[*pq.Error](err)
	return ok && (isAboutData(e) || strings.HasPrefix(string(e.Code), "XX"))
}

// inTime asks the database or the object store within Options.Wait, for a request. What comes later is thrown away, and
// noted for the breaker. At most maxAsking questions are under way, since one that is given up may go on in the driver.
func (f *Fleet) inTime(ctx context.Context, breaker *breaker, ask func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, f.o.Wait)
	defer cancel()
	select {
	case f.seats <- struct{}{}:
	case <-ctx.Done():
		return ctx.Err()
	}
	answer := make(chan error, 1)
	f.work.Go(fault.Contain("fleet: end an answer", func() { // the driver may need longer than ctx to give up
		defer func() { <-f.seats }()
		answer <- fault.Catch("fleet: ask", func() error { return ask(ctx) })
	}))
	select {
	case err := <-answer:
		if ctx.Err() == nil || err == nil {
			breaker.note(err == nil || isOfRow(err))
		}
		return err
	case <-ctx.Done():
		if errors.Is(ctx.Err(), context.DeadlineExceeded) {
			breaker.note(false)
			f.note(func(s *Status) { s.Late++ })
		}
		return ctx.Err()
	}
}

// endFlight says to those who ask that this node has nothing to tell of a URI or rendition, so that others need not
// wait, unless what they wait for is about to be told. It lets all of them ask the origin themselves for aloneTime.
func (f *Fleet) endFlight(key [32]byte) {
	if f.untold.waits(key) {
		return
	}
	// Without it, others wait until the time is over.
	_ = f.inTime(context.Background(), &f.breaker, func(ctx context.Context) error {
		_, err := f.asking.ExecContext(ctx, `UPDATE flights SET alone = true, until = now() + $3::interval
			WHERE uri = $1 AND node = $2 AND NOT `+isKnown,
			key[:], f.o.Node, aloneTime.String())
		return err
	})
}
