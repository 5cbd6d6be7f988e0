package store

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"
)

// Disclosure is one request to a third party (markdown.new, a model), as the ledger of disclosures keeps it for ever.
type Disclosure struct {
	Time    time.Time `json:"time"` // now when zero
	Service string    `json:"service"`
	URL     string    `json:"url"` // masked
	Bytes   int64     `json:"bytes"`
	Why     string    `json:"why"`
	Rule    string    `json:"rule"`
}

// disclosed makes the keys of disclosures, and of acts, in one millisecond differ.
var disclosed atomic.Uint32

// ErrServiceOff says that a service is switched off.
var ErrServiceOff = errors.New("the service is switched off")

// maxServicesOff bounds the services that are switched off, whose names are one record and come from the API.
const maxServicesOff = 1000

// Disclose writes what is about to be sent to a third party into the ledger, and syncs it before it returns: nothing
// leaves the machine that the ledger does not have. After an error nothing may be sent; it is ErrServiceOff if the
// service is switched off.
func (s *Store) Disclose(d Disclosure) error {
	if s.ServiceOff(d.Service) {
		return fmt.Errorf("send to %s: %w", d.Service, ErrServiceOff)
	}
	if d.Time.IsZero() {
		d.Time = time.Now()
	}
	d.Time = d.Time.UTC()
	b := &kv.Batch{}
	key := keys.Ledger(keys.Millis(d.Time), disclosed.Add(1))
	b.Set(key, wire.JSON(d))
	err := s.kv.Apply(b)
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err == nil {
		_, err = s.kv.Get(key) // another's barrier may have been told that this was lost
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
	if list, next, err = lately[Disclosure](s, "l/", cursor, limit); err != nil {
		return nil, "", fmt.Errorf("list disclosures: %w", err)
	}
	return list, next, nil
}

// lately returns the records of a class whose keys are times, newest first, with the cursor of the next ones.
func lately[T any](s *Store, prefix, cursor string, limit int) (list []T, next string, err error) {
	sc := kv.Scan{Prefix: prefix, Back: true}
	if sc.From, err = decodeCursor(cursor, sc.Prefix); err != nil {
		return nil, "", err
	}
	s.settle()
	limit = clampLimit(limit)
	last := ""
	s.kv.Walk(sc, func(key string, value []byte) bool {
		var one T
		if key == sc.From || json.Unmarshal(value, &one) != nil {
			return true
		}
		if len(list) == limit {
			next = encodeCursor(last)
			return false
		}
		list, last = append(list, one), key
		return true
	})
	return list, next, nil
}

// ServicesOff returns the third parties that are switched off for disclosures, by name: nothing is disclosed to them.
func (s *Store) ServicesOff() []string {
	var off []string
	_ = s.kv.GetJSON(&kv.Batch{}, keys.Services, &off) // none yet
	return off
}

// ServiceOff reports whether an operator switched a service off, so that nothing may be disclosed to it.
func (s *Store) ServiceOff(service string) bool { return slices.Contains(s.ServicesOff(), service) }

// SwitchService switches disclosures to a service off, by its name in the ledger, or on again. It is on disk when
// SwitchService returns.
func (s *Store) SwitchService(service string, off bool) error {
	s.mu.Lock()
	list := slices.DeleteFunc(s.ServicesOff(), func(o string) bool { return o == service })
	err := error(nil)
	if off {
		if list = append(list, service); len(list) > maxServicesOff {
			err = fmt.Errorf("more than %d services are switched off", maxServicesOff)
		}
	}
	if err == nil {
		slices.Sort(list)
		b := &kv.Batch{Must: true}
		b.Set(keys.Services, wire.JSON(list))
		err = s.kv.Apply(b)
	}
	s.mu.Unlock()
	if err == nil {
		err = s.kv.Barrier(true)
	}
	if err != nil {
		return fmt.Errorf("switch %s: %w", service, err)
	}
	return nil
}

// DisclosureTotal sums what was sent to a third party about pages of a host on a day.
type DisclosureTotal struct {
	Day     string // 2006-01-02, UTC
	Service string
	Host    string // empty: about no URL
	Sent    int64
	Bytes   int64
	Last    time.Time
}

// DisclosureTotals sums the disclosures since a time, those of the newest day first. It reads the newest of them only,
// as many as most says; more reports that there are others.
func (s *Store) DisclosureTotals(since time.Time, most int) (list []DisclosureTotal, more bool) {
	type group struct{ day, service, host string }
	at, read := map[group]int{}, 0
	s.settle()
	s.kv.Walk(kv.Scan{Prefix: "l/", Back: true}, func(_ string, value []byte) bool {
		var d Disclosure
		if json.Unmarshal(value, &d) != nil {
			return true
		}
		if d.Time.Before(since) {
			return false
		}
		if read++; read > most {
			more = true
			return false
		}
		g := group{day: d.Time.UTC().Format(time.DateOnly), service: d.Service}
		if u, err := url.Parse(d.URL); err == nil {
			g.host = u.Hostname()
		}
		i, ok := at[g]
		if !ok {
			i = len(list)
			at[g] = i
			list = append(list, DisclosureTotal{Day: g.day, Service: g.service, Host: g.host, Last: d.Time})
		}
		list[i].Sent++
		list[i].Bytes += d.Bytes
		return true
	})
	return list, more
}
