package store

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
	"github.com/readthru/readthru/store/wire"

	"github.com/readthru/readthru/store/tally"
)

// A Trait is a kind of thing that is learnt about a host from how it answers, and that changes how it is asked next.
type Trait string

// The traits.
const (
	Negotiates   Trait = "negotiates"     // it answers text/markdown to a request that names it
	MarkdownOff  Trait = "markdown-off"   // the markdown that it negotiated was unusable: it is asked for HTML
	StrictAccept Trait = "strict-accept"  // it answers 406 to a request that names text/markdown: it is asked without
	Twins        Trait = "markdown-twins" // a page has its markdown at the page's address with .md
	NeedsBrowser Trait = "needs-browser"  // a rendered page had far more text than the same page without
	LoadsInVain  Trait = "loads-in-vain"  // a rendered page was given time and still showed only that it loads
	SilentEvents Trait = "silent-events"  // the streams of events of a rendered page said nothing
	VainWorkers  Trait = "vain-workers"   // the workers of a rendered page computed for long and changed nothing
	RejectsCA    Trait = "rejects-ca"     // a client rejected our certificate there: it is tunnelled
)

// meanings says of each trait what it means to who reads the pages of the host, after the name of the host or client.
var meanings = map[Trait]string{
	Negotiates:   "it answers markdown when asked for it",
	MarkdownOff:  "its own markdown was unusable: it is asked for HTML",
	StrictAccept: "it answers 406 to who asks for markdown: it is asked without",
	Twins:        "its pages have markdown at their address with .md",
	NeedsBrowser: "its pages have far more text in a browser: they are rendered at once",
	LoadsInVain:  "a page there still loaded after all its time: others are not waited for so long",
	SilentEvents: "streams of events said nothing there: they are not waited for",
	VainWorkers:  "workers computed for long there and changed nothing: they are not waited for so long",
	RejectsCA:    "rejected our certificate: it is tunnelled, so it gets no markdown and no cache",
}

// Means says in words what a trait means; empty for what is none.
func (t Trait) Means() string { return meanings[t] }

// lifetimes says how long each trait holds: first when it is learnt, then twice as long each time it is learnt again
// after it has ended, and longest at most. A trait is learnt when it was seen of so many cases within the first
// lifetime: one odd page says nothing about its host. One that is of the host alone holds for other nodes, too.
var lifetimes = map[Trait]struct {
	first, longest time.Duration
	cases          int
	ofHost         bool
}{
	Negotiates:   {30 * day, 30 * day, 1, true},
	MarkdownOff:  {day, 30 * day, 3, true},
	StrictAccept: {day, 30 * day, 1, true},
	Twins:        {30 * day, 30 * day, 1, true},
	NeedsBrowser: {30 * day, 30 * day, 3, true},
	LoadsInVain:  {time.Hour, time.Hour, 1, false},
	SilentEvents: {time.Hour, time.Hour, 1, false},
	VainWorkers:  {time.Hour, time.Hour, 1, false},
	RejectsCA:    {10 * time.Minute, day, 1, false},
}

const day = 24 * time.Hour

// Fact is one thing that was learnt about a host. It holds until Until. Then it is kept for as long as the longest
// lifetime of its trait, only to hold for longer if it is learnt again. One that was seen of too few cases does not
// hold yet: its Until is its Since.
type Fact struct {
	Trait  Trait     `json:"trait"`
	Client string    `json:"client,omitempty"` // whom it is true for; empty: everybody
	Since  time.Time `json:"since"`            // when it was last learnt, or the first of Cases was seen
	Until  time.Time `json:"until"`
	Times  int       `json:"times"`           // how often it was learnt, each time after it had ended
	Cases  []string  `json:"cases,omitempty"` // of what it was seen since, until these suffice
}

// Host is what was learnt about a host.
type Host struct {
	Facts []Fact `json:"facts,omitempty"`
}

// maxFacts bounds the facts of a host. There is one for each client that rejects our certificate.
const maxFacts = 256

// Knows reports whether a trait that is true for everybody holds at now.
func (h Host) Knows(t Trait, now time.Time) bool {
	f, ok := h.Fact(t, "")
	return ok && f.Holds(now)
}

