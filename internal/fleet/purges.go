package fleet

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/lib/pq"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// maxPurge is the longest value of a purge that is taken over, in bytes.
const maxPurge = 64 << 10

// tellPurges tells the fleet of the purges of this node, and removes the stored responses that they cover from the
// database.
func (f *Fleet) tellPurges(ctx context.Context) error {
	list := f.o.Store.Purges()
	if len(list) == 0 {
		return nil
	}
	// Nodes that write the same rows wait for each other, in one order.
	slices.SortFunc(list, func(a, b store.Purge) int {
		x, y := a.ID(), b.ID()
		return bytes.Compare(x[:], y[:])
	})
	for part := range slices.Chunk(list, batchPages) {
		if err := f.tellSomePurges(ctx, part); err != nil {
			return err
		}
		if err := f.o.Store.ToldPurges(part); err != nil {
			return err
		}
	}
	return nil
}

// tellSomePurges is tellPurges for a batch, in one transaction: no node reads the purge without its effect.
func (f *Fleet) tellSomePurges(ctx context.Context, list []store.Purge) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or its error is returned
	var ids, uris [][]byte
	var kinds, values []string
	var at []int64
	for i := range list {
		p := &list[i]
		if p.Value != textOf(p.Value) {
			continue // nothing of that name was told
		}
		id := p.ID()
		ids, at = append(ids, id[:]), append(at, p.At.UnixMicro())
		kinds, values = append(kinds, p.Kind), append(values, p.Value)
		if p.Kind == store.PurgeURL {
			key := keyOf(p.Value)
			uris = append(uris, key[:])
		}
	}
	_, err = tx.ExecContext(ctx, `INSERT INTO purges AS p (id, kind, value, at)
		SELECT id, kind, value, timestamptz 'epoch' + at * interval '1 microsecond'
		FROM unnest($1::bytea[], $2::text[], $3::text[], $4::bigint[]) AS n (id, kind, value, at)
		ON CONFLICT (id) DO UPDATE SET at = excluded.at, xid = pg_current_xact_id() WHERE excluded.at > p.at`,
		pq.ByteaArray(ids), pq.StringArray(kinds), pq.StringArray(values), pq.Int64Array(at))
	if err != nil {
		return err
	}
	remove := func(where string, value any) {
		if err == nil {
			_, err = tx.ExecContext(ctx, "DELETE FROM responses WHERE "+where+
				" AND purged(url, host, tags, response_time)", value)
		}
	}
	if len(uris) > 0 {
		remove("uri = ANY($1)", pq.ByteaArray(uris))
	}
	for i, kind := range kinds {
		switch value := values[i]; kind {
		case store.PurgePrefix:
			remove("host = $1", page.AuthorityOf(value))
		case store.PurgeHost:
			remove("host = $1", value)
		case store.PurgeTag:
			remove("tags @> $1", pq.StringArray{value})
		case store.PurgeAll:
			remove("$1", true)
		}
	}
	if err != nil {
		return err
	}
	return tx.Commit()
}

// dropPurge removes a purge that is in the future: until then, nothing that it covers could be shared.
func (f *Fleet) dropPurge(ctx context.Context, id []byte) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, "DELETE FROM purges WHERE id = $1 AND at > now() + $2::interval", id,
		maxFuture.String())
	return err
}

// checkPurge returns an error for a purge that is none.
func checkPurge(p store.Purge, id []byte) error {
	if is := p.ID(); !bytes.Equal(is[:], id) || len(p.Value) > maxPurge {
		return errors.New("its id is not its own")
	}
	switch p.Kind {
	case store.PurgeURL, store.PurgePrefix, store.PurgeHost, store.PurgeTag, store.PurgeAll:
		return checkTime(p.At)
	}
	return fmt.Errorf("its kind %q is unknown", p.Kind)
}

// As with changesSince, a look ends before the oldest transaction that still runs.
const purgesSince = `
	SELECT xid, id, left(kind, 20), left(value, 65537), at FROM purges
	WHERE (xid, id) > ($1::xid8, $2::bytea) AND xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY xid, id LIMIT $3`

// followPurges applies the purges of other nodes to this node's store, and reports whether there may be more.
func (f *Fleet) followPurges(ctx context.Context) (more bool, err error) {
	next := f.position
	type purge struct {
		store.Purge
		id []byte
	}
	var list []purge
	var p purge
	err = f.query(ctx, purgesSince, []any{strconv.FormatUint(next.PurgeXID, 10), next.PurgeID, lookPages},
		[]any{&next.PurgeXID, &next.PurgeID, &p.Kind, &p.Value, &p.At}, func() error {
			p.id = next.PurgeID
			list = append(list, p)
			return nil
		})
	if err != nil || len(list) == 0 {
		return false, err
	}
	for _, p := range list {
		id := hex.EncodeToString(p.id)
		err := f.takeOne("purge", id, func() error {
			err := checkPurge(p.Purge, p.id)
			if err == nil {
				err = f.o.Store.ApplyPurge(p.Purge)
			}
			switch {
			case errors.Is(err, store.ErrFull):
				return err
			case err != nil:
				f.setAside("purge", id, err)
				return f.dropPurge(ctx, p.id)
			default:
				f.taken("purge", id)
			}
			return nil
		})
		if err != nil {
			return false, err
		}
	}
	next.AsidePurges = f.hasAside("purge")
	if err := f.o.Store.SetFleetPosition(next); err != nil {
		return false, err
	}
	f.position = next
	return len(list) >= lookPages, nil
}
