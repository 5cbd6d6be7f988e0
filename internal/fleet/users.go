package fleet

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"time"

	"github.com/lib/pq"

	"github.com/readthru/readthru/internal/unknown"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

const (
	// maxUserRecord is the longest record of a user that is taken over, in bytes, and maxUserRows how many are read.
	maxUserRecord = 64 << 10
	maxUserRows   = 4000

	// toldDays is how many days of usage a node tells again when it comes to a database.
	toldDays = 35
)

// sharedUsers is what the node and the database last had in common of users and of what these used.
type sharedUsers struct {
	edition string // of the database's users; empty: not read yet
	changes int64  // of the node's users
	told    map[useKey]users.Use
}

// useKey is a user in a day.
type useKey struct {
	day  int64
	name string
}

// shareUsers has the node and the database agree about the users, if either has changed; edition is the database's.
// Records are merged, so that what was revoked anywhere stays revoked whoever writes last.
func (f *Fleet) shareUsers(ctx context.Context, edition string) error {
	changes := f.o.Store.UsersChanges()
	if edition != "" && edition == f.shared.edition && changes == f.shared.changes {
		return nil
	}
	theirs, edition, err := f.mergeUsers(ctx)
	if err != nil {
		return err
	}
	changes, err = f.takeUsers(slices.Sorted(maps.Keys(theirs)), theirs, changes)
	if err != nil {
		return err
	}
	f.shared.edition, f.shared.changes = edition, changes
	return nil
}

// mergeUsers writes what the node knows of users into the database, and returns what both know, by name. The lock on
// the edition has nodes do that one after the other.
func (f *Fleet) mergeUsers(ctx context.Context) (merged map[string]users.User, edition string, err error) {
	tx, err := f.db.BeginTx(ctx, nil)
	if err != nil {
		return nil, "", err
	}
	defer tx.Rollback() //nolint:errcheck // it was committed, or its error is returned
	const lock = "SELECT edition FROM users_edition FOR UPDATE"
	err = tx.QueryRowContext(ctx, lock).Scan(&edition)
	if errors.Is(err, sql.ErrNoRows) { // somebody has removed it
		if _, err = tx.ExecContext(ctx, "INSERT INTO users_edition DEFAULT VALUES ON CONFLICT DO NOTHING"); err == nil {
			err = tx.QueryRowContext(ctx, lock).Scan(&edition)
		}
	}
	if err != nil {
		return nil, "", err
	}
	rows, err := tx.QueryContext(ctx, `SELECT name, gone, record FROM users WHERE length(record) <= $1
		ORDER BY name LIMIT $2`, maxUserRecord, maxUserRows)
	if err != nil {
		return nil, "", err
	}
	defer rows.Close() //nolint:errcheck // Err tells what went wrong
	merged, others := map[string]users.User{}, map[string]users.User{}
	for rows.Next() {
		var name, record string
		var gone bool
		if err := rows.Scan(&name, &gone, &record); err != nil {
			return nil, "", err
		}
		err := f.takeOne("user", name, func() error {
			u, isOwn, err := readUser(name, gone, record)
			if isOwn { // if it is of a newer program it is merged, although it cannot be taken over
				others[name] = u
			}
			if err != nil {
				f.setAside("user", name, err)
				return nil
			}
			merged[name] = u
			return nil
		})
		if err != nil {
			return nil, "", err
		}
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return nil, "", err
	}
	var names, records []string
	var gone []bool
	var at []int64
	for _, u := range f.o.Store.Users().List {
		other, known := others[u.Name]
		if !known {
			other = u
		}
		u = users.Merge(u, other)
		if u.Check() == nil {
			merged[u.Name] = u
		}
		record, err := unknown.Marshal(u)
		if err != nil { // a time of it cannot be said
			f.setAside("user", u.Name, err)
			delete(merged, u.Name)
			continue
		}
		if known && sameUser(u, other) { // in whatever words others say it
			continue
		}
		names, records = append(names, u.Name), append(records, string(record))
		gone, at = append(gone, u.Gone), append(at, u.Changed.UnixMicro())
	}
	if len(names) > 0 {
		_, err = tx.ExecContext(ctx, `INSERT INTO users (name, changed_at, gone, record)
			SELECT name, timestamptz 'epoch' + at * interval '1 microsecond', gone, record
			FROM unnest($1::text[], $2::bigint[], $3::bool[], $4::text[]) AS n (name, at, gone, record)
			ON CONFLICT (name) DO UPDATE SET changed_at = excluded.changed_at, gone = excluded.gone,
				record = excluded.record`,
			pq.StringArray(names), pq.Int64Array(at), pq.BoolArray(gone), pq.StringArray(records))
		if err == nil {
			renew := "UPDATE users_edition SET edition = gen_random_uuid() RETURNING edition"
			err = tx.QueryRowContext(ctx, renew).Scan(&edition)
		}
		if err != nil {
			return nil, "", err
		}
	}
	return merged, edition, tx.Commit()
}

