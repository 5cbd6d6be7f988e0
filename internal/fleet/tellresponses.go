package fleet

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// maxShared is the largest content of a stored response that the fleet is told of, in bytes.
	maxShared = 8 << 20

	// maxUntold is how many stored responses wait at most to be told. What is over, and what waits when the node ends,
	// others ask their origins for.
	maxUntold = 4096

	// batchResponses is how many are told together.
	batchResponses = 64
)

// untold are the stored responses of this node that the fleet is to be told of, the newest of each slot.
type untold struct {
	mu    sync.Mutex
	list  map[slot]*stored
	ready chan struct{} // capacity 1
}

// slot identifies a URI and what selects one of its responses.
type slot struct{ uri, selects [32]byte }

// stored is a stored response that the fleet is to be told of.
type stored struct {
	*store.Response
	freshUntil time.Time
	held       bool // until the object store is there; under untold.mu
}

// slotOf returns the slot of a response that is told.
func slotOf(r *store.Response) slot {
	text, _ := json.Marshal([]any{r.Class, r.Selecting}) // strings can be marshalled
	return slot{keyOf(r.URL), sha256.Sum256(text)}
}

// Tell has the fleet told of a response that was stored just now and may answer anybody. r must not change any more.
func (f *Fleet) Tell(r *store.Response, freshUntil time.Time) {
	if !shareableURI(r.URL) || r.Length > maxShared || textOf(r.URL) != r.URL {
		return
	}
	f.untold.mu.Lock()
	defer f.untold.mu.Unlock()
	s := slotOf(r)
	if _, waits := f.untold.list[s]; !waits && len(f.untold.list) >= maxUntold {
		return
	}
	f.untold.list[s] = &stored{Response: r, freshUntil: freshUntil}
	f.untold.wake()
}

// wake has the goroutine that tells look at what waits.
func (u *untold) wake() {
	select {
	case u.ready <- struct{}{}:
	default:
	}
}

// waits reports whether a response of a URI is about to be told.
func (u *untold) waits(uri [32]byte) bool {
	u.mu.Lock()
	defer u.mu.Unlock()
	for s, r := range u.list {
		if s.uri == uri && !r.held {
			return true
		}
	}
	return false
}

// next returns some of the stored responses that wait to be told, at most batchResponses and batchBytes, and if held is
// true those, too, that waited for the object store.
func (u *untold) next(held bool) map[slot]*stored {
	u.mu.Lock()
	defer u.mu.Unlock()
	next, size := map[slot]*stored{}, int64(0)
	for s, r := range u.list {
		if r.held && !held {
			continue
		}
		if len(next) >= batchResponses || len(next) > 0 && size+r.Length > batchBytes {
			break
		}
		r.held, next[s] = false, r
		size += r.Length
	}
	return next
}

// done takes responses that were told from the list, unless something newer has taken their place, or they wait for the
// object store.
func (u *untold) done(told map[slot]*stored) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for s, r := range told {
		if u.list[s] == r && !r.held {
			delete(u.list, s)
		}
	}
}

// hold notes that a response cannot be told before the object store is there.
func (u *untold) hold(r *stored) {
	u.mu.Lock()
	defer u.mu.Unlock()
	r.held = true
}

// heldNow returns how many responses wait for the object store.
func (u *untold) heldNow() (n int64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, r := range u.list {
		if r.held {
			n++
		}
	}
	return n
}

// tell tells the fleet of stored responses until ctx ends.
func (f *Fleet) tell(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-f.untold.ready:
		}
		for next := f.untold.next(f.bodiesOK()); len(next) > 0; next = f.untold.next(f.bodiesOK()) {
			if err := f.tellResponses(ctx, next); err != nil {
				select {
				case <-ctx.Done():
					return
				case <-time.After(beatEvery):
				}
				continue
			}
			f.untold.done(next)
		}
	}
}

// upsertResponses writes stored responses, each unless the database has one of its slot that was received later, or was
// written in a newer form. One from the future is replaced.
const upsertResponses = `
	INSERT INTO responses AS r (uri, slot, url, host, tags, node, response_time, fresh_until, retain_until, form, record,
		body, body_hash, body_length)
	SELECT n.uri, n.slot, n.url, n.host, COALESCE(string_to_array(NULLIF(n.tags, ''), E'\n'), '{}'), $1,
		timestamptz 'epoch' + n.response_time * interval '1 microsecond',
		timestamptz 'epoch' + n.fresh_until * interval '1 microsecond',
		timestamptz 'epoch' + n.retain_until * interval '1 microsecond', $2, n.record, NULLIF(n.body, ''), n.body_hash,
		n.body_length
	FROM unnest($3::bytea[], $4::bytea[], $5::text[], $6::text[], $7::text[], $8::bigint[], $9::bigint[], $10::bigint[],
		$11::bytea[], $12::bytea[], $13::bytea[], $14::int[])
		AS n (uri, slot, url, host, tags, response_time, fresh_until, retain_until, record, body, body_hash, body_length)
	ON CONFLICT (uri, slot) DO UPDATE SET
		node = excluded.node, tags = excluded.tags, response_time = excluded.response_time,
		fresh_until = excluded.fresh_until, retain_until = excluded.retain_until, form = excluded.form,
		record = excluded.record, body = excluded.body, body_hash = excluded.body_hash, body_length = excluded.body_length
	WHERE excluded.response_time > r.response_time AND excluded.form >= r.form
		OR r.response_time > now() + ` + maxAheadSQL

