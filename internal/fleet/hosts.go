package fleet

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/store"
)

// hostMemory is for how long it is told that something is no longer true of a host.
const hostMemory = 30 * 24 * time.Hour

// sharedHosts is what the node and the database last had in common of hosts. Only Run uses it.
type sharedHosts struct {
	changes int64 // of the node's, when it told last; -1: it tells all
	common  map[trait]store.Fact
	news    bool   // the database has more
	xid     uint64 // up to this transaction the node has taken over what it has
	last    trait  // in it
}

// trait is a kind of thing that may be true of a host.
type trait struct {
	host string
	store.Trait
}

// renew has the node tell all and take over all, as of another database.
func (h *sharedHosts) renew() { h.changes, h.news, h.xid, h.last = -1, true, 0, trait{} }

// shareHosts tells what this node learnt about hosts since it is in the fleet, and takes over what others did.
func (f *Fleet) shareHosts(ctx context.Context) error {
	if err := f.tellHosts(ctx, time.Now()); err != nil {
		return err
	}
	for f.hosts.news {
		if err := f.takeHosts(ctx, time.Now()); err != nil {
			return err
		}
	}
	return nil
}

// tellHosts tells what has become true of hosts since it last did so, and what has ceased to be.
func (f *Fleet) tellHosts(ctx context.Context, now time.Time) error {
	changes := f.o.Store.HostChanges()
	if changes == f.hosts.changes {
		return nil
	}
	joined := time.UnixMilli(f.position.VisitsFrom)
	news, holds := map[trait]store.Fact{}, map[trait]bool{}
	err := f.o.Store.Hosts(func(name string, h store.Host) bool {
		for _, fact := range h.Holding(now) {
			if !fact.OfHost() {
				continue
			}
			t := trait{name, fact.Trait}
			holds[t] = true
			known, told := f.hosts.common[t]
			if (!told || f.hosts.changes < 0 || fact.Since.After(known.Since)) && (told || !fact.Since.Before(joined)) &&
				shareableHost(name) {
				news[t] = fact
			}
		}
		return true
	})
	if err != nil {
		return err
	}
	over := map[trait]bool{}
	for t, fact := range f.hosts.common {
		if !holds[t] {
			over[t] = fact.Until.After(now) // else it ended by itself, which others know
		}
	}
	if err := f.sendHosts(ctx, now, news, over); err != nil {
		return err
	}
	maps.Copy(f.hosts.common, news)
	for t := range over {
		delete(f.hosts.common, t)
	}
	f.hosts.changes = changes
	return nil
}

// shareableHost reports whether what was learnt about a host may leave the node.
func shareableHost(name string) bool {
	u, err := url.Parse("https://" + name + "/")
	return err == nil && u.Host == name && shareableURL(u) && textOf(name) == name
}

// sendHosts writes what was learnt about hosts, and what is over before its time. What others learnt later stays.
func (f *Fleet) sendHosts(ctx context.Context, now time.Time, news map[trait]store.Fact, over map[trait]bool) error {
	list := make([]trait, 0, len(news)+len(over))
	for t := range news {
		list = append(list, t)
	}
	for t, early := range over {
		if early {
			list = append(list, t)
		}
	}
	if len(list) == 0 {
		return nil
	}
	// Nodes that write the same rows wait for each other, in one order.
	slices.SortFunc(list, func(a, b trait) int {
		return cmp.Or(cmp.Compare(a.host, b.host), cmp.Compare(a.Trait, b.Trait))
	})
	var hosts, traits []string
	var at, until, times []int64
	var gone []bool
	for _, t := range list {
		fact, is := news[t]
		if !is {
			fact = store.Fact{Since: now, Until: now.Add(hostMemory)}
		}
		hosts, traits, gone = append(hosts, t.host), append(traits, string(t.Trait)), append(gone, !is)
		at, until = append(at, fact.Since.UnixMicro()), append(until, fact.Until.UnixMicro())
		times = append(times, int64(fact.Times))
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, `INSERT INTO hosts AS h (host, trait, at, until, times, gone)
		SELECT host, trait, timestamptz 'epoch' + at * interval '1 microsecond',
			timestamptz 'epoch' + until * interval '1 microsecond', times, gone
		FROM unnest($1::text[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bool[])
			AS n (host, trait, at, until, times, gone)
		ON CONFLICT (host, trait) DO UPDATE SET xid = pg_current_xact_id(), at = excluded.at, until = excluded.until,
			times = excluded.times, gone = excluded.gone
		WHERE excluded.at > h.at`,
		pq.StringArray(hosts), pq.StringArray(traits), pq.Int64Array(at), pq.Int64Array(until), pq.Int64Array(times),
		pq.BoolArray(gone))
	return err
}

// As with changesSince, a look ends before the oldest transaction that still runs.
const hostsSince = `
	SELECT xid, host, trait, at, until, times, gone FROM hosts
	WHERE (xid, host, trait) > ($1::xid8, $2, $3) AND xid < pg_snapshot_xmin(pg_current_snapshot())
	ORDER BY xid, host, trait LIMIT $4`

// takeHosts takes over some of what others learnt about hosts, up to lookPages rows.
func (f *Fleet) takeHosts(ctx context.Context, now time.Time) error {
	next := f.hosts
	var t trait
	var fact store.Fact
	var gone bool
	type row struct {
		trait
		store.Fact
		gone bool
	}
	var list []row
	err := f.query(ctx, hostsSince,
		[]any{strconv.FormatUint(next.xid, 10), next.last.host, string(next.last.Trait), lookPages},
		[]any{&next.xid, &t.host, &t.Trait, &fact.Since, &fact.Until, &fact.Times, &gone}, func() error {
			next.last, fact.Trait = t, t.Trait
			list = append(list, row{t, fact, gone})
			return nil
		})
	if err != nil {
		return err
	}
	for _, r := range list {
		err := f.takeOne("host", r.host, func() error {
			switch {
			case !shareableHost(r.host):
				f.setAside("host", r.host, errors.New("nothing of it is shared"))
			case r.gone:
				if err := f.forgetFact(r.trait, r.Since, now); err != nil {
					return err
				}
				delete(next.common, r.trait)
			default:
				if err := f.o.Store.TakeFact(r.host, r.Fact, now); err != nil {
					return err
				}
				// What this node cannot have learnt, such as a trait that a newer program knows, is not its own to end.
				if h, err := f.o.Store.Host(r.host); err == nil && h.Knows(r.trait.Trait, now) {
					next.common[r.trait] = r.Fact
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	next.news = len(list) >= lookPages
	f.hosts = next
	return nil
}

// forgetFact forgets what this node has learnt of a trait until a time.
func (f *Fleet) forgetFact(t trait, until, now time.Time) error {
	if h, err := f.o.Store.Host(t.host); err != nil || len(h.Facts) == 0 {
		return err
	}
	_, err := f.o.Store.Forget(t.host, now, func(own store.Fact) bool {
		return own.Trait == t.Trait && own.OfHost() && !own.Since.After(until)
	})
	return err
}
