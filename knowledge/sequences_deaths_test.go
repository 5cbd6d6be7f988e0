package knowledge_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// A process may die before any of the writes that a change makes. The next one finds the change done or not, indexes
// what there is, and forgets nothing.
func TestADeathBeforeAnyWriteOfAChangeLosesNothingElse(t *testing.T) {
	needs.Long(t, "it opens a store dozens of times")
	for _, change := range changes {
		t.Run(change.name, func(t *testing.T) {
			s := newSequence(t, 1)
			for range 12 {
				s.read(s.url())
			}
			s.fillFiles()
			s.fillPages()
			for range 3 {
				s.ingest()
				s.addNote()
			}
			n := 0
			for ; s.dies(change, n) && !t.Failed(); n++ {
				s.check()
			}
			s.check()
			s.compareWithRebuilt()
			s.k.shut(t)
			if n == 0 {
				t.Error("the change wrote nothing")
			}
			t.Logf("%d deaths", n)
			s.tell()
		})
	}
}

// dies makes a change in a process that dies before it writes for the n-th time, if it does, starts the next one, and
// learns which of the change is done. It reports whether the process died.
func (s *sequence) dies(c change, n int) bool {
	s.drain()
	s.ok(s.k.store.Flush())
	before := s.clone()
	s.note("die before write %d", n)
	ctx, die := context.WithCancel(s.t.Context())
	defer die()
	s.ctx = ctx
	var writes atomic.Int64
	fault.Inject(func(work string) {
		if (work == "store: commit" || work == "store: commit records") && writes.Add(1) > int64(n) {
			s.died.Store(true)
			die()
			panic("died")
		}
	})
	c.do(s)
	s.drain()
	s.ok(s.k.store.Flush())
	fault.Inject(nil)
	s.ctx = s.t.Context()
	if !s.died.Load() {
		return false
	}
	s.deaths++
	_, _ = s.k.Close(), s.k.store.Close() // what they cannot write is lost
	s.k.store = nil
	s.died.Store(false)
	s.open()
	s.recover(before)
	return true
}

// recover learns what is there after a death: of all that one change changes, what was before it or what is after it.
func (s *sequence) recover(before world) {
	for _, b := range s.k.Bases() {
		if b.Building { // nobody asks for more
			s.ok(s.k.build(s.t, b.Name).Abort(s.t.Context()))
		}
	}
	s.drain()
	for url := range either(before.pages, s.pages) {
		was, had := before.pages[url]
		is, has := s.pages[url]
		if problem := s.seesPage(url, is, has); problem != "" {
			if s.mayGo(url, before) {
				s.forget(url)
				continue
			}
			if s.seesPage(url, was, had) != "" {
				s.t.Errorf("after a death, page %s is neither as before nor as after the change: %s", url, problem)
			}
			is, has = was, had
		}
		p, err := s.k.store.Page(page.KeyOf(url))
		if has = has && err == nil; !has {
			delete(s.pages, url)
			continue
		}
		is.visited = p.VisitCount > 0
		s.pages[url] = is
	}
	for name := range either(before.names, s.names) {
		of := s.k.store.Named(page.KeyOf(name))
		if s.names[name] == "" || of != page.KeyOf(s.names[name]) {
			s.names[name] = before.names[name]
		}
		if of == (page.Key{}) {
			delete(s.names, name)
		}
	}
	for name := range either(before.bases, s.bases) {
		if _, err := s.k.Base(name); err != nil {
			delete(s.bases, name)
		} else if is, ok := s.bases[name]; !ok || s.seesBase(name, is) != "" {
			s.bases[name] = before.bases[name]
			if s.bases[name] == nil {
				s.bases[name] = map[string]told{} // made, and not filled
			}
		}
	}
	for url := range either(before.texts, s.texts) {
		if s.seesText(url, s.texts[url]) != "" {
			s.texts[url] = before.texts[url]
		}
		if s.texts[url] == (told{}) {
			delete(s.texts, url)
		}
	}
	list := s.allNotes()
	for url := range either(before.notes, s.notes) {
		if _, ok := list[url]; !ok {
			delete(s.notes, url)
		} else if _, ok := s.notes[url]; !ok {
			s.notes[url] = before.notes[url]
		}
	}
	for url := range list { // one whose id nobody was told
		if _, ok := s.notes[url]; !ok {
			s.notes[url] = list[url]
		}
	}
}

// mayGo reports whether a page may be gone after a death: nobody has visited it, and a filling of a base that was to
// have it was given up.
func (s *sequence) mayGo(url string, before world) bool {
	_, err := s.k.store.Page(page.KeyOf(url))
	return errors.Is(err, store.ErrNotFound) && !before.pages[url].visited && s.bases["green"][url].read
}

// either returns the keys of two maps.
func either[V any](a, b map[string]V) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}
