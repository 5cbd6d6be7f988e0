package fleet

import (
	"context"
	"errors"
	"math/rand/v2"
	"strconv"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/store"
)

// longestWait is how long a node waits at most before it tries again to reach the database.
const longestWait = 10 * time.Second

// Run takes part in the fleet until ctx ends. Without the database it waits for it.
func (f *Fleet) Run(ctx context.Context) error {
	var telling sync.WaitGroup
	telling.Go(fault.Forever(ctx, "fleet: tell", f.tell))
	if f.bucket != nil {
		telling.Go(fault.Forever(ctx, "fleet: keep content", f.keepBodies))
	}
	defer telling.Wait()
	wait := lookEvery
	for {
		began := time.Now()
		err := fault.Catch("fleet: take part", func() error { return f.session(ctx) })
		if ctx.Err() != nil {
			f.leave(ctx)
			return nil // the end of ctx is no error
		}
		f.lost(err)
		f.fillAlone()
		if time.Since(began) > longestWait {
			wait = lookEvery
		}
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(wait/2 + rand.N(wait)): // nodes do not come back all at once
		}
		wait = min(2*wait, longestWait)
	}
}

// session runs one session: it takes part in the fleet while the database answers: it connects, finds where the node
// stands, and then exchanges what is new until something fails, which it returns.
func (f *Fleet) session(ctx context.Context) error {
	if err := f.enter(); err != nil {
		return err
	}
	identity, err := f.connect(ctx)
	if err != nil {
		return err
	}
	if err := f.resume(identity); err != nil {
		return err
	}
	f.shared = sharedUsers{}
	f.bases.renew()
	f.hosts.renew()
	if err := f.beat(ctx); err != nil {
		return err
	}
	if err := f.forgetSecrets(ctx); err != nil {
		return err
	}
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	beaten, swept := time.Now(), time.Now()
	var looked time.Time
	var pause time.Duration
	for woken := true; ; {
		if woken || time.Since(looked) >= pause || f.hasNews() {
			told, taken, bases := f.lastTold, f.position.XID, f.bases.toldOften
			looked = time.Now()
			if err := f.exchange(ctx); err != nil {
				return err
			}
			pause = min(max(lookEvery, 2*pause), lookAtMost)
			if f.lastTold != told || f.position.XID != taken || f.bases.toldOften != bases {
				pause = lookEvery // there may be more soon
				if err := f.renewMark(ctx); err != nil {
					return err
				}
			}
		}
		if time.Since(beaten) >= beatEvery {
			if err := f.beat(ctx); err != nil {
				return err
			}
			if err := f.shareUse(ctx, time.Now()); err != nil {
				return err
			}
			if err := f.shareVisits(ctx); err != nil {
				return err
			}
			if err := f.shareHosts(ctx); err != nil {
				return err
			}
			beaten = time.Now()
		}
		if time.Since(swept) >= sweepEvery {
			if err := f.sweep(ctx); err != nil {
				return err
			}
			swept = time.Now()
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-tick.C:
			woken = false
		case <-f.o.Store.PurgesAdded():
			woken = true
		case <-f.bases.wake:
			woken = true
		}
	}
}

// hasNews reports whether this node has something to exchange of its own: pages, users, or a base that it fills.
func (f *Fleet) hasNews() bool {
	f.bases.mu.Lock()
	fills := len(f.bases.held) > 0
	f.bases.mu.Unlock()
	return fills || f.o.Store.UsersChanges() != f.shared.changes || f.o.Store.QueuedJobs(Consumer) > 0
}

// renewMark notes in the node's own row that the database has been told something, or gave something: one that is set
// back has an older mark. Nobody else writes that row.
func (f *Fleet) renewMark(ctx context.Context) error {
	if f.mark.IsZero() {
		return nil
	}
	found := false
	err := f.queryOften(ctx, `UPDATE nodes SET seen_at = greatest(clock_timestamp(), seen_at)
		WHERE name = $1 AND seen_at >= $2::timestamptz RETURNING seen_at`, []any{f.o.Node, f.mark}, []any{&f.mark},
		func() error { found = true; return nil })
	if err == nil && !found {
		return errMoved
	}
	return err
}

// exchange tells the database of purges and pages of this node, and then takes over those of other nodes: a deletion is
// told before the page could come back. Last, it shares knowledge bases.
func (f *Fleet) exchange(ctx context.Context) error {
	if err := f.tellPurges(ctx); err != nil {
		return err
	}
	if err := f.release(); err != nil {
		return err
	}
	always, is := true, news{}
	for _, each := range []struct {
		do  func(context.Context) (more bool, err error)
		due *bool
	}{{f.publish, &always}, {f.followPurges, &is.purges}, {f.follow, &is.pages}} {
		for more := *each.due; more; {
			var err error
			if more, err = each.do(ctx); err != nil {
				return err
			}
			if more || each.due == &always { // also while much is new, since users who lose rights are out soon
				if is, err = f.findNews(ctx); err != nil {
					return err
				}
			}
			if err := f.keepLeases(ctx); err != nil { // each time, since all that is new may take longer than a lease
				return err
			}
		}
	}
	if err := f.tryAgain(ctx); err != nil {
		return err
	}
	return f.shareBases(ctx, is.bases)
}

