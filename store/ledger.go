package store

import (
	"encoding/json"
	"fmt"
	"sync/atomic"
	"time"
)

// Disclosure is one request to a third party.
type Disclosure struct {
	Time    time.Time `json:"time"` // now when zero
	Service string    `json:"service"`
	URL     string    `json:"url"` // masked
	Bytes   int64     `json:"bytes"`
	Why     string    `json:"why"`
	Rule    string    `json:"rule"`
}

// disclosed makes the keys of disclosures in one millisecond differ.
var disclosed atomic.Uint32

// Disclose writes a disclosure and syncs it before it returns. After an error nothing may be sent.
func (s *Store) Disclose(d Disclosure) error {
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	d.Time = d.Time.UTC()
	b := &batch{}
	key := ledgerKey(millis(d.Time), disclosed.Add(1))
	b.set(key, encodeJSON(d))
	err := s.kv.apply(b)
	if err == nil {
		err = s.kv.barrier(true)
	}
	if err == nil {
		_, err = s.kv.get(key) // another's barrier may have been told that this was lost
	}
	if err != nil {
		return fmt.Errorf("record disclosure to %s: %w", d.Service, err)
	}
	s.disclosed.Add(1)
	return nil
}

// Disclosed returns the number of disclosures since the start.
func (s *Store) Disclosed() int64 { return s.disclosed.Load() }

// Disclosures returns the disclosures, newest first, and a cursor for the next call, which is empty after the last
// one. limit is at most 1000; 0 means 50.
func (s *Store) Disclosures(cursor string, limit int) (list []Disclosure, next string, err error) {
	sc := scan{prefix: "l/", back: true}
	if sc.from, err = decodeCursor(cursor, sc.prefix); err != nil {
		return nil, "", fmt.Errorf("list disclosures: %w", err)
	}
	s.settle()
	limit = clampLimit(limit)
	last := ""
	s.kv.walk(sc, func(key string, value []byte) bool {
		var d Disclosure
		if key == sc.from || json.Unmarshal(value, &d) != nil {
			return true
		}
		if len(list) == limit {
			next = encodeCursor(last)
			return false
		}
		list, last = append(list, d), key
		return true
	})
	return list, next, nil
}
