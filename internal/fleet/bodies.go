package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// inRow is the most of a compressed content that stays in its row though there is an object store, in bytes: a
	// request for an object costs more.
	inRow = 8 << 10
)

// Bodies is the state of the object store that has the larger contents of a fleet.
type Bodies struct {
	State  string `json:"state"`            // ok, connecting or degraded
	Reason string `json:"reason,omitempty"` // why not ok, for people
	Remedy string `json:"remedy,omitempty"`

	Put      int64 `json:"put"`      // contents put, since the start
	Got      int64 `json:"got"`      // contents got
	Held     int64 `json:"held"`     // pages and responses that wait here until their content is taken
	Lost     int64 `json:"lost"`     // contents that were missing, or something else
	Repaired int64 `json:"repaired"` // contents put again because any node missed them
}

var (
	errNoBucket = errors.New("other nodes keep content in an object store, and this one has none")
	errNotNow   = errors.New("the object store is away")
	errRefused  = errors.New("the object store does not take it, though it takes others")
)

// bodiesOK reports whether contents can be put into the object store and got from it, as far as is known.
func (f *Fleet) bodiesOK() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.bucket != nil && f.state.Bodies.State == Connected
}

// noteBodies notes whether the object store did what it was asked to.
func (f *Fleet) noteBodies(err error) {
	now := Bodies{State: Connected}
	switch {
	case errors.Is(err, errNoBucket):
		now = Bodies{State: Disconnected, Reason: err.Error(), Remedy: "set fleet.bodies as on the other nodes"}
	case err != nil:
		now.State = Disconnected
		now.Reason, now.Remedy = f.bucket.Explain(err)
	}
	f.mu.Lock()
	is := &f.state.Bodies
	changed := is.State != now.State || is.Reason != now.Reason
	is.State, is.Reason, is.Remedy = now.State, now.Reason, now.Remedy
	f.mu.Unlock()
	switch {
	case !changed:
	case err != nil:
		f.log.Warn("the fleet's object store is away: content waits here", "reason", now.Reason, "remedy", now.Remedy)
	default:
		f.log.Info("the fleet's object store is there", "bucket", f.bucket.Name)
		f.untold.wake()
	}
}

