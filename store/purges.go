package store

import (
	"crypto/sha256"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// A Purge says that stored responses were removed on purpose: those that were received until then must not come back.
type Purge struct {
	Kind  string    `json:"kind"` // PurgeURL, PurgePrefix, PurgeHost, PurgeTag or PurgeAll
	Value string    `json:"value,omitempty"`
	At    time.Time `json:"at"` // to the microsecond
}

// Kinds of a Purge.
const (
	PurgeURL    = "url"    // the value is a cache key
	PurgePrefix = "prefix" // the value is what the cache key begins with
	PurgeHost   = "host"
	PurgeTag    = "tag"
	PurgeAll    = "all"
)

// ID identifies the kind and the value: a purge of the same again replaces the one before, with its time.
func (p *Purge) ID() [32]byte { return sha256.Sum256([]byte(p.Kind + "\x00" + p.Value)) }

// Covers reports whether p removes a stored response.
func (p *Purge) Covers(r *Response) bool {
	if r.ResponseTime.After(p.At) {
		return false
	}
	switch p.Kind {
	case PurgeURL:
		return r.URL == p.Value
	case PurgePrefix:
		return strings.HasPrefix(r.URL, p.Value)
	case PurgeHost:
		return keys.HostOf(r.URL) == p.Value
	case PurgeTag:
		return slices.Contains(r.Tags, p.Value)
	}
	return p.Kind == PurgeAll
}

// purgeLog keeps the purges that the other nodes of the fleet are to be told of, in memory and under g/.
type purgeLog struct {
	mu    sync.Mutex
	on    bool
	list  map[[32]byte]Purge
	added chan struct{} // capacity 1
	count atomic.Int64
}

// TellPurges has the store keep what is purged until the fleet was told of it, from now on, or no longer: see
// [Store.Purges]. Without a fleet nobody would take the purges from the list.
func (s *Store) TellPurges(on bool) error {
	s.purges.mu.Lock() // also while it reads: a purge noted meanwhile would be in neither list
	defer s.purges.mu.Unlock()
	s.settle()
	list := map[[32]byte]Purge{}
	gone := &kv.Batch{Must: true}
	s.kv.Walk(kv.Scan{Prefix: "g/"}, func(key string, value []byte) bool {
		var p Purge
		if on && json.Unmarshal(value, &p) == nil {
			list[p.ID()] = p
		} else {
			gone.Del(key)
		}
		return gone.Len() < kv.MaxBatchChanges/2
	})
	s.purges.on, s.purges.list = on, list
	if gone.Len() == 0 {
		return nil
	}
	return s.kv.Apply(gone)
}

// Purges returns the purges that the fleet is not told of yet, those of before a restart included, in no order.
func (s *Store) Purges() []Purge {
	s.purges.mu.Lock()
	defer s.purges.mu.Unlock()
	list := make([]Purge, 0, len(s.purges.list))
	for _, p := range s.purges.list {
		list = append(list, p)
	}
	return list
}

// PurgesAdded returns a channel that gets a value, unless it holds one, after something was purged. There is one
// channel, for one waiting goroutine.
func (s *Store) PurgesAdded() <-chan struct{} { return s.purges.added }

// PurgeCount returns how often something was purged since TellPurges, here or by ApplyPurge. Who stores what another
// store had compares the counts from before it was found and after it was stored.
func (s *Store) PurgeCount() int64 { return s.purges.count.Load() }

// ToldPurges forgets purges that the fleet was told of. One that was made again since is kept.
func (s *Store) ToldPurges(list []Purge) error {
	s.purges.mu.Lock()
	defer s.purges.mu.Unlock()
	b := &kv.Batch{Must: true}
	for _, p := range list {
		if id := p.ID(); s.purges.list[id] == p { // it was not purged again since
			delete(s.purges.list, id)
			b.Del(keys.Purge(id))
		}
	}
	if b.Len() == 0 {
		return nil
	}
	return s.kv.Apply(b)
}

// Purged reports whether a response is covered by a purge that is not yet told.
func (s *Store) Purged(r *Response) bool {
	s.purges.mu.Lock()
	defer s.purges.mu.Unlock()
	for _, p := range s.purges.list {
		if p.Covers(r) {
			return true
		}
	}
	return false
}

// notePurge keeps a purge that happens now, for the fleet. The caller notes it before it deletes, so that what other
// nodes send meanwhile is not stored. A URL that nobody else may know (a local one, or one with a secret) is not told.
func (s *Store) notePurge(kind, value string) error {
	s.purges.mu.Lock()
	defer s.purges.mu.Unlock()
	if !s.purges.on {
		return nil
	}
	s.purges.count.Add(1)
	if kind == PurgeURL {
		if u, err := url.Parse(value); err != nil || page.Unlisted(u) || page.Loopback(u.Hostname()) {
			return nil
		}
	}
	p := Purge{Kind: kind, Value: value, At: time.Now().UTC().Truncate(time.Microsecond)}
	b := &kv.Batch{Must: true}
	b.Set(keys.Purge(p.ID()), wire.JSON(p))
	if err := s.kv.Apply(b); err != nil {
		return err
	}
	s.purges.list[p.ID()] = p
	wake(s.purges.added)
	return nil
}

// ApplyPurge removes what a purge of another store covers, and the renditions kept by the pages. It is not told again.
func (s *Store) ApplyPurge(p Purge) error {
	s.purges.count.Add(1)
	var err error
	switch p.Kind {
	case PurgeURL:
		_, err = s.deleteWhere(p.Value, p.Covers)
		if u, perr := page.Parse(p.Value); perr == nil {
			_, rerr := s.DeletePageRenditions(page.KeyOf(page.Normalize(u)))
			err = errors.Join(err, rerr)
		}
	case PurgePrefix, PurgeHost:
		host := p.Value
		if p.Kind == PurgePrefix {
			host = keys.HostOf(p.Value)
		}
		if host == "" || keys.Host(host) != host {
			return nil
		}
		_, err = s.deleteIndexed(keys.OfHostPrefix(host), func(string) bool { return true }, p.Covers)
	case PurgeTag:
		if len(indexTags([]string{p.Value})) > 0 {
			_, err = s.deleteIndexed(keys.Tagged(p.Value), func(string) bool { return true }, p.Covers)
		}
	case PurgeAll:
		if _, err = s.deleteEverywhere(p.Covers); err == nil {
			_, err = s.ClearPageRenditions()
		}
	}
	return err
}
