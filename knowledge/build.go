package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/files"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// garbagePrefix begins k/mg/<generation>: a generation whose documents are to go.
const garbagePrefix = "k/mg/"

// Build collects the documents of the next generation of a base while the current one keeps answering. A build that was
// neither committed nor aborted survives the process: [Knowledge.Build] continues it. A Build must not be used by two
// goroutines at once.
type Build struct {
	k       *Knowledge
	name    string
	g       generation
	resumed bool
	done    bool
	before  map[string]held     // documents of the generation that answers, by URL
	byURL   map[string]page.Key // members of this one
}

// held is a document that a base has when the build of its next generation begins.
type held struct {
	key  page.Key
	hash string // of the content
}

// Build begins the next generation of a base, or continues one that was begun before. The caller ends it with Commit,
// Abort or Close. The error is an [*UnknownBaseError], or wraps [ErrBuilding].
func (k *Knowledge) Build(name string) (*Build, error) {
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	old, err := s.named(name)
	if err != nil {
		return nil, err
	}
	if s.busy[old.id()] {
		return nil, fmt.Errorf("fill knowledge base %s: %w", name, ErrBuilding)
	}
	b := &Build{
		k: k, name: name, resumed: old.BuildingGeneration != 0, before: map[string]held{},
		byURL: map[string]page.Key{},
	}
	if !b.resumed || old.Paused || old.Told && !old.Here {
		r := *old
		r.Paused, r.Here = false, true
		if !b.resumed {
			r.LastGeneration++
			r.BuildingGeneration = r.LastGeneration
		}
		if err := s.save(&r); err != nil {
			return nil, fmt.Errorf("fill knowledge base %s: %w", name, err)
		}
		old = &r
	}
	b.g = generation{old.id(), old.BuildingGeneration}
	s.each(old.committed(), func(k page.Key, m member) { b.before[m.URL] = held{k, m.Hash} })
	if b.resumed {
		s.each(b.g, func(k page.Key, m member) { b.byURL[m.URL] = k })
	}
	s.busy[b.g.base] = true
	return b, nil
}

// each calls f, for a build, for the documents of a generation of a base, in the order of their keys.
func (s *bases) each(g generation, f func(page.Key, member)) {
	prefix := memberPrefix + g.key()
	s.records.Walk(prefix, "", func(key string, value []byte) bool {
		var m member
		if k, ok := archive.KeyIn(key, prefix); ok && json.Unmarshal(value, &m) == nil {
			f(k, m)
		}
		return true
	})
}

// Resumed reports whether the build continues an earlier one.
func (b *Build) Resumed() bool { return b.resumed }

// Len returns how many documents the generation has so far.
func (b *Build) Len() int { return len(b.byURL) }

// Known returns the hash of what the base held at a URL when the build began: hex SHA-256 of the markdown. A crawler
// compares it to tell what has changed.
func (b *Build) Known(rawURL string) (hash string, ok bool) {
	was, ok := b.before[rawURL]
	if !ok {
		was, ok = b.before[normalURL(rawURL)]
	}
	return was.hash, ok
}

// Held yields the URLs of the documents that the base's source gave before, sorted: not those of texts that somebody
// ingested.
func (b *Build) Held() iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, u := range slices.Sorted(maps.Keys(b.before)) {
			if h, err := b.k.archive.Head(b.before[u].key); (err != nil || !h.Ingested) && !yield(u) {
				return
			}
		}
	}
}

// Keep makes the documents that the build did not meet and that are not lost members of this generation, too. It
// returns their number.
func (b *Build) Keep(lost func(rawURL string) bool) (kept int, err error) {
	s := &b.k.bases
	for u := range b.Held() {
		if _, met := b.byURL[u]; met || lost(u) {
			continue
		}
		was := b.before[u]
		s.mu.Lock()
		if err = b.k.records.Apply(join(b.g, was.key, member{u, was.hash})...); err == nil {
			s.joined(b.g, was.key)
		}
		s.mu.Unlock()
		if err != nil {
			return kept, fmt.Errorf("keep %s in knowledge base %s: %w", page.MaskString(u), b.name, err)
		}
		b.byURL[u] = was.key
		kept++
	}
	return kept, nil
}