// keepBodies looks for the object store while it is away, and puts into it again what nodes have missed there, until
// ctx ends.
func (f *Fleet) keepBodies(ctx context.Context) {
	for {
		if !f.bodiesOK() {
			if err := f.bucket.Try(ctx); ctx.Err() == nil {
				f.noteBodies(err)
			}
		} else if f.connected() {
			if err := f.repair(ctx); err != nil && ctx.Err() == nil {
				f.log.Debug("content that the object store has lost was not put again", "err", err)
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(beatEvery):
		}
	}
}

// A blob is the content of a row that is to be written: of a page, a response or a rendition.
type blob struct {
	hash   [32]byte
	packed []byte // nil after it was placed in the object store
	held   bool   // the object store does not take it just now
}

// place puts the contents of rows, their bodies, into the object store, if there is one, at most bucket.Tasks at once.
// Small ones stay in their rows, and so does one that the store refuses though it takes others.
func (f *Fleet) place(ctx context.Context, list []*blob) {
	if f.bucket == nil {
		return
	}
	var group sync.WaitGroup
	seats := make(chan struct{}, bucket.Tasks)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	for _, b := range list {
		if len(b.packed) <= inRow {
			continue
		}
		seats <- struct{}{}
		if b.held = !f.bodiesOK(); b.held {
			<-seats
			continue
		}
		group.Go(fault.Contain("fleet: end putting content", func() {
			defer func() { <-seats }()
			err := fault.Catch("fleet: put content", func() error { return f.bucket.Put(ctx, b.hash, b.packed, false) })
			switch {
			case err == nil:
			case ctx.Err() == nil && !bucket.IsBusy(err) && f.bucket.Answers(ctx): // the content stays in its row
				f.refuseContent(b.hash[:], err)
				return
			default:
				if b.held = true; ctx.Err() == nil {
					f.noteBodies(err)
					cancel() // the others would wait as long
				}
				return
			}
			b.packed = nil
			f.note(func(s *Status) { s.Bodies.Put++ })
		}))
	}
	group.Wait()
}

// refuseContent notes that the object store does not take a content, a body, though it takes others.
func (f *Fleet) refuseContent(hash []byte, err error) {
	reason, _ := f.bucket.Explain(err)
	f.tryLater("content", hex.EncodeToString(hash), page.Key{}, fmt.Errorf("%w: %s", errRefused, reason))
}

// bodyOf returns the content of a row. The error is errNoBucket or errNotNow for one that may come later,
// bucket.ErrLost for one that the object store has lost, which is told to the fleet, and wraps bucket.ErrObject for one
// that it does not give though it gives others.
func (f *Fleet) bodyOf(ctx context.Context, packed []byte, length int, hash []byte) ([]byte, error) {
	switch {
	case packed != nil || length == 0:
		return bucket.Unpack(packed, length, hash)
	case len(hash) != 32 || length < 0 || length > bucket.MaxContent:
		return nil, fmt.Errorf("it has %d bytes, and a hash of %d", length, len(hash))
	case f.bucket == nil:
		f.noteBodies(errNoBucket)
		return nil, errNoBucket
	case !f.bodiesOK():
		return nil, errNotNow
	}
	content, err := f.bucket.Get(ctx, [32]byte(hash), length)
	if err != nil && !errors.Is(err, bucket.ErrLost) && !bucket.IsBusy(err) && ctx.Err() == nil &&
		f.bucket.Answers(ctx) {
		if !bucket.RefusedWith(err, http.StatusForbidden) {
			reason, _ := f.bucket.Explain(err)
			return nil, fmt.Errorf("%w: %s", bucket.ErrObject, reason)
		}
		err = bucket.ErrLost // one who may not list is not told that an object is missing
	}
	switch {
	case err == nil:
		f.note(func(s *Status) { s.Bodies.Got++ })
	case errors.Is(err, bucket.ErrLost):
		f.note(func(s *Status) { s.Bodies.Lost++ })
		//nolint:contextcheck // who asked may be gone
		f.work.Go(fault.Contain("fleet: tell of lost content", func() { f.tellLost(hash) }))
	case ctx.Err() == nil:
		f.noteBodies(err)
		err = errNotNow
	default:
		err = errNotNow
	}
	return content, err
}

// tellLost tells the fleet that the object store has lost a content, the body of a page or response. One that is lost
// again and again is put again ever later.
func (f *Fleet) tellLost(hash []byte) {
	ctx, cancel := context.WithTimeout(context.Background(), statementTime)
	defer cancel()
	_, err := f.asking.ExecContext(ctx, `INSERT INTO lost AS l (hash) VALUES ($1)
		ON CONFLICT (hash) DO UPDATE SET repaired_at = NULL, times = greatest(least(l.times, 8640), 0) + 1
		WHERE l.repaired_at < now() - greatest(least(l.times, 8640), 0) * interval '10 seconds'
			OR l.repaired_at > now() + interval '1 minute'`, hash)
	if err != nil {
		f.log.Debug("content that the object store has lost was not told", "err", err)
	}
}

// A missed content is one that the object store has lost, with the page or the URL that it is of.
type missed struct {
	hash, page []byte
	url        *string
}

// missedBodies finds the pages and responses whose content the object store has lost, in the order of the hashes, from
// one on.
const missedBodies = `
	SELECT l.hash, p.key, NULL FROM lost AS l JOIN pages AS p ON p.body_hash = l.hash
	WHERE l.repaired_at IS NULL AND l.hash > $1 AND p.body IS NULL AND p.gone_at IS NULL
	UNION ALL SELECT l.hash, NULL, left(r.url, 65536) FROM lost AS l JOIN responses AS r ON r.body_hash = l.hash
	WHERE l.repaired_at IS NULL AND l.hash > $1 AND r.body IS NULL ORDER BY hash LIMIT $2`

// lookMissed is how many contents that were missed are looked at together.
const lookMissed = 1000

// repair puts contents, bodies, again that nodes have missed in the object store, and has nodes look at their pages
// again.
func (f *Fleet) repair(ctx context.Context) error {
	var m missed
	var list []missed
	err := f.query(ctx, missedBodies, []any{f.missedAt, lookMissed}, []any{&m.hash, &m.page, &m.url}, func() error {
		list = append(list, m)
		return nil
	})
	if err != nil {
		return err
	}
	f.missedAt = []byte{}
	if len(list) == lookMissed { // the next look is at what follows: there may be many that nobody has
		f.missedAt = list[len(list)-1].hash
	}
	var put [][]byte
	for i := range list {
		content := f.has(&list[i])
		id := hex.EncodeToString(list[i].hash)
		if content == nil || f.waits("content", id) {
			continue // another node may have it
		}
		err := f.bucket.Put(ctx, [32]byte(list[i].hash), bucket.Pack(content), true)
		switch {
		case err == nil:
			f.taken("content", id)
		case ctx.Err() == nil && !bucket.IsBusy(err) && f.bucket.Answers(ctx):
			f.refuseContent(list[i].hash, err)
			continue
		default:
			f.noteBodies(err)
			return err
		}
		put = append(put, list[i].hash)
		f.note(func(s *Status) { s.Bodies.Repaired++ })
	}
	if len(put) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err = f.db.ExecContext(ctx, `WITH put AS (
			UPDATE lost SET repaired_at = now() WHERE hash = ANY($1) RETURNING hash
		) UPDATE pages SET xid = pg_current_xact_id()
		WHERE body IS NULL AND gone_at IS NULL AND body_hash IN (SELECT hash FROM put)`, pq.ByteaArray(put))
	return err
}

// has returns a missed content, a body, if the node has it of that page or URL and may share it; else nil.
func (f *Fleet) has(m *missed) []byte {
	if len(m.hash) != 32 {
		return nil
	}
	if len(m.page) == 32 {
		p, err := f.o.Store.Page(page.Key(m.page))
		if err != nil || !shareable(&p.Record) {
			return nil
		}
		content, err := f.o.Store.Markdown(page.Key(m.page))
		if sum := sha256.Sum256(content); err != nil || string(sum[:]) != string(m.hash) {
			return nil
		}
		return content
	}
	if m.url == nil {
		return nil
	}
	if !shareableURI(*m.url) {
		return nil
	}
	list, _ := f.o.Store.Responses(*m.url) // without, it has none
	for _, r := range list {
		if string(r.Body[:]) == string(m.hash) && r.Partition == "" && r.Length <= maxShared {
			content, _ := f.content(r) // the same
			return content
		}
	}
	return nil
}

// content reads the whole body of a stored response of this node, which is at most maxShared bytes.
func (f *Fleet) content(r *store.Response) ([]byte, error) {
	body, err := f.o.Store.Body(r.Body)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	return io.ReadAll(body)
}
