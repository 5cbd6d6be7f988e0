package store

import (
	"context"
	"fmt"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/body"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Compact rewrites the files of the engine, so that they no longer hold what was deleted before the call. First it
// deletes what deleted pages left: bodies, and stored responses that could be pages and are of none. It takes some
// seconds for each gigabyte; reads and writes go on, but for a moment. A body that a reader has open is deleted when
// the next sweep finds it closed. The end of ctx ends Compact early, except while the engine moves its tables.
//
// By itself the engine drops a deleted record only when it next rewrites the table that holds it, which may be never.
func (s *Store) Compact(ctx context.Context) error {
	err := s.kv.Compact(ctx, func() error {
		if _, err := s.deleteStray(); err != nil {
			return err
		}
		s.deleteWaiting()
		if err := s.deleteDead(ctx); err != nil {
			return err
		}
		s.trimJobs()
		return s.Flush()
	})
	if err != nil {
		return fmt.Errorf("compact store: %w", err)
	}
	return nil
}

// deleteDead deletes, for Compact, the bodies that nobody refers to, without the hour that the sweep gives them.
func (s *Store) deleteDead(ctx context.Context) error {
	var sums []Sum
	s.kv.Walk(kv.Scan{Prefix: "w/", Keys: true}, func(key string, _ []byte) bool {
		sums = append(sums, Sum([]byte(key[len("w/")+4+1:])))
		return true
	})
	for _, sum := range sums {
		if err := ctx.Err(); err != nil {
			return err
		}
		s.mu.Lock()
		// without a manifest the body is being written: its parts are committed before it
		if _, whole := body.ManifestOf(s.kv, &kv.Batch{}, sum); whole {
			s.deleteLater(s.deleteUnreferred(sum, time.Now()))
		}
		s.mu.Unlock()
	}
	s.deleteWaiting()
	return nil
}

// deleteStray removes the stored responses that could be pages, but are of no page that is stored, for [Store.Compact]:
// the markdown twins, further parts and frames of pages that were deleted, and of others, which are asked for again.
// Nothing refers from a page to these responses, so what a deletion of the page left is found only by what it is not.
func (s *Store) deleteStray() (int, error) {
	s.settle()
	known := map[page.Key]bool{}
	s.kv.Walk(kv.Scan{Prefix: "p/"}, func(_ string, value []byte) bool {
		var record pageRecord
		if wire.Unmarshal(value, &record) {
			// a page's response is stored under the URL that was asked for or that it was redirected to
			for _, raw := range []string{record.Page.URL, record.Page.FinalURL, record.Page.NormalizedURL} {
				known[keyOf(raw)] = true
			}
		}
		return true
	})
	s.kv.Walk(kv.Scan{Prefix: "pn/"}, func(key string, value []byte) bool {
		if len(value) == len(page.Key{}) && known[page.Key(value)] {
			known[page.Key([]byte(key[len("pn/"):]))] = true
		}
		return true
	})
	return s.deleteEverywhere(func(r *Response) bool {
		return page.IsPage(r.Header.Get("Content-Type")) && !known[keyOf(r.URL)]
	})
}

// keyOf returns, for [Store.Compact], the key of the page at a URL; zero if there can be none, which no stored page
// has.
func keyOf(raw string) page.Key {
	u, err := page.Parse(raw)
	if err != nil {
		return page.Key{}
	}
	return page.KeyOf(page.Normalize(u))
}