// tellResponses writes stored responses, and says that this node no longer asks for them. What a purge covers is left
// out by those who read.
func (f *Fleet) tellResponses(ctx context.Context, list map[slot]*stored) error {
	if !f.connected() {
		return errors.New("the database is away")
	}
	blobs := map[slot]*blob{}
	for s, r := range list {
		content, err := f.content(r.Response)
		if err != nil {
			continue // it was removed since
		}
		blobs[s] = &blob{hash: r.Body, packed: bucket.Pack(content)}
	}
	f.place(ctx, slices.Collect(maps.Values(blobs)))
	var uris, slots, records, bodies, sums, held [][]byte
	var urls, hosts, tags []string
	var at, fresh, retain, lengths []int64
	for s, b := range blobs {
		r := list[s]
		if b.held {
			f.untold.hold(r)
			held = append(held, bytes.Clone(s.uri[:]))
			continue
		}
		record := *r.Response
		record.ID = store.EntryID{}
		uris, slots = append(uris, bytes.Clone(s.uri[:])), append(slots, bytes.Clone(s.selects[:]))
		urls, hosts = append(urls, r.URL), append(hosts, page.AuthorityOf(r.URL))
		tags = append(tags, textOf(strings.Join(r.Tags, "\n")))
		at, fresh = append(at, r.ResponseTime.UnixMicro()), append(fresh, r.freshUntil.UnixMicro())
		retain = append(retain, r.Retain.UnixMicro())
		records, bodies = append(records, record.Encode()), append(bodies, b.packed)
		sums, lengths = append(sums, bytes.Clone(r.Body[:])), append(lengths, r.Length)
	}
	if len(uris)+len(held) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or its error is returned
	// A cache may lose the last moment when the server fails.
	_, err = tx.ExecContext(ctx, "SET LOCAL synchronous_commit = off")
	if err == nil && len(uris) > 0 {
		_, err = tx.ExecContext(ctx, upsertResponses, f.o.Node, store.ResponseForm, pq.ByteaArray(uris),
			pq.ByteaArray(slots), pq.StringArray(urls), pq.StringArray(hosts), pq.StringArray(tags), pq.Int64Array(at),
			pq.Int64Array(fresh), pq.Int64Array(retain), pq.ByteaArray(records), pq.ByteaArray(bodies), pq.ByteaArray(sums),
			pq.Int64Array(lengths))
	}
	if e, ok := errors.AsType[*pq.Error](err); ok && isAboutData(e) {
		if len(uris) == 1 {
			f.log.Warn("stored response not told to the fleet", "id", fmt.Sprintf("%x", uris[0][:8]), "err", e.Message)
			return nil
		}
		_ = tx.Rollback() // the connection is needed
		for s, r := range list {
			if err := f.tellResponses(ctx, map[slot]*stored{s: r}); err != nil {
				return err
			}
		}
		return nil
	}
	if err == nil {
		// The row stays for a moment: a node that looked just before this commits must not take the flight.
		_, err = tx.ExecContext(ctx, `UPDATE flights AS f SET until = now() + interval '1 second',
				alone = NOT EXISTS (SELECT FROM responses AS r WHERE r.uri = f.uri AND r.fresh_until > now())
			WHERE node = $1 AND uri = ANY($2)`, f.o.Node, pq.ByteaArray(append(held, uris...)))
	}
	if err == nil {
		err = tx.Commit()
	}
	if err == nil {
		f.note(func(s *Status) { s.Told += int64(len(uris)) })
	}
	return err
}

// textOf returns s, which is told, without what a text of PostgreSQL cannot hold: bytes that are not UTF-8, and the
// character U+0000.
func textOf(s string) string { return strings.ToValidUTF8(strings.ReplaceAll(s, "\x00", ""), "") }

// keyOf returns the key under which the responses of a URI are told to the database: its SHA-256, because URIs are
// longer than a key of an index may be.
func keyOf(uri string) [32]byte { return sha256.Sum256([]byte(uri)) }