// Add adds a document to the generation. For a page in the store, Key is enough; any other document needs URL, Title
// and Markdown, and Add stores it. A document replaces an earlier one with the same URL. When many documents wait for
// the index, Add indexes them first, so a crawl is no faster than the index.
func (b *Build) Add(ctx context.Context, d Document) error {
	if b.done {
		return errors.New("add to a knowledge base: the build has ended")
	}
	var err error
	if d.Markdown == nil && d.Key != (page.Key{}) {
		err = b.addPage(d.Key)
	} else {
		err = b.addDocument(&d, archive.Head{})
	}
	if err != nil {
		return fmt.Errorf("add %s to knowledge base %s: %w", page.MaskString(d.URL), b.name, err)
	}
	b.k.notify()
	return b.k.stepIfMuchAdded(ctx)
}

// AddFiles adds the files of a parcel to the build, which [PackFiles] wrote: markdown, text, HTML, PDF, and lines of
// JSON with the fields "_id" or "url", "title" and "text". It reads no other file. The report lists files that could
// not be added; that is an error only if no file was added. Progress may be nil.
func (b *Build) AddFiles(ctx context.Context, parcel io.Reader, progress Progress) (*FileReport, error) {
	return files.Read(ctx, parcel, files.Options{
		Decode: b.k.decode, Convert: b.k.convert, Progress: progress,
		Add: func(ctx context.Context, d *Document) error { return b.Add(ctx, *d) },
	})
}

// Leave tells that the page of a URL was read for the build and is not added, because another one has the same content.
// It is deleted, unless it was visited or belongs to a base: nobody would delete it with the base.
func (b *Build) Leave(rawURL string) error {
	u, err := page.Parse(rawURL)
	if err != nil {
		return nil // no page has this URL
	}
	key := page.KeyOf(page.Normalize(u))
	s := &b.k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	p, err := b.k.store.PageAt(key)
	if err != nil || p.VisitCount > 0 || len(s.owners(key)) > 0 {
		return nil // it is not there
	}
	if err := b.k.store.DeletePage(key); err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("leave %s out of knowledge base %s: %w", page.MaskString(rawURL), b.name, err)
	}
	return nil
}

// addPage makes a stored page a member of the generation that is built. Its text is not copied: a member refers to the
// page.
func (b *Build) addPage(key page.Key) error {
	key = b.k.store.Resolve(key)
	p, err := b.k.store.Page(key)
	if err != nil {
		return err
	}
	return b.join(key, member{p.NormalizedURL, p.ContentHash}, func(changes []store.Change) error {
		if _, err := b.k.store.Page(key); err != nil {
			return err // released by its last owner since; from now on that cannot happen
		}
		return b.k.records.Apply(changes...)
	})
}

// addDocument adds a document that is no page. Of more, label, metadata and whether it was ingested are kept.
func (b *Build) addDocument(d *Document, more archive.Head) error {
	h, err := b.k.prepare(d)
	if err != nil {
		return err
	}
	h.Ingested, h.Label = more.Ingested, b.k.cleanLine(more.Label)
	h.Metadata = archive.CleanMetadata(more.Metadata, b.k.cleaner)
	d.Key = documentKey(b.g.base, h.URL, h.Title, h.Hash)
	parts := archive.Compress(d.Markdown)
	return b.join(d.Key, member{h.URL, h.Hash}, func(changes []store.Change) error {
		return b.k.archive.Put(d.Key, h, parts, append(changes, archive.Queued(d.Key))...)
	})
}

// join makes a document a member of the generation that is built, by put, which writes the changes and, for a document
// that is no page, its text. It takes the place of another document of the same URL.
func (b *Build) join(key page.Key, m member, put func([]store.Change) error) error {
	s := &b.k.bases
	old, had := b.byURL[m.URL]
	if had && old == key {
		return nil
	}
	s.mu.Lock()
	err := put(join(b.g, key, m))
	if err == nil {
		s.joined(b.g, key)
	}
	s.mu.Unlock()
	if err != nil {
		return err
	}
	b.byURL[m.URL] = key
	if had {
		return b.k.release(b.g, old, false)
	}
	return nil
}

