package index

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/knowledge/breath"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

const (
	// segmentPassages is how many new passages make a segment at most.
	segmentPassages = 4000

	// maxChangeBytes bounds a change, as estimated, in bytes.
	maxChangeBytes = 600 << 10
)

// Index changes the index: it replaces the passages of d with those given. See indexAll.
func (x *Index) Index(ctx context.Context, d *Document, passages []outline.Passage) error {
	return x.IndexAll(ctx, []Item{{d, passages}})
}

// IndexAll changes the index for several documents, which is faster than one at a time: it puts up to segmentPassages
// of their passages into one segment. It returns at the first error and keeps what it has indexed by then; a repeated
// call does the rest.
//
// A text that another document has, apart from white space, has at most two passages, however many documents have it:
// see passageFor. The error wraps ErrTooManyPassages when a document has too many.
func (x *Index) IndexAll(ctx context.Context, docs []Item) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.clean(); err != nil {
		return err
	}
	c := x.newChange()
	for i := range docs {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, c.commit())
		}
		d := &docs[i]
		if c.full(d) {
			if err := c.commit(); err != nil {
				return err
			}
			c = x.newChange()
		}
		if err := c.index(d.Doc, d.Passages); err != nil {
			return errors.Join(err, c.commit())
		}
	}
	return c.commit()
}

// Delete changes the index so that it forgets a document.
func (x *Index) Delete(ctx context.Context, key page.Key) error {
	return x.deleteAll(ctx, []page.Key{key})
}

// deleteAll takes documents out of the index, in transactions of little more than maxChangeBytes. When ctx ends or one
// fails, those before it stay out.
func (x *Index) deleteAll(ctx context.Context, keys []page.Key) error {
	x.write.Lock()
	defer x.write.Unlock()
	if err := x.clean(); err != nil {
		return err
	}
	c := x.newChange()
	for _, key := range keys {
		if err := ctx.Err(); err != nil {
			return errors.Join(err, c.commit())
		}
		if c.bytes > maxChangeBytes {
			if err := c.commit(); err != nil {
				return err
			}
			c = x.newChange()
		}
		if err := c.delete(key); err != nil {
			return errors.Join(err, c.commit())
		}
	}
	return c.commit()
}

// change collects what one transaction will do. Memory changes only after it is committed.
type change struct {
	x     *Index
	next  counters
	base  uint32 // number of the first new passage
	seen  map[page.Key]bool
	bytes int

	hashes   [][16]byte          // of new passages
	own      map[[16]byte]uint32 // of these, those that were indexed with their document's fields
	bare     map[[16]byte]uint32 // and those that were indexed without
	owners   map[uint32][]uint32 // of every passage touched, ascending
	docs     map[uint32]docRow   // rows that change
	articles map[uint32]*Article // of the documents indexed
	puts     []store.Change
}

// newChange begins a transaction of the index. The caller holds write; there is one at a time, because all use one
// builder of postings.
func (x *Index) newChange() *change {
	x.build.Reset()
	return &change{
		x: x, next: x.next, base: x.next.passage, seen: map[page.Key]bool{}, own: map[[16]byte]uint32{},
		bare: map[[16]byte]uint32{}, owners: map[uint32][]uint32{}, docs: map[uint32]docRow{},
		articles: map[uint32]*Article{},
	}
}

// full reports whether d must go into the next change.
func (c *change) full(d *Item) bool {
	return c.seen[d.Doc.Key] || c.bytes > maxChangeBytes || c.bytes > 0 &&
		c.x.build.Len()+len(d.Passages) > segmentPassages
}

