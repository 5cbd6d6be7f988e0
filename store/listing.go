package store

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/tally"
	"github.com/readthru/readthru/store/wire"
)

// PageQuery selects pages. An empty field selects all.
type PageQuery struct {
	Host    string    // exactly, with its port unless that is the default
	Text    string    // part of title or URL, in any case
	Kind    string    // a page.Type
	Source  string    // a page.Source
	Warning string    // how a warning of the page begins; "any": it has one
	Since   time.Time // fetched since

	Sort   string // "recent" (default: last visit first, unread last); "visits", "tokens", "saved": most first; or "url"
	Cursor string // as returned by the call before
	Limit  int    // 0: 50; at most 1000

	// Look is at how many pages of a recent list a call looks at most, unless it is 0. What it finds may be less than
	// Limit, or nothing, although there is more: then there is a cursor.
	Look int
}

// Pages returns a listing of pages, and a cursor for the next call, which is empty after the last page. Recent pages of
// all hosts come from an index; other lists are made by reading every page that could be in them, unless that is more
// than Look.
func (s *Store) Pages(q PageQuery) (pages []*page.Page, next string, err error) {
	switch q.Sort {
	case "", "recent", "visits", "url", "tokens", "saved":
	default:
		return nil, "", fmt.Errorf(`list pages: sort %q must be "recent", "visits", "url", "tokens" or "saved"`, q.Sort)
	}
	s.flushCounts()
	s.settle()
	q.Limit = clampLimit(q.Limit)
	if (q.Sort == "" || q.Sort == "recent") && (q.Host == "" || s.hasManyPages(q)) {
		return s.recentPages(q)
	}
	return s.sortedPages(q)
}

// hasManyPages reports whether a host has more pages than a call of a listing looks at. A list that began so goes on
// so.
func (s *Store) hasManyPages(q PageQuery) bool {
	if q.Look == 0 {
		return false
	}
	if q.Cursor != "" {
		_, err := decodeCursor(q.Cursor, recentPrefix)
		return err == nil
	}
	n := 0
	if host := keys.Host(q.Host); host != "" {
		s.kv.Walk(kv.Scan{Prefix: keys.PagesOfHost(host), Keys: true}, func(string, []byte) bool {
			n++
			return n <= q.Look
		})
	}
	return n > q.Look
}

// PageKeys lists at most limit keys of pages in ascending order, beginning with from. It is the way to see every page
// once, whatever is stored or visited meanwhile. It may leave out a page that is stored during the walk: the change log
// has that page.
func (s *Store) PageKeys(from page.Key, limit int) (list []page.Key) {
	s.kv.Walk(kv.Scan{Prefix: "p/", From: keys.Page(from), Keys: true}, func(key string, _ []byte) bool {
		list = append(list, page.Key([]byte(key[len("p/"):])))
		return len(list) < limit
	})
	return list
}

// matches reports whether the query selects a page by what its record says, but for the host.
func (q PageQuery) matches(p *page.Record) bool {
	switch {
	case q.Kind != "" && string(p.Type) != q.Kind, q.Source != "" && string(p.Source) != q.Source,
		p.FetchedAt.Before(q.Since), q.Warning == "any" && len(p.Warnings) == 0:
		return false
	case q.Warning != "" && q.Warning != "any" && !slices.ContainsFunc(p.Warnings, func(w string) bool {
		return strings.HasPrefix(w, q.Warning)
	}):
		return false
	case q.Text == "":
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(p.Title), text) || strings.Contains(strings.ToLower(p.URL), text)
}

// recentPrefix begins the keys of the index of last visits.
const recentPrefix = "pr/"

// recentPages lists the pages that were read last, for [Store.Pages]: it walks the index of last visits backwards from
// the cursor, which is a key of that index, and reads only the pages that it passes.
func (s *Store) recentPages(q PageQuery) (pages []*page.Page, next string, err error) {
	sc := kv.Scan{Prefix: recentPrefix, Back: true, Keys: true}
	if sc.From, err = decodeCursor(q.Cursor, sc.Prefix); err != nil {
		return nil, "", fmt.Errorf("list pages: %w", err)
	}
	host, last, looked := keys.Host(q.Host), "", 0
	s.kv.Walk(sc, func(key string, _ []byte) bool {
		if key == sc.From {
			return true
		}
		if q.Look > 0 && looked == q.Look {
			next = encodeCursor(last)
			return false
		}
		looked++
		p, err := s.Page(page.Key([]byte(key[len(key)-len(page.Key{}):])))
		matches := err == nil && q.matches(&p.Record) && (host == "" || keys.HostOf(p.NormalizedURL) == host)
		if matches && len(pages) == q.Limit {
			next = encodeCursor(last)
			return false
		}
		if matches {
			pages = append(pages, p)
		}
		last = key
		return true
	})
	return pages, next, nil
}