// Fact returns what was learnt of a trait for a client (empty: for everybody), although it may have ended.
func (h Host) Fact(t Trait, client string) (Fact, bool) {
	if i := h.index(t, client); i >= 0 {
		return h.Facts[i], true
	}
	return Fact{}, false
}

// Holding returns the facts about the host that hold at now, for those who show them.
func (h Host) Holding(now time.Time) (facts []Fact) {
	for _, f := range h.Facts {
		if f.Holds(now) {
			facts = append(facts, f)
		}
	}
	return facts
}

// index returns where the host has the fact of a trait for a client, or -1: there is at most one.
func (h Host) index(t Trait, client string) int {
	return slices.IndexFunc(h.Facts, func(f Fact) bool { return f.Trait == t && f.Client == client })
}

// Holds reports whether f holds at now. One that was learnt well after now, before the clock was set back, does not: it
// would hold for as long as the clock was ahead.
func (f Fact) Holds(now time.Time) bool {
	return len(f.Cases) == 0 && now.Before(f.Until) && f.Since.Sub(now) < time.Minute
}

// OfHost reports whether f holds whoever asks the host, from whichever machine.
func (f Fact) OfHost() bool { return f.Client == "" && lifetimes[f.Trait].ofHost }

// kept reports whether f, which may have ended, still counts if it is learnt again. The sweep removes it afterwards.
func (f Fact) kept(now time.Time) bool { return now.Before(f.Until.Add(lifetimes[f.Trait].longest)) }

// recent reports whether f holds for most of its lifetime. To learn it then is no news: clients open several
// connections at once, which teach the same.
func (f Fact) recent(now time.Time) bool {
	return f.Holds(now) && f.Until.Sub(now) > f.Until.Sub(f.Since)/2
}

// learn notes that a trait of the host was seen of a case (about: a page, for example) and returns the fact, and
// whether it is changed. A fact that ended and is learnt again holds twice as long as before. One that several cases
// must show collects these first and does not hold meanwhile.
func (h *Host) learn(t Trait, client, about string, now time.Time) (f Fact, changed bool) {
	now = now.UTC()
	life := lifetimes[t]
	old, known := h.Fact(t, client)
	f = Fact{Trait: t, Client: client, Since: now, Times: 1}
	switch {
	case known && old.recent(now):
		return old, false
	case known && old.Holds(now):
		f.Times = old.Times
	case known && old.kept(now):
		f.Times = old.Times + 1
	}
	// what holds is learnt anew by one case; what does not yet, or no more, needs them all
	if life.cases > 1 && !old.Holds(now) {
		if now.Sub(old.Since).Abs() < life.first {
			f.Cases = old.Cases
		}
		if slices.Contains(f.Cases, about) {
			return old, false
		}
		f.Cases = append(slices.Clip(f.Cases), about)
	}
	if known {
		i := h.index(t, client)
		h.Facts = slices.Delete(h.Facts, i, i+1)
	}
	// too few cases: this does not count as learnt, and the time runs from the first case
	if n := len(f.Cases); n > 0 && n < life.cases {
		if f.Times--; n > 1 {
			f.Since = old.Since
		}
		f.Until = f.Since
	} else {
		lifetime := life.first
		for n := 1; n < f.Times && lifetime < life.longest; n++ {
			lifetime *= 2
		}
		f.Cases, f.Until = nil, now.Add(min(lifetime, life.longest))
	}
	if len(h.Facts) >= maxFacts {
		h.Facts = slices.DeleteFunc(h.Facts, func(f Fact) bool { return !f.Holds(now) })
	}
	for len(h.Facts) >= maxFacts {
		h.Facts = slices.Delete(h.Facts, 0, 1) // the one learnt longest ago
	}
	h.Facts = append(h.Facts, f)
	return f, true
}

// Host returns what was learnt about a host; the zero value for an unknown host. It is shared: never change it.
func (s *Store) Host(name string) (Host, error) {
	if name = keys.Host(name); name == "" {
		return Host{}, nil
	}
	h, err := kv.Decode[Host](s.kv, keys.Learnt(name))
	if err != nil {
		return Host{}, nil //nolint:nilerr // nothing learnt yet, or forgotten: both are nothing
	}
	return *h, nil
}

