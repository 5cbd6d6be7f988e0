package fleet

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"

	"github.com/klauspost/compress/zstd"
	"github.com/lib/pq"

	"readthru/page"
	"readthru/store"
)

const (
	// lookPages is how many changes are looked at together.
	lookPages = 1000

	// maxBody is the most markdown of a page that is taken over, in bytes.
	maxBody = 64 << 20
)

// decoder decompresses markdown of the database. Its options are valid.
var decoder, _ = zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxBody))

// The rows of a transaction are seen when it ends, in another order than transactions began. So a look ends before the
// oldest transaction that still runs, and what that one writes comes later.
const changesSince = `
	SELECT xid, key, fetched_at, gone_at, content_hash, body_length FROM pages
	WHERE (xid, key) > ($1::xid8, $2::bytea) AND xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY xid, key LIMIT $3`

// follow takes over what changed in the fleet, and reports whether there may be more.
func (f *Fleet) follow(ctx context.Context) (more bool, err error) {
	next := f.position
	var changes []row
	var key []byte
	var r row
	err = f.query(ctx, changesSince, []any{strconv.FormatUint(next.XID, 10), next.Key, lookPages},
		[]any{&next.XID, &key, &r.fetchedAt, &r.goneAt, &r.hash, &r.length}, func() error {
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
	if err := f.takeAll(ctx, changes); err != nil {
		return false, err
	}
	if err := f.o.Store.SetFleetPosition(next); err != nil {
		return false, err
	}
	f.position = next
	return len(changes) >= lookPages, nil
}

// takeAll takes over those changes that are news here.
func (f *Fleet) takeAll(ctx context.Context, changes []row) error {
	var wanted [][]byte
	size := 0
	for i := range changes {
		c := &changes[i]
		here := f.here(c.key)
		switch {
		case !newer(c, here) || here == nil && (c.goneAt != nil || f.o.Store.Named(c.key) != page.Key{}):
		case c.goneAt != nil:
			if err := f.o.Store.DeletePage(c.key); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
			f.note(func(s *Status) { s.Taken++ })
		default:
			wanted = append(wanted, c.key[:])
			size += c.length
		}
		if size >= batchBytes || len(wanted) > 0 && i == len(changes)-1 {
			if err := f.take(ctx, wanted); err != nil {
				return err
			}
			wanted, size = nil, 0
		}
	}
	return nil
}

// here returns what the node has of a page, without content; nil if it has nothing.
func (f *Fleet) here(k page.Key) *row {
	p, err := f.o.Store.Page(k)
	if err != nil || page.KeyOf(p.NormalizedURL) != k {
		return nil
	}
	return &row{key: k, fetchedAt: readAt(&p.Record), hash: p.ContentHash}
}

// take fetches pages and stores them. One that is not what it says it is stays away, and is counted.
func (f *Fleet) take(ctx context.Context, keys [][]byte) error {
	var key []byte
	var r row
	fields := []any{&key, &r.fetchedAt, &r.hash, &r.record, &r.edition, &r.body, &r.sum, &r.length}
	return f.query(ctx, `SELECT key, fetched_at, content_hash, record, edition, body, body_hash, body_length
		FROM pages WHERE key = ANY($1) AND gone_at IS NULL`, []any{pq.ByteaArray(keys)}, fields, func() error {
		if len(key) != len(r.key) {
			return nil
		}
		r.key = page.Key(key)
		record, markdown, err := r.read()
		if err != nil {
			f.log.Warn("page of the fleet not taken over", "doc", r.key.Doc(), "err", err)
			f.note(func(s *Status) { s.Refused++ })
			return nil
		}
		if _, err := f.o.Store.ImportPage(record, markdown, r.edition); err != nil {
			return err
		}
		f.note(func(s *Status) { s.Taken++ })
		return nil
	})
}

// read returns the page of a row, after it was checked to be what the row says.
func (r *row) read() (*page.Record, []byte, error) {
	if r.record == nil || r.length < 0 || r.length > maxBody {
		return nil, nil, fmt.Errorf("it has no record, or %d bytes", r.length)
	}
	record := new(page.Record)
	if err := json.Unmarshal([]byte(*r.record), record); err != nil {
		return nil, nil, fmt.Errorf("read its record: %w", err)
	}
	u, err := page.Parse(record.NormalizedURL)
	if err != nil || page.Normalize(u) != record.NormalizedURL || page.KeyOf(record.NormalizedURL) != r.key ||
		!shareable(record) {
		return nil, nil, errors.New("its URL is not its own")
	}
	markdown, err := decoder.DecodeAll(r.body, nil)
	if err != nil {
		return nil, nil, fmt.Errorf("decompress it: %w", err)
	}
	if sum := sha256.Sum256(markdown); len(markdown) != r.length || string(sum[:]) != string(r.sum) ||
		record.ContentHash != r.hash {
		return nil, nil, errors.New("its content is not what its hash says")
	}
	record.FetchedAt, record.Error, record.Info = r.fetchedAt.UTC(), nil, page.Info{}
	return record, markdown, nil
}
