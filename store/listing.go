package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"readthru/page"
)

// PageQuery selects pages. An empty Host or Text selects all.
type PageQuery struct {
	Host   string // exactly, with its port unless that is the default
	Text   string // part of title or URL, in any case
	Sort   string // "recent" (default: last visit first, unread last), "visits" or "tokens" (most first), or "url"
	Cursor string // as returned by the call before
	Limit  int    // 0: 50; at most 1000
}

// Pages returns pages, and a cursor for the next call, which is empty after the last page. Recent pages of all hosts
// come from an index; other lists are made by reading every page that could be in them.
func (s *Store) Pages(q PageQuery) (pages []*page.Page, next string, err error) {
	switch q.Sort {
	case "", "recent", "visits", "url", "tokens":
	default:
		return nil, "", fmt.Errorf(`list pages: sort %q must be "recent", "visits", "url" or "tokens"`, q.Sort)
	}
	s.flushCounts()
	s.settle()
	q.Limit = clampLimit(q.Limit)
	if q.Host == "" && (q.Sort == "" || q.Sort == "recent") {
		return s.recentPages(q)
	}
	return s.sortedPages(q)
}

// PageKeys returns at most limit keys of pages in ascending order, beginning with from. It is the way to see every
// page once, whatever is stored or visited meanwhile. It may leave out a page that is stored during the walk: the
// change log has that page.
func (s *Store) PageKeys(from page.Key, limit int) (keys []page.Key) {
	s.kv.walk(scan{prefix: "p/", from: pageKey(from), keys: true}, func(key string, _ []byte) bool {
		keys = append(keys, page.Key([]byte(key[len("p/"):])))
		return len(keys) < limit
	})
	return keys
}

func (q PageQuery) matches(p *page.Record) bool {
	if q.Text == "" {
		return true
	}
	text := strings.ToLower(q.Text)
	return strings.Contains(strings.ToLower(p.Title), text) || strings.Contains(strings.ToLower(p.URL), text)
}

// recentPages walks the index of last visits backwards.
func (s *Store) recentPages(q PageQuery) (pages []*page.Page, next string, err error) {
	sc := scan{prefix: "pr/", back: true, keys: true}
	if sc.from, err = decodeCursor(q.Cursor, sc.prefix); err != nil {
		return nil, "", fmt.Errorf("list pages: %w", err)
	}
	last := ""
	s.kv.walk(sc, func(key string, _ []byte) bool {
		if key == sc.from {
			return true
		}
		p, err := s.Page(page.Key([]byte(key[len(key)-len(page.Key{}):])))
		if err != nil || !q.matches(&p.Record) {
			return true
		}
		if len(pages) == q.Limit {
			next = encodeCursor(last)
			return false
		}
		pages, last = append(pages, p), key
		return true
	})
	return pages, next, nil
}

// position is where a page stands in a sorted list.
type position struct {
	Number int64  // larger first
	Text   string // then by text
	Key    page.Key
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(o.Number, p.Number), strings.Compare(p.Text, o.Text),
		strings.Compare(string(p.Key[:]), string(o.Key[:])))
}

type placedPage struct {
	position
	page    *page.Page
	edition int // see pageRecord
}

// sortedPages looks at all candidates and keeps the first after the cursor.
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
		case "url":
			placed.Text = p.NormalizedURL
		default:
			placed.Number = max(millis(p.LastVisitedAt), 0)
			if p.LastVisitedAt.IsZero() {
				placed.Number = unread(p.CreatedAt)
			}
		}
		if after == nil || placed.compare(*after) > 0 {
			top = insert(top, placed, q.Limit+1, func(a, b placedPage) int { return a.compare(b.position) })
		}
	}
	s.candidates(q.Host, add)
	if len(top) > q.Limit {
		top = top[:q.Limit]
		next = encodeCursor(mark + string(encodeJSON(top[len(top)-1].position)))
	}
	for _, placed := range top {
		placed.page.Record = s.told(placed.Key, &pageRecord{Page: placed.page.Record, Edition: placed.edition})
		pages = append(pages, placed.page)
	}
	return pages, next, nil
}

// candidates calls f for the pages of a host, or for all.
func (s *Store) candidates(host string, f func(page.Key, *pageRecord)) {
	if host == "" {
		s.kv.walk(scan{prefix: "p/"}, func(key string, value []byte) bool {
			var record pageRecord
			if json.Unmarshal(value, &record) == nil {
				f(page.Key([]byte(key[len("p/"):])), &record)
			}
			return true
		})
		return
	}
	if host = cleanHost(host); host == "" {
		return
	}
	prefix := hostPagesPrefix(host)
	s.kv.walk(scan{prefix: prefix, keys: true}, func(key string, _ []byte) bool {
		k := page.Key([]byte(key[len(prefix):]))
		var record pageRecord
		if s.kv.getJSON(&batch{}, pageKey(k), &record) == nil {
			f(k, &record)
		}
		return true
	})
}
