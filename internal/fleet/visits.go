package fleet

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// batchVisits is how many visits a statement tells at most, and maxVisitBatches how many statements follow each other.
	batchVisits     = 2000
	maxVisitBatches = 5

	// visitOverlap is how long after its time a visit may come to disk: what is younger is looked at again.
	visitOverlap = 10 * time.Second

	maxVisitsListed = 500
)

// uuidForm is what the database takes for a UUID.
var uuidForm = lazy.Pattern(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// shareVisits tells the visits of this node. A visit is told once, by its id, however often the database hears of it.
func (f *Fleet) shareVisits(ctx context.Context) error {
	for range maxVisitBatches {
		if more, err := f.tellVisits(ctx); err != nil || !more {
			return err
		}
	}
	return nil
}

// tellVisits tells the visits of this node that are on disk and not yet told, at most batchVisits, and reports whether
// there are more. The last ten seconds are looked at again, because a visit comes to disk after its time.
func (f *Fleet) tellVisits(ctx context.Context) (more bool, err error) {
	next := f.position
	if next.VisitsFrom == 0 { // it took part before visits were shared
		next.VisitsFrom = time.Now().UnixMilli()
		next.Visits = next.VisitsFrom
	}
	if f.toldVisits == nil {
		f.toldVisits = map[string]int64{}
	}
	again := max(next.Visits-visitOverlap.Milliseconds(), next.VisitsFrom)
	for id, at := range f.toldVisits {
		if at < again {
			delete(f.toldVisits, id)
		}
	}
	var list []store.Visit
	f.o.Store.VisitsSince(time.UnixMilli(again), func(v store.Visit) bool {
		if _, told := f.toldVisits[v.ID]; told {
			return true
		}
		if len(list) == batchVisits {
			more = true
			return false
		}
		list = append(list, v)
		return true
	})
	if err := f.insertVisits(ctx, list); err != nil {
		return false, err
	}
	for i := range list {
		at := list[i].Time.UnixMilli()
		f.toldVisits[list[i].ID] = at
		next.Visits = max(next.Visits, at)
	}
	if next.Visits == f.position.Visits && next.VisitsFrom == f.position.VisitsFrom {
		return more, nil
	}
	if err := f.o.Store.SetFleetPosition(next); err != nil {
		return false, err
	}
	f.position = next
	return more, nil
}

// insertVisits writes visits to the database, but for those of URLs that may not leave the node.
func (f *Fleet) insertVisits(ctx context.Context, list []store.Visit) error {
	var ids, docs, urls, agents, sessions, readers, sources []string
	var at, tokens, html, times []int64
	var cached []bool
	for i := range list {
		v := &list[i]
		if u, err := page.Parse(v.URL); err != nil || !shareableURL(u) || !uuidForm().MatchString(v.ID) {
			continue
		}
		ids, docs, urls = append(ids, v.ID), append(docs, textOf(v.Doc)), append(urls, textOf(v.URL))
		agents, sessions = append(agents, textOf(v.Agent)), append(sessions, textOf(v.Session))
		readers, sources = append(readers, textOf(v.User)), append(sources, textOf(string(v.Source)))
		at, cached = append(at, v.Time.UnixMicro()), append(cached, v.FromCache)
		tokens = append(tokens, min(int64(v.Tokens), math.MaxInt32))
		html = append(html, min(int64(v.HTMLTokens), math.MaxInt32))
		times = append(times, max(v.Count, 1))
	}
	if len(ids) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, `INSERT INTO visits
			(id, node, at, doc, url, agent, session, reader, source, from_cache, tokens, html_tokens, times)
		SELECT id, $1, timestamptz 'epoch' + at * interval '1 microsecond', doc, url, agent, session, reader, source,
			cached, tokens, html, times
		FROM unnest($2::uuid[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[], $9::text[],
			$10::bool[], $11::int[], $12::int[], $13::bigint[])
			AS v (id, at, doc, url, agent, session, reader, source, cached, tokens, html, times)
		ON CONFLICT (id) DO NOTHING`,
		f.o.Node, pq.StringArray(ids), pq.Int64Array(at), pq.StringArray(docs), pq.StringArray(urls),
		pq.StringArray(agents), pq.StringArray(sessions), pq.StringArray(readers), pq.StringArray(sources),
		pq.BoolArray(cached), pq.Int64Array(tokens), pq.Int64Array(html), pq.Int64Array(times))
	return err
}