// Learn notes that a trait of a host was seen at now, for a client or, if client is empty, for everybody. about names
// the case: a trait that several pages must show is not learnt of one page that is read again and again. Learn returns
// the fact, and whether it is news that it holds. The error is ErrFull, or says that host is no host.
func (s *Store) Learn(host string, t Trait, client, about string, now time.Time) (f Fact, news bool, err error) {
	// Most calls teach nothing new. Those read memory and take no lock.
	if h, err := s.Host(host); err == nil {
		if f, known := h.Fact(t, client); known && f.recent(now) {
			return f, false, nil
		}
	}
	err = s.changeHost(host, func(h *Host) bool {
		var changed bool
		f, changed = h.learn(t, client, about, now)
		news = changed && f.Holds(now)
		return changed
	})
	return f, news, err
}

// TakeFact notes a fact about a host that another store learnt, unless this one learnt it later. One that this store
// could not have learnt, or that is not of the host alone, is left out.
func (s *Store) TakeFact(host string, f Fact, now time.Time) error {
	f.Since, f.Until = f.Since.UTC(), f.Until.UTC()
	if !f.OfHost() || !f.Holds(now) || f.Times < 1 || f.Until.Sub(f.Since) > lifetimes[f.Trait].longest ||
		host == "" || keys.Host(host) != host {
		return nil
	}
	return s.changeHost(host, func(h *Host) bool {
		i := h.index(f.Trait, "")
		switch {
		case i >= 0 && h.Facts[i].Holds(now) && !f.Since.After(h.Facts[i].Since):
			return false
		case i >= 0:
			h.Facts = slices.Delete(h.Facts, i, i+1)
		case len(h.Facts) >= maxFacts:
			return false
		}
		// the fact learnt last stands last, so that the first is the one to drop
		h.Facts = append(h.Facts, f)
		return true
	})
}

// HostChanges returns how often what is known about hosts has changed since the store was opened. Package fleet
// compares it to see whether there is something to tell other nodes.
func (s *Store) HostChanges() int64 { return s.hostCount.Load() }

// Forget removes the facts of a host that match, and returns how many of them held at now.
func (s *Store) Forget(host string, now time.Time, match func(Fact) bool) (held int, err error) {
	err = s.changeHost(host, func(h *Host) bool {
		before := len(h.Facts)
		h.Facts = slices.DeleteFunc(h.Facts, func(f Fact) bool {
			gone := match(f)
			if gone && f.Holds(now) {
				held++
			}
			return gone
		})
		return len(h.Facts) < before
	})
	return held, err
}

// ForgetEverywhere removes the facts of all hosts that match, and returns how many of them held at now.
func (s *Store) ForgetEverywhere(now time.Time, match func(Fact) bool) (held int, err error) {
	var names []string
	if err := s.Hosts(func(name string, _ Host) bool { names = append(names, name); return true }); err != nil {
		return 0, err
	}
	for _, name := range names {
		n, err := s.Forget(name, now, match)
		held += n
		if err != nil {
			return held, err
		}
	}
	return held, nil
}

