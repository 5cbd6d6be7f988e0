package fleet

import (
	"context"
	"errors"
	"strconv"
	"time"

	"github.com/lib/pq"
)

// Node is a node of a fleet, as it last told of itself.
type Node struct {
	Name    string    `json:"name"`
	Version string    `json:"version"`
	Started time.Time `json:"started"`
	Seen    time.Time `json:"seen"`
	Away    bool      `json:"away,omitempty"` // it was not seen for longer than it should be
	Pages   int64     `json:"pages"`
	Outbox  int64     `json:"outbox"`
	Behind  int64     `json:"behind"`
	Crawls  []string  `json:"crawls,omitempty"` // knowledge bases that it has the lease to fill, at most 100
}

// beat tells every few seconds that the node is there, and looks how far it is behind. It is also where a node notices
// that the connection leads to another database, or one that was set back: the error is errMoved. A server that is back
// before anything is asked of it is not missed: connections are made again without a word.
func (f *Fleet) beat(ctx context.Context) error {
	s := f.o.Store
	var behind int64
	var identity string
	var setBack bool
	var mark *time.Time
	err := f.queryOften(ctx, beatOfNode, append(f.lastKnown(),
		strconv.FormatUint(f.position.XID, 10), f.position.Key, strconv.FormatUint(f.hosts.xid, 10), f.hosts.last.host,
		string(f.hosts.last.Trait), f.position.Database, f.o.Version, f.started.UTC().Truncate(time.Microsecond),
		s.Totals().Pages, s.QueuedJobs(Consumer), awayAfter),
		[]any{&identity, &setBack, &behind, &f.hosts.news, &mark}, func() error { return nil })
	if err != nil {
		return err
	}
	if identity != f.position.Database || setBack {
		return errMoved
	}
	isAnother := mark == nil
	if !isAnother {
		f.mark = *mark
	}
	reason, remedy := "", ""
	switch {
	case isAnother:
		f.mark = time.Time{}
		reason, remedy = "another node calls itself "+f.o.Node+", or this one has just started again", "set fleet.node"
	case f.apart != 0:
		reason = "the clock is " + f.apart.Abs().String() + " from the database's"
		remedy = "set both by NTP: of two readings of a page the later one counts"
	}
	var came bool
	f.note(func(s *Status) {
		if came = s.State != Connected; came {
			s.Since = time.Now()
		}
		s.State, s.Reason, s.Remedy, s.Behind = Connected, reason, remedy, behind
	})
	if came {
		f.log.Info("part of a fleet", "name", f.o.name(), "node", f.o.Node)
	}
	return nil
}

// beatOfNode tells that a node is there, unless its database was set back or is another one. All of it sees what was
// before.
const beatOfNode = `
	WITH database AS (
		SELECT ` + identityOf + ` AS identity, ` + setBackSince + ` AS back,
			(SELECT count(*) FROM (SELECT FROM pages WHERE (xid, key) > ($8::xid8, $9::bytea) LIMIT 10000) AS p) AS behind,
			EXISTS (SELECT FROM (SELECT FROM hosts
				WHERE (xid, host, trait) > ($10::xid8, $11, $12) AND xid < pg_snapshot_xmin(pg_current_snapshot())
				ORDER BY xid, host, trait LIMIT 1) AS h) AS hosts
		FROM fleet
	), beat AS (
		INSERT INTO nodes AS n (name, version, started_at, seen_at, pages, outbox, behind)
		SELECT $6, $14, $15::timestamptz, now(), $16::bigint, $17::bigint, behind FROM database
		WHERE identity = $13 AND NOT back
		ON CONFLICT (name) DO UPDATE SET version = excluded.version, started_at = excluded.started_at,
			seen_at = now(), pages = excluded.pages, outbox = excluded.outbox, behind = excluded.behind
		WHERE n.started_at = excluded.started_at OR n.seen_at < now() - $18::interval
		RETURNING seen_at
	)
	SELECT identity, back, behind, hosts, (SELECT seen_at FROM beat) FROM database`

// leave gives leases back and removes the node's row when the node ends, within a second: others need not wait for it.
func (f *Fleet) leave(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
	defer cancel()
	if f.Status().State != Connected {
		return
	}
	if err := f.releaseLeases(ctx); err != nil {
		f.log.Debug("leases not given back", "err", err)
	}
	_, err := f.db.ExecContext(ctx, "DELETE FROM nodes WHERE name = $1 AND started_at = $2", f.o.Node,
		f.started.UTC().Truncate(time.Microsecond))
	if err != nil {
		f.log.Debug("the fleet was not told that this node ends", "err", err)
	}
}

// sweep removes nodes that are long gone, what nobody needs any more, and what was deleted so long ago that no node can
// bring it back.
func (f *Fleet) sweep(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	for _, obsolete := range []string{
		"pages WHERE gone_at < now() - interval '30 days'",
		"purges WHERE at < now() - interval '30 days'",
		"responses WHERE retain_until < now()",
		"renditions WHERE expires < now()",
		"flights WHERE until < now()",
		"spent WHERE day < current_date - 7",
		"turns WHERE next < now() - interval '1 hour'",
		"visits WHERE at < now() - interval '180 days'",
		"lost WHERE told_at < now() - interval '7 days'",
		"nodes WHERE seen_at < now() - interval '7 days'",
		"users WHERE gone AND changed_at < now() - interval '30 days'",
		"turns WHERE next > now() + interval '1 day'",
		"purges WHERE at > now() + interval '2 days'",
		"lost WHERE told_at > now() + interval '1 day'",
		"usage WHERE day < current_date - 400",
		"bases WHERE gone_at < now() - interval '30 days'",
		"rounds AS r WHERE NOT EXISTS (SELECT FROM bases AS b WHERE b.id = r.base)",
		"hosts WHERE until < now()",
		"leases WHERE until < now() - interval '30 days'",
	} {
		if _, err := f.db.ExecContext(ctx, "DELETE FROM "+obsolete); err != nil {
			return err
		}
	}
	return nil
}

// Nodes returns the nodes of the fleet, by name. The error says in a sentence why the database does not tell.
func (f *Fleet) Nodes(ctx context.Context) ([]Node, error) {
	var nodes []Node
	var n Node
	err := f.query(ctx, `SELECT left(name, 100), left(version, 100),
			greatest(least(started_at, now() + interval '1 year'), 'epoch'),
			greatest(least(seen_at, now() + interval '1 year'), 'epoch'), seen_at < now() - $1::interval, pages, outbox,
			behind,
		ARRAY(SELECT b.name FROM leases AS l JOIN bases AS b ON l.what = $2 || b.id
			WHERE l.node = nodes.name AND l.until >= clock_timestamp() ORDER BY b.name LIMIT 100)
		FROM nodes ORDER BY name LIMIT 10000`, []any{awayAfter, leaseOf("")},
		[]any{
			&n.Name, &n.Version, &n.Started, &n.Seen, &n.Away, &n.Pages, &n.Outbox, &n.Behind,
			(*pq.StringArray)(&n.Crawls),
		},
		func() error { nodes = append(nodes, n); n.Crawls = nil; return nil })
	if err != nil {
		reason, _ := explain(err, f.o.name())
		return nil, errors.New(reason)
	}
	return nodes, nil
}
