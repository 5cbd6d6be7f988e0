package fleet

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/fleet/bucket"
	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A batch has at most this many pages and bytes of markdown.
const (
	batchPages = 200
	batchBytes = 8 << 20
)

// row is a page as the table pages has it. A page that is gone has no record and no body.
type row struct {
	key       page.Key
	fetchedAt time.Time
	goneAt    *time.Time
	hash      string // the page's content hash
	status    int    // by which its origin calls it gone; else 0
	record    *string
	edition   int
	body      []byte // compressed; nil if it is in the object store
	sum       []byte // of the body before that
	length    int    // of the same
}

// publish tells the database of the pages that the change log has for it (read, changed or deleted here), and reports
// whether there may be more. A page of which the database has something that overrules it is taken over in its place.
func (f *Fleet) publish(ctx context.Context) (more bool, err error) {
	jobs, err := f.o.Store.Jobs(Consumer, batchPages)
	if err != nil || len(jobs) == 0 {
		return false, err
	}
	newest, err := f.newestOf(jobs)
	if err != nil {
		return false, err
	}
	var keys [][]byte
	for k := range newest {
		keys = append(keys, slices.Clone(k[:]))
	}
	known, err := f.known(ctx, keys)
	if err != nil {
		return false, err
	}
	var rows []row
	var overruled [][]byte // keys of pages
	size := 0
	held := map[page.Key]bool{}
	send := func() error {
		rows := f.placeRows(ctx, rows, held)
		return f.send(ctx, rows)
	}
	// Nodes that write the same rows wait for each other, in one order.
	slices.SortFunc(keys, bytes.Compare)
	for _, k := range keys {
		r, record, ok := f.rowOf(newest[page.Key(k)])
		switch last := known[r.key]; {
		case !ok || !overrules(last, &r):
		case last.goneAt == nil:
			overruled = append(overruled, k)
		default:
			if _, err := f.o.Store.ImportDeletion(r.key, *last.goneAt, last.replaces); err != nil {
				return false, err
			}
		}
		if !ok || !newer(&r, known[r.key]) || !f.addContent(&r, record) {
			continue
		}
		rows = append(rows, r)
		// contents are in memory until they are sent
		if size += r.length; size >= batchBytes {
			if err := send(); err != nil {
				return false, err
			}
			rows, size = nil, 0
		}
	}
	if err := send(); err != nil {
		return false, err
	}
	skipped, err := f.takeAny(ctx, overruled)
	if err != nil {
		return false, err
	}
	for _, k := range overruled {
		held[page.Key(k)] = held[page.Key(k)] || skipped
	}
	if err := f.hold(jobs, held); err != nil {
		return false, err
	}
	seqs := make([]uint64, len(jobs))
	for i, j := range jobs {
		seqs[i] = j.Seq
	}
	return len(jobs) >= batchPages, f.o.Store.AckJobs(Consumer, seqs...)
}

// newestOf returns the newest of jobs for each page that is published. A page that was taken over after its deletion,
// but read before that, is deleted again: the deletion is news.
func (f *Fleet) newestOf(jobs []store.Job) (map[page.Key]store.Job, error) {
	newest := map[page.Key]store.Job{}
	for _, j := range jobs {
		if last, ok := newest[j.Page]; !ok || last.Seq < j.Seq {
			newest[j.Page] = j
		}
	}
	for _, j := range jobs {
		if j.Kind != store.JobDeleted || newest[j.Page].Seq == j.Seq {
			continue
		}
		deletion, _, _ := f.rowOf(j)
		deleted, err := f.o.Store.ImportDeletion(j.Page, j.Time, deletion.replaces)
		if err != nil {
			return nil, err
		}
		if deleted {
			newest[j.Page] = j
		}
	}
	return newest, nil
}

// placeRows puts what is large in rows that are published into the object store, and returns the rows that can be
// written. The others are held.
func (f *Fleet) placeRows(ctx context.Context, rows []row, held map[page.Key]bool) []row {
	blobs := make([]*blob, len(rows))
	for i := range rows {
		blobs[i] = &blob{packed: rows[i].body}
		copy(blobs[i].hash[:], rows[i].sum)
	}
	f.place(ctx, blobs)
	return slices.Collect(func(yield func(row) bool) {
		for i, b := range blobs {
			if rows[i].body = b.packed; b.held {
				held[rows[i].key] = true
			} else if !yield(rows[i]) {
				return
			}
		}
	})
}