// readUser returns the user of a row, after it was checked to be one. isOwn says that the record is the row's.
func readUser(name string, gone bool, record string) (u users.User, isOwn bool, err error) {
	if err := unknown.Unmarshal([]byte(record), &u); err != nil {
		return u, false, err
	}
	if u.Name != name || u.Gone != gone {
		return u, false, errNotItsOwn
	}
	u = users.Merge(u, u)
	return u, true, u.Check()
}

// takeUsers takes over the users of some names in the store, and returns how often its users have changed with that.
// What has changed there since then is told next time. Users that the store does not take, because they are too many or
// too large, are set aside.
func (f *Fleet) takeUsers(names []string, theirs map[string]users.User, changes int64) (int64, error) {
	differs := func(all *store.Users) (news bool) {
		for _, name := range names {
			u := theirs[name]
			at := slices.IndexFunc(all.List, func(mine users.User) bool { return mine.Name == name })
			if at < 0 {
				all.List, news = append(all.List, u), true
				all.Closed = all.Closed || !u.Gone
				continue
			}
			if m := users.Merge(all.List[at], u); !sameUser(m, all.List[at]) {
				all.List[at], news = m, true
				all.Closed = all.Closed || !m.Gone
			}
		}
		slices.SortFunc(all.List, func(a, b users.User) int { return cmp.Compare(a.Name, b.Name) })
		return news
	}
	now := f.o.Store.Users()
	here := map[string]bool{}
	for i := range now.List {
		here[now.List[i].Name] = true
	}
	room := store.MaxUsers - len(here)
	names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
		if !here[name] {
			room--
		}
		tooMany := !here[name] && room < 0
		if tooMany {
			f.setAside("user", name, store.ErrUsers)
		}
		return tooMany
	})
	took := func() {
		for _, name := range names {
			f.taken("user", name)
		}
	}
	if !differs(&now) {
		took()
		return changes, nil
	}
	err := f.o.Store.ChangeUsers(time.Now(), func(all *store.Users) error { differs(all); return nil })
	switch half := len(names) / 2; {
	case errors.Is(err, store.ErrFull):
		return changes, err
	case err != nil && half > 0:
		if changes, err = f.takeUsers(names[:half], theirs, changes); err != nil {
			return changes, err
		}
		return f.takeUsers(names[half:], theirs, changes)
	case err != nil:
		f.setAside("user", names[0], err)
		return changes, nil
	}
	took()
	if f.o.UsersChanged != nil {
		if err := f.o.UsersChanged(); err != nil {
			return changes, err
		}
	}
	return changes + 1, nil
}

// sameUser reports whether two records are the same.
func sameUser(a, b users.User) bool {
	x, err1 := unknown.Marshal(a)
	y, err2 := unknown.Marshal(b)
	return err1 == nil && err2 == nil && string(x) == string(y)
}