// position is where a page stands in a list that is sorted by a number or the URL. In JSON it is the cursor of such a
// list.
type position struct {
	Number int64  // larger first
	Text   string // then by text
	Key    page.Key
}

// compare orders positions in a listing; the key breaks ties, so that a cursor is exact.
func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(o.Number, p.Number), strings.Compare(p.Text, o.Text),
		strings.Compare(string(p.Key[:]), string(o.Key[:])))
}

// placedPage is a page that sortedPages has found, with its place.
type placedPage struct {
	position
	page    *page.Page
	edition int // see pageRecord
}

// sortedPages lists pages in an order that no index has, for [Store.Pages]: it looks at all candidates and keeps the
// first after the cursor, one more than asked for, which tells whether there is a next call.
func (s *Store) sortedPages(q PageQuery) (pages []*page.Page, next string, err error) {
	const mark = "s" // a cursor of this list holds a position, not a key
	cursor, err := decodeCursor(q.Cursor, mark)
	var after *position
	if err == nil && cursor != "" {
		after = new(position)
		err = json.Unmarshal([]byte(cursor[len(mark):]), after)
	}
	if err != nil {
		return nil, "", fmt.Errorf("list pages: %w", err)
	}
	var top []placedPage
	add := func(k page.Key, r *pageRecord) {
		if !q.matches(&r.Page) {
			return
		}
		p := s.withVisits(k, r.Page)
		placed := placedPage{position{Key: k}, p, r.Edition}
		switch q.Sort {
		case "visits":
			placed.Number = p.VisitCount
		case "tokens":
			placed.Number = int64(p.Tokens)
		case "saved":
			placed.Number = p.Saved()
		case "url":
			placed.Text = p.NormalizedURL
		default:
			placed.Number = max(keys.Millis(p.LastVisitedAt), 0)
			if p.LastVisitedAt.IsZero() {
				placed.Number = tally.Unread(p.CreatedAt)
			}
		}
		if after == nil || placed.compare(*after) > 0 {
			top = insert(top, placed, q.Limit+1, func(a, b placedPage) int { return a.compare(b.position) })
		}
	}
	s.candidates(q.Host, add)
	if len(top) > q.Limit {
		top = top[:q.Limit]
		next = encodeCursor(mark + string(wire.JSON(top[len(top)-1].position)))
	}
	for _, placed := range top {
		// texts are cleaned last, for the pages that are returned: cleaning may read a page's content
		placed.page.Record = s.told(placed.Key, &pageRecord{Page: placed.page.Record, Edition: placed.edition})
		pages = append(pages, placed.page)
	}
	return pages, next, nil
}

// candidates calls f, for a listing, with the stored pages of a host, or for all, whose records can be read.
func (s *Store) candidates(host string, f func(page.Key, *pageRecord)) {
	if host == "" {
		s.kv.Walk(kv.Scan{Prefix: "p/"}, func(key string, value []byte) bool {
			var record pageRecord
			if wire.Unmarshal(value, &record) {
				f(page.Key([]byte(key[len("p/"):])), &record)
			}
			return true
		})
		return
	}
	if host = keys.Host(host); host == "" {
		return
	}
	prefix := keys.PagesOfHost(host)
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		k := page.Key([]byte(key[len(prefix):]))
		var record pageRecord
		if s.kv.GetJSON(&kv.Batch{}, keys.Page(k), &record) == nil {
			f(k, &record)
		}
		return true
	})
}

// insert puts v into a sorted list that keeps its first limit elements, for the listings of pages and hosts: so a
// listing of all holds no more than one page of its answer in memory.
func insert[V any](list []V, v V, limit int, order func(a, b V) int) []V {
	i, _ := slices.BinarySearchFunc(list, v, order)
	if i >= limit {
		return list
	}
	list = slices.Insert(list, i, v)
	return list[:min(len(list), limit)]
}

// clampLimit returns how many elements a listing returns: 50 if the caller names no number, and at most 1000.
func clampLimit(limit int) int {
	if limit <= 0 {
		return defaultLimit
	}
	return min(limit, maxLimit)
}

// encodeCursor turns a position in a listing into text for a URL.
func encodeCursor(position string) string {
	return base64.RawURLEncoding.EncodeToString([]byte(position))
}

// decodeCursor is the inverse of encodeCursor. A position always begins with prefix, so that a cursor of another
// listing is refused: the error wraps ErrCursor.
func decodeCursor(cursor, prefix string) (string, error) {
	position, err := base64.RawURLEncoding.DecodeString(cursor)
	if err != nil || cursor != "" && !strings.HasPrefix(string(position), prefix) {
		return "", fmt.Errorf("cursor %.40q: %w", cursor, ErrCursor)
	}
	return string(position), nil
}