// hold keeps in mind from which job on pages are published late: the change log has to be gone through again, when the
// object store is there.
func (f *Fleet) hold(jobs []store.Job, held map[page.Key]bool) error {
	next := f.position
	for _, j := range jobs {
		if held[j.Page] && (next.Held == 0 || j.Seq < next.Held) {
			next.Held = j.Seq
		}
	}
	f.note(func(s *Status) { s.Bodies.Held += int64(len(held)) })
	if next.Held == f.position.Held {
		return nil
	}
	if err := f.o.Store.SetFleetPosition(next); err != nil {
		return err
	}
	f.position = next
	return nil
}

// release goes back to where the publishing of something was held or skipped because of the object store, once that is
// there.
func (f *Fleet) release() error {
	if !f.bodiesOK() || f.position.Held == 0 && !f.position.Skipped {
		return nil
	}
	next := f.position
	if next.Skipped {
		next.XID, next.Key = next.SkippedXID, next.SkippedKey
	}
	if next.Held != 0 {
		if err := f.o.Store.BeginJobs(Consumer, next.Held-1); err != nil {
			return err
		}
	}
	next.Held, next.Skipped, next.SkippedXID, next.SkippedKey = 0, false, 0, nil
	if err := f.o.Store.SetFleetPosition(next); err != nil {
		return err
	}
	f.position = next
	f.note(func(s *Status) { s.Bodies.Held = 0 })
	return nil
}

// known returns what the database has of pages that are to be published, without content.
func (f *Fleet) known(ctx context.Context, keys [][]byte) (map[page.Key]*row, error) {
	known := map[page.Key]*row{}
	var key []byte
	var r row
	err := f.query(ctx, `SELECT key, fetched_at, gone_at, left(content_hash, 65), status,
			greatest(body_length, octet_length(body), octet_length(record))
		FROM pages WHERE key = ANY($1)`,
		[]any{pq.ByteaArray(keys)}, []any{&key, &r.fetchedAt, &r.goneAt, &r.hash, &r.status, &r.length}, func() error {
			if len(key) == len(r.key) {
				r.key = page.Key(key)
				known[r.key] = new(r)
			}
			return nil
		})
	return known, err
}

// newer reports whether r is worth publishing: it says something that the fleet does not know. The statement of send
// decides the same again.
func newer(r, known *row) bool {
	switch {
	case known == nil || known.ahead():
		return true
	case r.goneAt != nil:
		return known.goneAt == nil && !known.fetchedAt.After(*r.goneAt)
	case known.goneAt != nil:
		return r.fetchedAt.After(*known.goneAt)
	}
	// Of two readings at the same moment, all nodes must keep the same.
	return cmp.Or(r.fetchedAt.Compare(known.fetchedAt), cmp.Compare(r.hash, known.hash),
		cmp.Compare(r.status, known.status)) > 0
}

// overrules reports whether the fleet, to which r is published, keeps known, which may be nil, and not the reading r:
// another one of the same moment, or a deletion. The node may have read r when it had taken over known already, so that
// it does not come by itself.
func overrules(known, r *row) bool {
	return known != nil && !known.ahead() && r.goneAt == nil && !newer(r, known) &&
		(known.goneAt != nil || known.fetchedAt.Equal(r.fetchedAt) && newer(known, r))
}

// rowOf returns what a job publishes to the fleet, unless it is nothing, and the record that [Fleet.addContent] adds if
// it is news: most jobs of a node are pages that it took over.
func (f *Fleet) rowOf(j store.Job) (r row, record *page.Record, ok bool) {
	r.key = j.Page
	if j.Kind == store.JobDeleted {
		r.fetchedAt, r.goneAt = j.Time, new(j.Time)
		return r, nil, true
	}
	p, err := f.o.Store.Page(j.Page)
	if err != nil || page.KeyOf(p.NormalizedURL) != j.Page || !shareable(&p.Record) {
		return r, nil, false // it was deleted since, which is another job, or it stays here
	}
	r.fetchedAt, r.hash, r.status = readAt(&p.Record), p.ContentHash, goneBy(&p.Record)
	return r, &p.Record, true
}

// addContent adds the record and the content of a page that is published to its row, and reports whether they are
// there. A page that is gone has no record.
func (f *Fleet) addContent(r *row, record *page.Record) bool {
	if record == nil {
		return true
	}
	markdown, err := f.o.Store.Markdown(r.key)
	if err != nil {
		return false
	}
	record.Error, record.Info = nil, page.Info{}
	text, err := unknown.Marshal(record)
	if err != nil {
		return false
	}
	sum := sha256.Sum256(markdown)
	r.record, r.edition = new(string(text)), f.o.Store.PageEdition()
	r.body, r.sum, r.length = bucket.Pack(markdown), sum[:], len(markdown)
	return true
}

// readAt returns when a page that is published was read, to the microsecond, as the database keeps it.
func readAt(r *page.Record) time.Time {
	return r.LastRead().UTC().Truncate(time.Microsecond)
}