// changeHost writes what change makes of the facts of a host, if change returns true. Change runs under s.mu and must
// not call the store. Without facts there is no record. The error is ErrFull, or says that name is no host.
func (s *Store) changeHost(name string, change func(*Host) bool) error {
	clean := keys.Host(name)
	if clean == "" {
		return fmt.Errorf("update host: %q is not a host", name)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	b := &kv.Batch{}
	var h Host
	_ = s.kv.GetJSON(b, keys.Learnt(clean), &h) // nothing learnt yet, or forgotten
	if !change(&h) {
		return nil
	}
	if len(h.Facts) == 0 {
		b.Must = true
		b.Del(keys.Learnt(clean))
	} else {
		b.Set(keys.Learnt(clean), wire.JSON(h))
	}
	s.hostCount.Add(1)
	return s.kv.Apply(b)
}

// Hosts calls f for each host of which something was learnt, in the order of their names, until f returns false. Facts
// may have ended.
func (s *Store) Hosts(f func(name string, h Host) bool) error {
	s.settle()
	prefix := "n/"
	s.kv.Walk(kv.Scan{Prefix: prefix}, func(key string, value []byte) bool {
		var h Host
		if json.Unmarshal(value, &h) != nil {
			return true
		}
		return f(key[len(prefix):len(key)-1], h)
	})
	return nil
}

// sweepHosts removes facts about hosts that ended so long ago that they do not count when learnt again.
func (s *Store) sweepHosts(now time.Time) error {
	stale := map[string]bool{}
	err := s.Hosts(func(name string, h Host) bool {
		if len(h.Facts) == 0 || slices.ContainsFunc(h.Facts, func(f Fact) bool { return !f.kept(now) }) {
			stale[name] = true
		}
		return true
	})
	for name := range stale {
		if err == nil {
			err = s.changeHost(name, func(h *Host) bool {
				h.Facts = slices.DeleteFunc(h.Facts, func(f Fact) bool { return !f.kept(now) })
				return true
			})
		}
	}
	return err
}

// HostTotal counts the use of a host.
type HostTotal struct {
	Host         string
	Visits, Hits int64
}

// TopHosts returns the hosts with the most visits, most first; at most limit. It reads the counters of all hosts.
func (s *Store) TopHosts(limit int) ([]HostTotal, error) {
	var top []HostTotal
	order := func(a, b HostTotal) int {
		return cmp.Or(cmp.Compare(b.Visits, a.Visits), strings.Compare(a.Host, b.Host))
	}
	for h := range s.HostTotals() {
		top = insert(top, h, limit, order)
	}
	return top, nil
}

// HostTotals yields the use of each host that was visited, in the order of their names. It writes the counts that wait
// in memory first, and then reads the disk.
func (s *Store) HostTotals() iter.Seq[HostTotal] {
	return func(yield func(HostTotal) bool) {
		s.flushCounts()
		s.settle()
		prefix := keys.HostTally("")
		s.kv.Walk(kv.Scan{Prefix: prefix}, func(key string, value []byte) bool {
			t := tally.Decode(value)
			return yield(HostTotal{key[len(prefix):], t.N, t.Hits})
		})
	}
}

// HostTotal counts the use of one host.
func (s *Store) HostTotal(host string) HostTotal {
	s.flushCounts()
	t := s.tallies.Read(keys.HostTally(host))
	return HostTotal{host, t.N, t.Hits}
}

// DeleteHostTotal forgets how often pages of a host were visited, when an operator removes a site with all that is
// known of it. Running totals stay.
func (s *Store) DeleteHostTotal(host string) error {
	s.countRepeated()
	if err := s.tallies.Delete(keys.HostTally(host)); err != nil {
		return fmt.Errorf("delete the count of %s: %w", host, err)
	}
	return nil
}

// PagesByHost returns how many pages of each host are stored, by the host with its port unless that is the default. It
// reads the keys of all pages, not their records.
func (s *Store) PagesByHost() map[string]int {
	s.settle()
	hosts := map[string]int{}
	prefix := "hp/"
	s.kv.Walk(kv.Scan{Prefix: prefix, Keys: true}, func(key string, _ []byte) bool {
		if host, _, ok := strings.Cut(key[len(prefix):], "/"); ok {
			hosts[host]++
		}
		return true
	})
	return hosts
}

// HostsNamed returns the hosts with a name, in lower case, of which there are pages, stored responses or counts of
// visits: each with its port, unless that is the default. It is for commands whose user names a host without its port.
func (s *Store) HostsNamed(name string) []string {
	if strings.Contains(name, ":") {
		// an IPv6 address: keys have it as URLs do (RFC 3986 §3.2.2)
		name = "[" + name + "]"
	}
	s.flushCounts()
	s.settle()
	var hosts []string
	for _, class := range []string{"hp/", "h/", keys.HostTally("")} {
		s.kv.Walk(kv.Scan{Prefix: class + name, Keys: true}, func(key string, _ []byte) bool {
			host, _, _ := strings.Cut(key[len(class):], "/")
			if host == name || strings.HasPrefix(host, name+":") {
				hosts = append(hosts, host)
			}
			return true
		})
	}
	slices.Sort(hosts)
	return slices.Compact(hosts)
}