// news says of what the database has more than the node.
type news struct{ pages, purges, bases bool }

// In an order and with a limit, the rows are found by the same index as those of changesSince, purgesSince and
// basesSince.
const newsSince = `
	SELECT COALESCE((SELECT edition::text FROM users_edition), ''),
		EXISTS (SELECT FROM (SELECT FROM pages
			WHERE (xid, key) > ($1::xid8, $2::bytea) AND xid < pg_snapshot_xmin(pg_current_snapshot())
			ORDER BY xid, key LIMIT 1) AS p),
		EXISTS (SELECT FROM (SELECT FROM purges
			WHERE (xid, id) > ($3::xid8, $4::bytea) AND xid < pg_snapshot_xmin(pg_current_snapshot())
			ORDER BY xid, id LIMIT 1) AS p),
		EXISTS (SELECT FROM (SELECT FROM bases
			WHERE (xid, id) > ($5::xid8, $6) AND xid < pg_snapshot_xmin(pg_current_snapshot())
			ORDER BY xid, id LIMIT 1) AS b)`

// findNews asks, by one statement, whether there is anything to take over, and does so with users.
func (f *Fleet) findNews(ctx context.Context) (is news, err error) {
	at := f.position
	var users string
	err = f.queryOften(ctx, newsSince, []any{
		strconv.FormatUint(at.XID, 10), at.Key, strconv.FormatUint(at.PurgeXID, 10), at.PurgeID,
		strconv.FormatUint(f.bases.xid, 10), f.bases.id,
	}, []any{&users, &is.pages, &is.purges, &is.bases}, func() error { return nil })
	if err == nil {
		err = f.shareUsers(ctx, users)
	}
	return is, err
}

// enter notes when the node began to be in a fleet, whether its database can be reached or not. What it read before
// stays its own.
func (f *Fleet) enter() error {
	s := f.o.Store
	if err := s.TellPurges(true); err != nil {
		return err
	}
	if s.FleetPosition().Database != "" {
		return nil
	}
	joined := s.LastJob()
	if err := s.BeginJobs(Consumer, joined); err != nil {
		return err
	}
	now := time.Now().UnixMilli()
	return s.SetFleetPosition(store.FleetPosition{Database: "none yet", Joined: joined, VisitsFrom: now, Visits: now})
}

// resume finds where the node stands in a database. In another one than before, or another line of its history, or
// when it was set back, it looks at everything, and tells again what it has told before.
func (f *Fleet) resume(identity string) error {
	s := f.o.Store
	f.position = s.FleetPosition()
	if f.position.Database == identity && !f.setBack {
		if !f.resumed { // what was aside before the node ended is found again
			f.position = fromAside(f.position)
		}
		f.resumed = true
		return nil
	}
	f.forgetAsides()
	f.resumed = true
	f.setBack, f.lastTold, f.toldVisits, f.mark = false, nil, nil, time.Time{}
	next := store.FleetPosition{
		Database: identity, Joined: f.position.Joined, VisitsFrom: f.position.VisitsFrom, Visits: f.position.VisitsFrom,
	}
	if err := errors.Join(s.BeginJobs(Consumer, next.Joined), f.forgetBases()); err != nil {
		return err
	}
	if err := s.SetFleetPosition(next); err != nil {
		return err
	}
	f.position = next
	return nil
}

// fromAside returns, to look for news, where the rows are that were set aside.
func fromAside(at store.FleetPosition) store.FleetPosition {
	if at.Aside {
		at.XID, at.Key = at.AsideXID, at.AsideKey
	}
	if at.AsidePurges {
		at.PurgeXID, at.PurgeID = 0, nil
	}
	return at
}

// lost notes that the database is away and the node works alone, and why. It is logged when that is news.
func (f *Fleet) lost(err error) {
	reason, remedy := explain(err, f.o.name())
	if errors.Is(err, store.ErrFull) {
		reason, remedy = "the node's own store takes no writes", "free space on this machine's disk"
	}
	var changed bool
	f.note(func(s *Status) {
		changed = s.State != Disconnected || s.Reason != reason
		if s.State != Disconnected {
			s.Since = time.Now()
		}
		s.State, s.Reason, s.Remedy = Disconnected, reason, remedy
	})
	if changed {
		f.log.Warn("the fleet is away: this node works alone", "reason", reason, "remedy", remedy)
	}
}

// awayAfter is how long a node may say nothing, five beats, as an interval.
const awayAfter = "10 seconds"