// shareUse tells how much the users of this node used, and learns how many tokens other nodes gave them today, which
// count towards their limits.
func (f *Fleet) shareUse(ctx context.Context, now time.Time) error {
	today := users.DayOf(now)
	from := today - 1
	if f.shared.told == nil {
		f.shared.told, from = map[useKey]users.Use{}, today-toldDays
	}
	var days, requests, bytes, pages, tokens, html, saved []int64
	var names []string
	list := f.o.Store.Uses(from, today)
	for _, use := range list {
		if f.shared.told[useKey{use.Day, use.User}] == use.Use || use.User != textOf(use.User) {
			continue
		}
		days, names, requests = append(days, use.Day), append(names, use.User), append(requests, use.Requests)
		bytes, pages, tokens = append(bytes, use.Bytes), append(pages, use.Pages), append(tokens, use.Tokens)
		html, saved = append(html, use.HTMLTokens), append(saved, use.Saved)
	}
	if len(days) > 0 {
		ctx, cancel := context.WithTimeout(ctx, statementTime)
		defer cancel()
		_, err := f.db.ExecContext(ctx, `INSERT INTO usage
				(day, name, node, requests, bytes, pages, tokens, html_tokens, tokens_saved)
			SELECT date '1970-01-01' + day::int, name, $1, requests, bytes, pages, tokens, html, saved
			FROM unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
				$9::bigint[]) AS n (day, name, requests, bytes, pages, tokens, html, saved)
			ON CONFLICT (day, name, node) DO UPDATE SET requests = excluded.requests, bytes = excluded.bytes,
				pages = excluded.pages, tokens = excluded.tokens, html_tokens = excluded.html_tokens,
				tokens_saved = excluded.tokens_saved`,
			f.o.Node, pq.Int64Array(days), pq.StringArray(names), pq.Int64Array(requests), pq.Int64Array(bytes),
			pq.Int64Array(pages), pq.Int64Array(tokens), pq.Int64Array(html), pq.Int64Array(saved))
		if err != nil {
			return err
		}
		for _, use := range list {
			f.shared.told[useKey{use.Day, use.User}] = use.Use
		}
	}
	if f.o.UsedElsewhere == nil || f.o.Store.UsersChanges() == 0 && len(list) == 0 {
		return nil
	}
	others, err := f.Uses(ctx, today, today)
	if err != nil {
		return err
	}
	elsewhere := map[string]int64{}
	for _, use := range others {
		elsewhere[use.User] += use.Tokens
	}
	f.o.UsedElsewhere(now, elsewhere)
	return nil
}

// Uses returns what users used on the other nodes, in the days from one to another.
func (f *Fleet) Uses(ctx context.Context, from, to int64) ([]store.DayUse, error) {
	var list []store.DayUse
	var use store.DayUse
	err := f.query(ctx, `SELECT day - date '1970-01-01', name, `+sumOf("requests")+`, `+sumOf("bytes")+`,
			`+sumOf("pages")+`, `+sumOf("tokens")+`, `+sumOf("html_tokens")+`, `+sumOf("tokens_saved")+`
		FROM usage WHERE day BETWEEN date '1970-01-01' + $1::int AND date '1970-01-01' + $2::int AND node <> $3
		GROUP BY day, name ORDER BY day, name LIMIT 100000`, []any{from, to, f.o.Node},
		[]any{
			&use.Day, &use.User, &use.Requests, &use.Bytes, &use.Pages, &use.Tokens, &use.HTMLTokens, &use.Saved,
		},
		func() error { list = append(list, use); return nil })
	return list, err
}

// sumOf returns, for the use by users, the sum of a column in SQL: of rows that have absurd numbers the least or the
// greatest.
func sumOf(column string) string {
	return fmt.Sprintf("greatest(least(sum(%s), %d), 0)::bigint", column, math.MaxInt64)
}

// UsesElsewhere is Uses, of users at other nodes, with an error in a sentence, for people.
func (f *Fleet) UsesElsewhere(ctx context.Context, from, to int64) ([]store.DayUse, error) {
	list, err := f.Uses(ctx, from, to)
	if err != nil {
		reason, _ := explain(err, f.o.name())
		return nil, errors.New(reason)
	}
	return list, nil
}