// goneBy returns, to be published, the status by which the origin of a page calls it gone; 0 if it does not.
func goneBy(r *page.Record) int {
	if r.Error.Gone() {
		return r.Error.Status
	}
	return 0
}

// send publishes rows of pages, together if possible. One that the database refuses for what is in it stays on the
// node, and is logged.
func (f *Fleet) send(ctx context.Context, rows []row) error {
	if len(rows) == 0 {
		return nil
	}
	err := f.insert(ctx, rows)
	if e, ok := errors.AsType[*pq.Error](err); ok && isAboutData(e) {
		if len(rows) == 1 {
			f.log.Warn("page not told to the fleet", "doc", rows[0].key.Doc(), "err", e.Message)
			return nil
		}
		for i := range rows {
			if err := f.send(ctx, rows[i:i+1]); err != nil {
				return err
			}
		}
		return nil
	}
	if err == nil {
		err = f.forgetVisits(ctx, rows)
	}
	if err == nil {
		last := &rows[len(rows)-1]
		f.lastTold = &row{key: last.key, fetchedAt: last.fetchedAt}
		f.note(func(s *Status) { s.Published += int64(len(rows)) })
	}
	return err
}

// isAboutData reports whether the server refuses to publish what is in a statement: a data exception, an integrity
// constraint or a limit of the program.
func isAboutData(e *pq.Error) bool {
	code := string(e.Code)
	return strings.HasPrefix(code, "22") || strings.HasPrefix(code, "23") || strings.HasPrefix(code, "54")
}

// insertPages writes pages, each unless the database has a newer reading or deletion of it. The condition is that of
// newer, which reads before: between the two another node may have written.
const insertPages = `
	INSERT INTO pages AS p (key, node, fetched_at, gone_at, content_hash, status, record, edition, body, body_hash,
		body_length)
	SELECT r.key, $1, timestamptz 'epoch' + r.fetched_at * interval '1 microsecond', 
		timestamptz 'epoch' + NULLIF(r.gone_at, 0) * interval '1 microsecond', r.content_hash, r.status, r.record,
		r.edition, NULLIF(r.body, ''), r.body_hash, r.body_length
	FROM unnest($2::bytea[], $3::bigint[], $4::bigint[], $5::text[], $6::text[], $7::int[], $8::bytea[],
		$9::bytea[], $10::int[], $12::int[])
		AS r (key, fetched_at, gone_at, content_hash, record, edition, body, body_hash, body_length, status)
	ON CONFLICT (key) DO UPDATE SET
		xid = pg_current_xact_id(), node = excluded.node, fetched_at = excluded.fetched_at, gone_at = excluded.gone_at,
		content_hash = excluded.content_hash, status = excluded.status, record = excluded.record,
		edition = excluded.edition,
		body = excluded.body, body_hash = excluded.body_hash, body_length = excluded.body_length
	WHERE greatest(p.fetched_at, p.gone_at) > now() + $11::interval OR CASE
		WHEN excluded.gone_at IS NOT NULL THEN p.gone_at IS NULL AND p.fetched_at <= excluded.gone_at
		WHEN p.gone_at IS NOT NULL THEN excluded.fetched_at > p.gone_at
		ELSE (excluded.fetched_at, excluded.content_hash COLLATE "C", excluded.status)
			> (p.fetched_at, p.content_hash COLLATE "C", p.status)
	END`

// insert publishes rows of pages in one statement.
func (f *Fleet) insert(ctx context.Context, rows []row) error {
	n := len(rows)
	keys, bodies, sums := make([][]byte, n), make([][]byte, n), make([][]byte, n)
	fetched, gone, editions, lengths := make([]int64, n), make([]int64, n), make([]int64, n), make([]int64, n)
	hashes, records, statuses := make([]string, n), make([]string, n), make([]int64, n)
	for i := range rows {
		r := &rows[i]
		keys[i], bodies[i], sums[i], fetched[i] = r.key[:], r.body, r.sum, r.fetchedAt.UnixMicro()
		hashes[i], editions[i], lengths[i], statuses[i] = r.hash, int64(r.edition), int64(r.length), int64(r.status)
		if r.goneAt != nil {
			gone[i] = r.goneAt.UnixMicro()
		}
		if r.record != nil {
			records[i] = *r.record
		}
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, insertPages, f.o.Node, pq.ByteaArray(keys), pq.Int64Array(fetched),
		pq.Int64Array(gone), pq.StringArray(hashes), pq.StringArray(records), pq.Int64Array(editions),
		pq.ByteaArray(bodies), pq.ByteaArray(sums), pq.Int64Array(lengths), maxFuture.String(), pq.Int64Array(statuses))
	return err
}