// forgetVisits removes the visits of pages that were deleted.
func (f *Fleet) forgetVisits(ctx context.Context, rows []row) error {
	var docs []string
	for i := range rows {
		if rows[i].goneAt != nil {
			docs = append(docs, rows[i].key.Doc())
		}
	}
	if len(docs) == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, statementTime)
	defer cancel()
	_, err := f.db.ExecContext(ctx, "DELETE FROM visits WHERE doc = ANY ($1)", pq.StringArray(docs))
	return err
}

// A Visit is a visit of a node.
type Visit struct {
	store.Visit
	Node string `json:"node,omitempty"`
}

// Visits returns the visits of all nodes, newest first, and a cursor for the next call, empty when these were the last.
// Those of the last seconds may be missing. The error is [store.ErrCursor] for a cursor that is none, else it says in a
// sentence why the database does not tell.
func (f *Fleet) Visits(ctx context.Context, q store.VisitQuery) (list []Visit, next string, err error) {
	limit := q.Limit
	if limit <= 0 || limit > maxVisitsListed {
		limit = 50
	}
	before, id, err := visitCursor(q.Cursor)
	if err != nil {
		return nil, "", err
	}
	doc := ""
	if q.Page != nil {
		doc = q.Page.Doc()
	}
	var v Visit
	var micros int64
	err = f.query(ctx, `SELECT id, node, (extract(epoch FROM at) * 1000000)::bigint, left(doc, 100), left(url, 65536),
			left(agent, 1000), left(session, 1000), left(reader, 1000), left(source, 100), from_cache, tokens, html_tokens, times
		FROM visits
		WHERE (at, id) < (timestamptz 'epoch' + $1 * interval '1 microsecond', $2::uuid) AND at > 'epoch'
			AND ($3 = '' OR doc = $3) AND ($4 = '' OR session = $4) AND ($5 = '' OR reader = $5)
		ORDER BY at DESC, id DESC LIMIT $6`,
		[]any{before, id, doc, q.Session, q.User, limit + 1},
		[]any{
			&v.ID, &v.Node, &micros, &v.Doc, &v.URL, &v.Agent, &v.Session, &v.User, &v.Source, &v.FromCache, &v.Tokens,
			&v.HTMLTokens, &v.Count,
		}, func() error {
			if len(list) == limit {
				last := &list[limit-1]
				next = encodeVisitCursor(last.Time.UnixMicro(), last.ID)
				return nil
			}
			visit := v
			visit.Time = time.UnixMicro(micros).UTC()
			if visit.Count == 1 {
				visit.Count = 0
			}
			list = append(list, visit)
			return nil
		})
	if err != nil {
		reason, _ := explain(err, f.o.name())
		return nil, "", errors.New(reason)
	}
	return list, next, nil
}

// A cursor is the time and the id of the last visit of a list.
func encodeVisitCursor(micros int64, id string) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Appendf(nil, "%d %s", micros, id))
}

// visitCursor reads a cursor that encodeVisitCursor made; an empty one begins with the newest visit.
func visitCursor(s string) (micros int64, id string, err error) {
	if s == "" {
		return time.Now().Add(maxAhead).UnixMicro(), "ffffffff-ffff-ffff-ffff-ffffffffffff", nil
	}
	text, err := base64.RawURLEncoding.DecodeString(s)
	at, id, ok := strings.Cut(string(text), " ")
	micros, err2 := strconv.ParseInt(at, 10, 64)
	if err != nil || err2 != nil || !ok || !uuidForm().MatchString(id) {
		return 0, "", fmt.Errorf("list visits: %w", store.ErrCursor)
	}
	return micros, id, nil
}
