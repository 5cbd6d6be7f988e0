package store

import (
	"sync/atomic"

	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store/keys"
	"github.com/readthru/readthru/store/kv"
)

// Record names a record of the store that an answer of the proxy is made of, for the watcher of changes: an answer is
// given again until one of its records changes. AllRecords stands for every record.
type Record string

// AllRecords is reported when changes cannot be told apart: anything may have changed.
const AllRecords Record = ""

// ResponsesOf names, in the feed of changes, the list of the stored responses of a URI.
func ResponsesOf(uri string) Record { return Record("uri " + uri) }

// HostOf names, in the feed of changes, what was learnt about a host.
func HostOf(name string) Record { return Record(keys.Learnt(keys.Host(name))) }

// PageOf names, in the feed of changes, the record of a page.
func PageOf(k page.Key) Record { return Record(keys.Page(k)) }

// PageRenditionsOf names, in the feed of changes, all renditions that are kept by a page rather than by their source.
func PageRenditionsOf(k page.Key) Record { return Record(keys.PageRenditions(k)) }

// RenditionsOf names, in the feed of changes, all renditions made of a stored body.
func RenditionsOf(source Sum) Record { return Record(keys.Renditions(source)) }

// FetchedOf names, in the feed of changes, what a session's set of fetched pages has of a page.
func FetchedOf(session string, k page.Key) Record { return Record(keys.Fetched(session, k)) }

// feed reports changes of records to the watcher, which is package proxy: it drops the answers that it could give
// again.
type feed struct{ watcher atomic.Pointer[func(Record)] }

// Watch has f called with the feed of changes: after every change of a record that answers are made of. A read that
// begins after the call sees the change. There is one watcher at a time: it is called under locks of the store, must be
// quick, and must not call the store.
func (s *Store) Watch(f func(Record)) { s.feed.watcher.Store(&f) }

// tell reports a change of a record to the watcher, if there is one.
func (f *feed) tell(r Record) {
	if watcher := f.watcher.Load(); watcher != nil {
		(*watcher)(r)
	}
}

// keyChanged reports a changed key to the watcher if answers are made of its record: what was learnt of a host (n), a
// page (p), what a session fetched (f), and renditions (r, rp). [Store.responsesChanged] reports stored responses,
// because their readers look into memory first.
func (f *feed) keyChanged(key string) {
	switch kind := kv.Class(key); kind {
	case "n", "p", "f":
		f.tell(Record(key))
	case "r", "rp":
		f.tell(Record(key[:len(key)-keys.RecipeLength])) // of all recipes
	}
}

// responsesChanged updates what memory holds of a URI after its records changed, and reports the change to the feed.
// Drops is what [kv.DB.GivenUp] returned before the caller read what list is made of.
func (s *Store) responsesChanged(uri string, u keys.URI, list []*Response, drops uint64) {
	if !s.kv.IfKept(drops, func() { s.hot.changed(uri, u, list) }) {
		s.hot.changed(uri, u, nil)
	}
	s.feed.tell(ResponsesOf(uri))
}
