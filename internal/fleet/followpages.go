package fleet

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// lookPages is how many changes are looked at together.
	lookPages = 1000

	// maxPacked and maxRecord are the longest compressed markdown and the longest record that are read, in bytes.
	maxPacked = bucket.MaxContent + 1<<20
	maxRecord = 16 << 20
)

// The rows of a transaction are seen when it ends, in another order than transactions began. So a look ends before the
// oldest transaction that still runs, and what that one writes comes later.
const changesSince = `
	SELECT xid, key, fetched_at, gone_at, left(content_hash, 65), status,
		greatest(body_length, octet_length(body), octet_length(record)) FROM pages
	WHERE (xid, key) > ($1::xid8, $2::bytea) AND xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY xid, key LIMIT $3`

// follow takes over the pages that other nodes read or deleted, from where this node stands in the table pages, and
// reports whether there may be more.
func (f *Fleet) follow(ctx context.Context) (more bool, err error) {
	next := f.position
	var changes []row
	var key []byte
	var r row
	err = f.query(ctx, changesSince, []any{strconv.FormatUint(next.XID, 10), next.Key, lookPages},
		[]any{&next.XID, &key, &r.fetchedAt, &r.goneAt, &r.hash, &r.status, &r.length}, func() error {
			next.Key = key
			if len(key) == len(r.key) {
				r.key = page.Key(key)
				changes = append(changes, r)
			}
			return nil
		})
	if err != nil || len(changes) == 0 {
		return false, err
	}
	skipped, err := f.takeAll(ctx, changes)
	if err != nil {
		return false, err
	}
	switch aside := f.hasAside("page"); {
	case !aside:
		next.Aside, next.AsideXID, next.AsideKey = false, 0, nil
	case !next.Aside:
		next.Aside, next.AsideXID, next.AsideKey = true, f.position.XID, f.position.Key
	}
	if skipped {
		err = f.markSkipped(next, f.position.XID, f.position.Key)
	} else if err = f.o.Store.SetFleetPosition(next); err == nil {
		f.position = next
	}
	return len(changes) >= lookPages, err
}

// markSkipped keeps the position up to which others were followed, and that pages after a transaction and a page in it
// were skipped because the object store is away.
func (f *Fleet) markSkipped(next store.FleetPosition, xid uint64, key []byte) error {
	if !next.Skipped || cmp.Or(cmp.Compare(xid, next.SkippedXID), bytes.Compare(key, next.SkippedKey)) < 0 {
		next.Skipped, next.SkippedXID, next.SkippedKey = true, xid, key
	}
	err := f.o.Store.SetFleetPosition(next)
	if err == nil {
		f.position = next
	}
	return err
}

// takeAll follows: it takes over those changed pages that are news here, in batches, and reports whether any was
// skipped because the object store is away.
func (f *Fleet) takeAll(ctx context.Context, changes []row) (skipped bool, err error) {
	var wanted [][]byte
	size := 0
	for i := range changes {
		c := &changes[i]
		err := f.takeOne("page", c.key.Doc(), func() error {
			switch {
			case c.ahead():
				f.tryLater("page", c.key.Doc(), c.key, errFuture)
			case c.goneAt != nil:
				deleted, err := f.o.Store.ImportDeletion(c.key, *c.goneAt, c.replaces)
				if err != nil {
					return err
				}
				f.taken("page", c.key.Doc())
				if deleted {
					f.note(func(s *Status) { s.Taken++ })
				}
			case !c.replaces(f.o.Store.Known(c.key)):
				f.taken("page", c.key.Doc())
			default:
				wanted = append(wanted, c.key[:])
				size += max(0, c.length)
			}
			return nil
		})
		if err != nil {
			return false, err
		}
		if size >= batchBytes || len(wanted) > 0 && i == len(changes)-1 {
			some, err := f.takeAny(ctx, wanted)
			if err != nil {
				return false, err
			}
			skipped = skipped || some
			wanted, size = nil, 0
		}
	}
	return skipped, nil
}

// takeAny is take for any number of pages that follow: those that cannot be had together are asked for one by one.
func (f *Fleet) takeAny(ctx context.Context, keys [][]byte) (skipped bool, err error) {
	if len(keys) == 0 {
		return false, nil
	}
	if skipped, err = f.take(ctx, keys); err != nil && f.mayBeRow(ctx, err) {
		skipped, err = f.takeEach(ctx, keys)
	}
	return skipped, err
}

// takeEach is take for pages that cannot be had together. One that cannot be had alone is tried again later: the
// database may have lost a part of it, or it takes longer than a statement may.
func (f *Fleet) takeEach(ctx context.Context, keys [][]byte) (skipped bool, err error) {
	for _, k := range keys {
		some, err := f.take(ctx, [][]byte{k})
		if err != nil && !f.mayBeRow(ctx, err) {
			return false, err
		}
		if err != nil {
			reason, _ := explain(err, f.o.name())
			f.tryLater("page", page.Key(k).Doc(), page.Key(k), errors.New(reason))
		}
		skipped = skipped || some
	}
	return skipped, nil
}