const (
	maxURL   = 8 << 10 // bytes
	maxTitle = 1000    // code points
)

// Commit waits until the generation is indexed, then replaces the current generation with it and deletes documents that
// only the old one had. Ingested texts stay. After an error the current generation keeps answering, and the build can
// be continued.
func (b *Build) Commit(ctx context.Context) (Base, error) {
	if b.done {
		return Base{}, errors.New("commit a knowledge base: the build has ended")
	}
	base, old, err := b.commit(ctx)
	if err != nil {
		return Base{}, fmt.Errorf("fill knowledge base %s: %w", b.name, err)
	}
	b.Close()
	b.k.clearAll(ctx, old)
	return base, nil
}

// commit is [Build.Commit] without the deletion of what only the old generation had, which it returns. Bases stay
// locked from the copy of ingested texts to the change of the generation, so that none is lost in between.
func (b *Build) commit(ctx context.Context) (base Base, old generation, err error) {
	if err := b.k.Drain(ctx); err != nil {
		return base, old, err
	}
	s := &b.k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	was, err := b.record()
	if err != nil {
		return base, old, err
	}
	old = was.committed()
	if err := b.keepTexts(old); err != nil {
		return base, old, err
	}
	r := *was
	r.commit(time.Now().UTC().Truncate(time.Millisecond))
	if err := s.save(&r, store.Change{Key: garbagePrefix + old.key()}); err != nil {
		return base, old, err
	}
	return b.k.counted(&r), old, nil
}

// record returns the base's record, in which this build is the one that is under way. Under bases.mu.
func (b *Build) record() (*baseRecord, error) {
	r, err := b.k.bases.named(b.name)
	if err == nil && (generation{r.id(), r.BuildingGeneration}) != b.g {
		err = errors.New("another build has taken the place of this one")
	}
	return r, err
}

// keepTexts makes the ingested texts of a generation members of this one. Under bases.mu.
func (b *Build) keepTexts(from generation) error {
	var err error
	b.k.bases.each(from, func(key page.Key, m member) {
		if err != nil {
			return
		}
		if h, e := b.k.archive.Head(key); e == nil && h.Ingested {
			if err = b.k.records.Apply(join(b.g, key, m)...); err == nil {
				b.k.bases.joined(b.g, key)
			}
		}
	})
	return err
}

// Abort discards the generation that was built, with its documents. The current one keeps answering.
func (b *Build) Abort(ctx context.Context) error {
	if b.done {
		return nil
	}
	s := &b.k.bases
	s.mu.Lock()
	was, err := b.record()
	if err == nil {
		r := *was
		r.BuildingGeneration, r.Filling = 0, Filling{}
		err = s.save(&r, store.Change{Key: garbagePrefix + b.g.key()})
	}
	s.mu.Unlock()
	if err != nil {
		return fmt.Errorf("give up filling knowledge base %s: %w", b.name, err)
	}
	b.Close()
	b.k.clearAll(ctx, b.g)
	return nil
}

// Pause releases the build and marks it as one that waits until somebody asks for more.
func (b *Build) Pause() error {
	if b.done {
		return nil
	}
	s := &b.k.bases
	s.mu.Lock()
	was, err := s.named(b.name)
	if err == nil {
		r := *was
		r.Paused = true
		err = s.save(&r)
	}
	s.mu.Unlock()
	b.Close()
	if err != nil {
		return fmt.Errorf("pause filling knowledge base %s: %w", b.name, err)
	}
	return nil
}

// Close releases the build. Unless it was committed or aborted, a later call of [Knowledge.Build] continues it.
func (b *Build) Close() {
	if b.done {
		return
	}
	b.done = true
	b.k.bases.mu.Lock()
	delete(b.k.bases.busy, b.g.base)
	b.k.bases.mu.Unlock()
}
