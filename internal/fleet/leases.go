package fleet

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/knowledge"
)

// leaseTime is how long a lease is valid without a word of its holder. Another node takes it within a beat more.
const leaseTime = 15 * time.Second

// errLeaseLost is the error of what needs a lease that another node has taken.
var errLeaseLost = errors.New("another node has taken the lease")

// holds is true in SQL while a lease is valid. One that is valid for longer than any node says counts for nothing.
const holds = `until BETWEEN clock_timestamp() AND clock_timestamp() + interval '1 hour'`

// takeLease takes a lease that nobody has, or that was this node's before it started again. epoch is 0 if another node
// has it. taken is how often it was taken since a holder last told something under it: those before died.
func (f *Fleet) takeLease(ctx context.Context, what string) (epoch, taken int64, err error) {
	err = f.query(ctx, `INSERT INTO leases AS l (what, node, epoch, until, taken)
		VALUES ($1, $2, 1, clock_timestamp() + $3::interval, 1)
		ON CONFLICT (what) DO UPDATE SET node = excluded.node, epoch = l.epoch + 1, until = excluded.until,
			taken = l.taken + 1
		WHERE NOT (l.`+holds+`) OR l.node = excluded.node
		RETURNING epoch, taken`,
		[]any{what, f.o.Node, f.lease().String()}, []any{&epoch, &taken}, func() error { return nil })
	return epoch, taken, err
}

// holderOf returns the node that has a lease; empty if none has.
func (f *Fleet) holderOf(ctx context.Context, what string) (node string, err error) {
	err = f.query(ctx, "SELECT node FROM leases WHERE what = $1 AND "+holds, []any{what}, []any{&node},
		func() error { return nil })
	return node, err
}

// lease returns for how long a lease is valid without a word of its holder.
func (f *Fleet) lease() time.Duration {
	if f.o.Lease > 0 {
		return f.o.Lease
	}
	return leaseTime
}

// underLease does work in a transaction that commits only if this node still has a lease, which it renews. With end the
// lease is released. So a node that was away, and whose lease another one has taken, can change nothing any more. The
// error is errLeaseLost then.
func (f *Fleet) underLease(ctx context.Context, what string, epoch int64, end bool,
	work func(ctx context.Context, tx *sql.Tx) error,
) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or its error is returned
	valid := f.lease()
	if end {
		valid = 0
	}
	// The row stays locked until the end: nobody can take the lease meanwhile.
	err = changesOne(tx.ExecContext(ctx, `UPDATE leases SET until = clock_timestamp() + $4::interval, taken = 0
		WHERE what = $1 AND node = $2 AND epoch = $3`, what, f.o.Node, epoch, valid.String()))
	if err != nil {
		return err
	}
	if err := work(ctx, tx); err != nil {
		return err
	}
	return tx.Commit()
}

// changesOne returns errLeaseLost if a statement changed no row: what it was about is not this node's any more.
func changesOne(r sql.Result, err error) error {
	if err != nil {
		return err
	}
	switch n, err := r.RowsAffected(); {
	case err != nil:
		return err
	case n != 1:
		return errLeaseLost
	}
	return nil
}

// renewLeases tells that this node still does what it has leases for, and returns those that it has lost.
func (f *Fleet) renewLeases(ctx context.Context, epochs map[string]int64) (lost []string, err error) {
	var whats []string
	var numbers []int64
	for what, epoch := range epochs {
		whats, numbers = append(whats, what), append(numbers, epoch)
	}
	if len(whats) == 0 {
		return nil, nil
	}
	kept := map[string]bool{}
	var what string
	err = f.query(ctx, `UPDATE leases AS l SET until = clock_timestamp() + $1::interval
		FROM unnest($3::text[], $4::bigint[]) AS mine (what, epoch)
		WHERE l.what = mine.what AND l.epoch = mine.epoch AND l.node = $2
		RETURNING l.what`,
		[]any{f.lease().String(), f.o.Node, pq.StringArray(whats), pq.Int64Array(numbers)}, []any{&what},
		func() error { kept[what] = true; return nil })
	if err != nil {
		return nil, fmt.Errorf("renew leases: %w", err)
	}
	for _, what := range whats {
		if !kept[what] {
			lost = append(lost, what)
		}
	}
	return lost, nil
}

// releaseLeases lets other nodes have this node's leases at once.
func (f *Fleet) releaseLeases(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, `UPDATE leases SET until = clock_timestamp(), taken = 0
		WHERE node = $1 AND until > clock_timestamp()`, f.o.Node)
	return err
}

// leaseOf names the lease to fill a base in the table of leases.
func leaseOf(base string) string { return "fill/" + base }

// giveBack gives the lease of a base back, so that others may fill it. A lease that was lost is no error.
func (f *Fleet) giveBack(ctx context.Context, base string, epoch int64) error {
	f.drop(base)
	err := f.underLease(ctx, leaseOf(base), epoch, true, func(context.Context, *sql.Tx) error { return nil })
	if errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}

// keepLeases renews the leases of what this node fills, unless it has just done so. What was lost to another node is
// stopped here.
func (f *Fleet) keepLeases(ctx context.Context) error {
	s := &f.bases
	if f.o.Knowledge == nil || time.Since(s.beaten) < beatEvery {
		return nil
	}
	bases, epochs := map[string]knowledge.SharedBase{}, map[string]int64{}
	for _, b := range f.o.Knowledge.SharedBases() {
		bases[leaseOf(b.ID)] = b
	}
	s.mu.Lock()
	for id, h := range s.held {
		epochs[leaseOf(id)] = h.epoch
	}
	s.mu.Unlock()
	for what, epoch := range epochs {
		if _, ok := bases[what]; !ok { // it was deleted
			delete(epochs, what)
			if err := f.giveBack(ctx, what[len(leaseOf("")):], epoch); err != nil {
				return err
			}
		}
	}
	lost, err := f.renewLeases(ctx, epochs)
	if err != nil {
		return err
	}
	for _, what := range lost {
		if err := f.yieldToHolder(ctx, bases[what]); err != nil {
			return err
		}
	}
	s.beaten = time.Now()
	return nil
}