// ahead reports whether the times of a page's row, as others are followed, are so far in the future that the row counts
// for nothing.
func (r *row) ahead() bool {
	return time.Until(r.fetchedAt) > maxFuture || r.goneAt != nil && time.Until(*r.goneAt) > maxFuture
}

// replaces reports whether a row that follows says something newer than what a node knows of its page.
func (r *row) replaces(known store.Known) bool {
	var here *row
	switch p := &known.Record; {
	case p.NormalizedURL != "":
		here = &row{key: r.key, fetchedAt: readAt(p), hash: p.ContentHash, status: goneBy(p)}
	case !known.Deleted.IsZero():
		here = &row{key: r.key, fetchedAt: known.Deleted, goneAt: &known.Deleted}
	}
	return newer(r, here)
}

// take follows others: it fetches pages with their contents from the database and the object store, and stores them. It
// reports whether any was skipped because the object store is away. One that is not what it says it is stays away, and
// is counted.
func (f *Fleet) take(ctx context.Context, keys [][]byte) (skipped bool, err error) {
	var key []byte
	var r row
	var rows []*row
	fields := []any{&key, &r.fetchedAt, &r.hash, &r.status, &r.record, &r.edition, &r.body, &r.sum, &r.length}
	err = f.query(ctx, `SELECT key, fetched_at, left(content_hash, 65), status,
			CASE WHEN octet_length(record) <= $2 THEN record END, edition,
			CASE WHEN octet_length(body) > $3 THEN '' ELSE body END,
			CASE WHEN octet_length(body_hash) = 32 THEN body_hash END, body_length
		FROM pages WHERE key = ANY($1) AND gone_at IS NULL`,
		[]any{pq.ByteaArray(keys), maxRecord, maxPacked}, fields, func() error {
			if len(key) == len(r.key) {
				r.key = page.Key(key)
				rows = append(rows, new(r))
			}
			return nil
		})
	if err != nil {
		return false, err
	}
	contents, errs := make([][]byte, len(rows)), make([]error, len(rows))
	var group sync.WaitGroup
	seats := make(chan struct{}, bucket.Tasks)
	for i, r := range rows {
		seats <- struct{}{}
		group.Go(fault.Contain("fleet: end the content of a row", func() {
			defer func() { <-seats }()
			errs[i] = fault.Catch("fleet: read content", func() (err error) {
				contents[i], err = f.bodyOf(ctx, r.body, r.length, r.sum)
				return err
			})
		}))
	}
	group.Wait()
	if ctx.Err() != nil {
		return false, ctx.Err()
	}
	for i, r := range rows {
		err := f.takeOne("page", r.key.Doc(), func() error {
			record, err := r.read()
			if err == nil {
				err = errs[i]
			}
			switch {
			case errors.Is(err, errNotNow) || errors.Is(err, errNoBucket):
				skipped = true
				f.taken("page", r.key.Doc())
				f.note(func(s *Status) { s.Bodies.Held++ })
				return nil
			case errors.Is(err, bucket.ErrLost) || errors.Is(err, bucket.ErrObject):
				f.tryLater("page", r.key.Doc(), r.key, err)
				return nil
			}
			imported := false
			if err == nil { // the page may have been read or deleted here meanwhile
				imported, err = f.o.Store.ImportPage(record, contents[i], r.edition, r.replaces)
			}
			switch {
			case errors.Is(err, store.ErrFull):
				return err
			case err != nil:
				f.setAside("page", r.key.Doc(), err)
			default:
				f.taken("page", r.key.Doc())
			}
			if imported {
				f.note(func(s *Status) { s.Taken++ })
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	return skipped, nil
}

// read returns the page of a row that follows, after it was checked to be the row's: its URL, its hash, its times and
// its status, since others write the database.
func (r *row) read() (*page.Record, error) {
	if r.record == nil {
		return nil, errors.New("it has no record, or too long a one")
	}
	if err := checkTime(r.fetchedAt); err != nil {
		return nil, err
	}
	record := new(page.Record)
	if err := unknown.Unmarshal([]byte(*r.record), record); err != nil {
		return nil, fmt.Errorf("read its record: %w", err)
	}
	u, err := page.Parse(record.NormalizedURL)
	if err != nil || page.Normalize(u) != record.NormalizedURL || page.KeyOf(record.NormalizedURL) != r.key ||
		!shareable(record) {
		return nil, errors.New("its URL is not its own")
	}
	if record.ContentHash != r.hash {
		return nil, errors.New("its content is not what its hash says")
	}
	if err := checkTime(record.FetchedAt); err != nil { // an origin's word
		record.FetchedAt = r.fetchedAt.UTC()
	}
	record.ReadAt, record.Error, record.Info = r.fetchedAt.UTC(), nil, page.Info{}
	if r.status != 0 {
		if !page.Gone(r.status) {
			return nil, fmt.Errorf("its status is %d, by which no page is gone", r.status)
		}
		reason := fmt.Sprint("HTTP ", r.status)
		record.Error = &page.Error{
			Kind: "http", Message: reason + " fetching " + record.URL, Reason: reason, Status: r.status,
		}
	}
	return record, nil
}