// index records in the transaction that a document has the passages given and no others. What it had before and lacks
// now loses an owner.
func (c *change) index(d *Document, passages []outline.Passage) error {
	if len(passages) > maxPassages {
		return fmt.Errorf("index %s: %d passages, at most %d allowed: %w", d.URL, len(passages), maxPassages,
			ErrTooManyPassages)
	}
	c.seen[d.Key] = true
	old, err := c.x.Article(d.Key)
	if errors.Is(err, store.ErrNotFound) {
		old, err = nil, nil
	}
	if err != nil {
		return fmt.Errorf("index %s: %w", d.URL, err)
	}
	a := &Article{
		URL: d.URL, Title: clip.Bytes(d.Title, outline.MaxPath), host: d.Host, kind: d.Kind, Fetched: d.FetchedAt,
	}
	a.also = furtherWords(d.TitleElement, a.Title)
	before := map[uint32]bool{}
	if old != nil {
		a.number = old.number
		for _, p := range old.passages {
			before[p.number] = true
		}
	} else {
		a.number = c.next.document
		c.next.document++
	}
	had, named := len(c.hashes), false
	now := map[uint32]bool{}
	for i := range passages {
		breath.Take()
		p := &passages[i]
		if p.Start < 0 || p.End < p.Start || p.End > len(d.Markdown) {
			return fmt.Errorf("index %s: passage %d is outside the document", d.URL, i)
		}
		f := fields{a.Title, outline.JoinPath(p.Path), a.address(i == 0), SumOf(p.Said), i == 0}
		number, bare, ok := c.passageFor(a, old, p.Hash, f, now)
		if !ok {
			number = c.add(p.Hash, bare)
			if bare {
				c.x.build.Add(p.Text(d.Markdown), "", "", "", "", false)
				c.x.build.Mark(segment.BarePassage)
			} else {
				c.x.build.Add(p.Text(d.Markdown), p.Said, f.title, f.path, f.address, f.lead)
			}
		}
		named = named || i == 0 && !bare
		now[number] = true
		a.passages = append(a.passages, place{
			number: number, start: p.Start, end: p.End, path: f.path, before: p.Before,
			after: p.After, said: f.said,
		})
	}
	if !named {
		a.passages = append(a.passages, place{number: c.nameplate(d.Key, a)})
		now[a.passages[len(a.passages)-1].number] = true
	}
	b, err := a.encode()
	if err != nil {
		// Nothing of it happens. New passages stay without an owner: they are born dead.
		return err
	}
	c.articles[a.number] = a
	c.bytes += len(b) + 64*(len(c.hashes)-had)
	for number := range now {
		c.gain(number, a.number)
	}
	for number := range before {
		if !now[number] {
			c.lose(number, a.number)
		}
	}
	c.puts = append(c.puts, store.Change{Key: articleKey(d.Key), Value: b})
	c.x.mu.Lock()
	host, kind := c.x.docs.names.number(d.Host), c.x.docs.names.number(d.Kind)
	c.x.mu.Unlock()
	c.row(a.number, docRow{key: d.Key, host: host, kind: kind, fetched: d.FetchedAt.Unix(), live: true})
	return nil
}

// delete records in the transaction that a document is deleted. One that the transaction has indexed stays.
func (c *change) delete(key page.Key) error {
	a, err := c.x.Article(key)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("delete %s: %w", key.Doc(), err)
	}
	if c.seen[key] {
		return nil
	}
	c.seen[key] = true
	for _, p := range a.passages {
		c.lose(p.number, a.number)
	}
	c.puts = append(c.puts, store.Change{Key: articleKey(key), Gone: true})
	c.bytes += 64
	c.row(a.number, docRow{})
	return nil
}

// row records a new row of the table of documents. Rows are written in blocks, so that the first change of a block
// counts for all of it in the size of the transaction.
func (c *change) row(number uint32, row docRow) {
	block := number / documentBlock
	fresh := true
	for n := block * documentBlock; n < (block+1)*documentBlock && fresh; n++ {
		_, changed := c.docs[n]
		fresh = !changed
	}
	if fresh {
		c.bytes += documentBlock * 64
	}
	c.docs[number] = row
}

// ownersOf returns the documents that have a passage, according to this transaction; nil for a passage that is not
// there.
func (c *change) ownersOf(number uint32) []uint32 {
	if owners, ok := c.owners[number]; ok {
		return owners
	}
	s := segment.Of(c.x.segments, number)
	if s == nil {
		return nil
	}
	ord, ok := s.Ordinal(number)
	if !ok {
		return nil
	}
	return c.x.owners(s, ord)
}

// gain records that a document has a passage.
func (c *change) gain(number, doc uint32) {
	owners := c.ownersOf(number)
	if i, has := slices.BinarySearch(owners, doc); !has {
		c.owners[number] = slices.Insert(slices.Clone(owners), i, doc)
		c.bytes += 16
	}
}

// lose records that a document has a passage no more. A passage without owners is dead: searches do not find it, and
// the next merge of its segment leaves it out.
func (c *change) lose(number, doc uint32) {
	owners := c.ownersOf(number)
	if i, has := slices.BinarySearch(owners, doc); has {
		c.owners[number] = slices.Delete(slices.Clone(owners), i, i+1)
		c.bytes += 16
	}
}
