package knowledge

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Keys of the index. Numbers are big-endian.
//
//	k/g/<page>                     article: a document's URL, title and passages
//	k/n/<block u32>                documentBlock rows of the documents' table
//	k/x/<document u32>             passages that a document owns beside the one they were indexed for
//	k/s/<segment u32>              segment: the list of segments is the list of these
//	k/p/<segment u32><part u32>    tablePart rows of a segment's passages
//	k/r/<segment u32><part u32>    which of changesPart passages are dead, or lost the owner in the table
//	k/t/<segment u32><block u32>   terms
//	k/z                            version of the format, and the next numbers
const (
	articlePrefix   = "k/g/"
	rowsPrefix      = "k/n/"
	sharedPrefix    = "k/x/"
	segmentPrefix   = "k/s/"
	tablePrefix     = "k/p/"
	changesPrefix   = "k/r/"
	blockPrefix     = "k/t/"
	indexVersionKey = "k/z"
)

var indexPrefixes = []string{
	segmentPrefix, articlePrefix, rowsPrefix, sharedPrefix, tablePrefix, changesPrefix,
	blockPrefix,
}

func bigEndian(n ...uint32) string {
	var b []byte
	for _, n := range n {
		b = binary.BigEndian.AppendUint32(b, n)
	}
	return string(b)
}

func articleKey(k page.Key) string            { return articlePrefix + string(k[:]) }
func rowsKey(block uint32) string             { return rowsPrefix + bigEndian(block) }
func sharedKey(document uint32) string        { return sharedPrefix + bigEndian(document) }
func segmentKey(id uint32) string             { return segmentPrefix + bigEndian(id) }
func tableKey(id uint32, part int) string     { return tablePrefix + bigEndian(id, uint32(part)) }
func changesKey(id uint32, part int) string   { return changesPrefix + bigEndian(id, uint32(part)) }
func blockKey(id uint32, block uint32) string { return blockPrefix + bigEndian(id, block) }

// records is what the index needs of [store.Records].
type records interface {
	Get(key string) ([]byte, error)
	Walk(prefix, from string, f func(key string, value []byte) bool)
	Keys(prefix, from string, f func(key string) bool)
	Apply(changes ...store.Change) error
}

// indexOptions configures a searchIndex. Records and text are needed.
type indexOptions struct {
	records records

	// text returns the markdown of a document, as it was indexed or newer. A document for which the error is
	// store.ErrNotFound is no hit any more; after any other error its hit has no snippet.
	text func(key page.Key) ([]byte, error)

	// cleaner cleans the titles and headings of documents that were indexed before it cleaned their texts.
	cleaner store.Cleaner

	// split is how documents are cut into passages.
	split outline.SplitOptions

	// members returns the documents of a knowledge base, which nobody may change afterwards. Its error is that of a search
	// that names the base.
	members func(kb string) (*roaring.Bitmap, error)

	// vectors returns the passages nearest to a text, best first, of those that allow (nil: all) accepts. If nil, words
	// alone rank. After an error, too, and the results say so.
	vectors func(ctx context.Context, text string, n int, allow func(passage uint32) bool) meaning

	// reranker ranks the best documents again. If nil, nobody does.
	reranker *reranker

	// changed is called after passages came or went. It must not block or call the index.
	changed func(added, removed []uint32)

	// anchors returns the anchors of a page. If nil, none are known.
	anchors func(key page.Key) []page.Anchor

	// metadata returns what the author of a document says about it. If nil, hits have no metadata.
	metadata func(key page.Key) page.Metadata

	log *slog.Logger
}

// scored is a passage that somebody ranked.
type scored struct {
	passage uint32
	score   float64
}

// indexed is a document with its passages.
type indexed struct {
	doc      *Document
	passages []outline.Passage
}

// searchIndex is an inverted index over passages, kept in the store. It is safe for concurrent use. Close ends it.
//
// Passages are numbered as they come and keep their number. They lie in segments, which never change but for the
// passages that die in them; in the background many small segments become a large one. A change of the index is one
// transaction: what comes before it (terms of a segment that nothing lists yet) and after it (terms of one that nothing
// lists any more) is found and removed at the next start if the process dies.
type searchIndex struct {
	o indexOptions

	write   sync.Mutex      // held over a change, from reading what was to the memory being as the disk
	build   *segmentBuilder // under write
	stained bool            // under write: records of an index that is given up are still to be deleted

	mu       sync.RWMutex // guards what follows; searches hold it while they read segments
	segments []*segment   // in order of their passages' numbers
	docs     docTable
	shared   map[uint32][]uint32 // further owners of a passage
	sharedBy map[uint32][]uint32 // k/x: the other way round, ascending; some may be in the segment's table by now
	byHash   hashTable           // live passages that are not bare
	bare     hashTable           // live passages that are bare
	sums     sums
	next     counters

	damaged     atomic.Bool   // a search met a segment it could not read
	lastSegment atomic.Uint32 // the newest segment's number; none is given twice while the process lives
	blocks      *blockCache
	merging     merging

	pruneFrom int  // postings of a list that make it worth looking whether they are needed: worthPruning, but in tests
	rebuilt   bool // openIndex found no index, or one of another version: everything must be indexed again
}

// counters are the numbers given next to passages and documents. None is given twice.
type counters struct{ passage, document uint32 }

// sums are totals over the live passages.
type sums struct {
	passages           int
	text, title, path  int64 // words
	titled, underPaths int   // passages that have the field
}

func (s *sums) add(l lengths, sign int) {
	s.passages += sign
	s.text += int64(sign) * int64(l.text)
	s.title += int64(sign) * int64(l.title)
	s.path += int64(sign) * int64(l.path)
	if l.title > 0 {
		s.titled += sign
	}
	if l.path > 0 {
		s.underPaths += sign
	}
}

func (s *sums) averages() averages {
	mean := func(sum int64, n int) float64 {
		if n == 0 {
			return 1
		}
		return max(float64(sum)/float64(n), 1)
	}
	return averages{text: mean(s.text, s.passages), title: mean(s.title, s.titled), path: mean(s.path, s.underPaths)}
}

// openIndex opens the index in the records, or makes one. An index of another version, or one that cannot be read, is
// emptied: rebuilt tells that. Records that take no writes are not an error: what is stored can be searched, and the
// rest follows when they take writes again.
func openIndex(o indexOptions) (*searchIndex, error) {
	x, err := openIdle(o)
	if err == nil {
		x.startMerging(0)
	}
	return x, err
}

// openIdle is openIndex without work in the background.
func openIdle(o indexOptions) (*searchIndex, error) {
	x := newIndex(o)
	return x, x.open()
}

// newIndex returns an index that is not open.
func newIndex(o indexOptions) *searchIndex {
	if o.log == nil {
		o.log = slog.New(slog.DiscardHandler)
	}
	x := &searchIndex{o: o, build: newSegmentBuilder(), blocks: newBlockCache(leastBlocks), pruneFrom: worthPruning}
	x.merging.wake = make(chan struct{}, 1)
	x.empty()
	return x
}

// open reads the index into memory. Nobody else uses it meanwhile, or the caller holds write and mu.
func (x *searchIndex) open() error {
	err := store.ErrNotFound
	if !x.stained { // else the records are still to be deleted
		err = x.load()
	}
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			x.o.log.Warn("rebuilding the index", "reason", err)
		}
		x.giveUp()
	}
	if err := x.clean(); err != nil && !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("open index: %w", err)
	}
	if err := x.sweep(); err != nil && !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("open index: %w", err)
	}
	return nil
}

// giveUp makes the memory that of an index without passages, whose records are still to be deleted, and which is to be
// rebuilt. The caller holds write and mu, or nobody else uses it.
func (x *searchIndex) giveUp() {
	x.empty()
	x.rebuilt, x.stained = true, true
}

// reopen reads the index from the disk again. If that cannot be read, the index is damaged and will be rebuilt.
func (x *searchIndex) reopen() error {
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.empty()
	x.rebuilt = false
	err := x.open()
	if err != nil || x.rebuilt {
		x.damaged.Store(true)
	}
	return err
}

// Close ends the background work. The store is not closed.
func (x *searchIndex) Close() error {
	x.stopMerging()
	return nil
}

// empty makes the memory that of an index without passages. Numbers go on.
func (x *searchIndex) empty() {
	x.segments, x.docs, x.sums = nil, docTable{}, sums{}
	x.damaged.Store(false)
	x.shared, x.sharedBy = map[uint32][]uint32{}, map[uint32][]uint32{}
	x.byHash, x.bare = hashTable{hashOf: x.hashIn}, hashTable{hashOf: x.hashIn}
}

// reset forgets everything indexed.
func (x *searchIndex) reset(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.Lock()
	removed := slices.AppendSeq(slices.Collect(x.byHash.numbers()), x.bare.numbers())
	x.empty()
	x.mu.Unlock()
	x.stained = true
	err := x.clean()
	if x.o.changed != nil && len(removed) > 0 {
		x.o.changed(nil, removed)
	}
	return err
}

// clean deletes the records of an index that was given up, if there are any.
func (x *searchIndex) clean() error {
	if !x.stained {
		return nil
	}
	if err := x.clear(); err != nil {
		return err
	}
	x.stained = false
	return nil
}

// clear deletes all records of the index, first the one without which there is none: should we die before the last is
// deleted, nothing of the rest is read again.
func (x *searchIndex) clear() error {
	x.blocks.clear()
	if err := x.o.records.Apply(store.Change{Key: indexVersionKey, Gone: true}); err != nil {
		return fmt.Errorf("empty index: %w", err)
	}
	for _, prefix := range indexPrefixes {
		if err := deletePrefix(x.o.records, prefix); err != nil {
			return fmt.Errorf("empty index: %w", err)
		}
	}
	return x.o.records.Apply(store.Change{Key: indexVersionKey, Value: x.next.encode()})
}

// deletePrefix deletes all records whose keys begin with prefix.
func deletePrefix(r records, prefix string) error {
	for {
		var changes []store.Change
		r.Keys(prefix, "", func(key string) bool {
			changes = append(changes, store.Change{Key: key, Gone: true})
			return len(changes) < 4000
		})
		if len(changes) == 0 {
			return nil
		}
		if err := r.Apply(changes...); err != nil {
			return err
		}
	}
}

// article returns the record of a document, or store.ErrNotFound.
func (x *searchIndex) article(key page.Key) (*article, error) {
	b, err := x.o.records.Get(articleKey(key))
	if err != nil {
		return nil, err
	}
	return decodeArticle(b)
}

// number returns a document's number. It stays the same until the document is deleted, and is given to no other.
func (x *searchIndex) number(key page.Key) (uint32, bool) {
	b, err := x.o.records.Get(articleKey(key))
	if err != nil {
		return 0, false
	}
	n, _ := uvarint(b)
	return uint32(n), true
}

// document returns the document of a number.
func (x *searchIndex) document(number uint32) (page.Key, bool) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	if int(number) >= len(x.docs.rows) || !x.docs.rows[number].live {
		return page.Key{}, false
	}
	return x.docs.rows[number].key, true
}

// passages returns the numbers of all live passages, segment by segment, with the hashes that their vectors are kept
// under. Passages that change during the walk may be among them or not.
func (x *searchIndex) passages() iter.Seq2[uint32, [16]byte] {
	return func(yield func(uint32, [16]byte) bool) {
		x.mu.RLock()
		segments := slices.Clone(x.segments)
		x.mu.RUnlock()
		for _, s := range segments {
			x.mu.RLock()
			dead := slices.Clone(s.dead)
			x.mu.RUnlock()
			for i, number := range s.numbers {
				if !dead.has(uint32(i)) && !yield(number, vectorHash(s.hashes[i], s.lengths[i].kind&barePassage != 0)) {
					return
				}
			}
		}
	}
}

// table returns the table of the live passages of a kind.
func (x *searchIndex) table(kind passageKind) *hashTable {
	if kind&barePassage != 0 {
		return &x.bare
	}
	return &x.byHash
}

// passagesByHash returns the live passages with a text hash: at most two, see passageFor.
func (x *searchIndex) passagesByHash(hash [16]byte) (numbers []uint32) {
	x.mu.RLock()
	defer x.mu.RUnlock()
	for _, t := range []*hashTable{&x.byHash, &x.bare} {
		if n, ok := t.get(hash); ok {
			numbers = append(numbers, n)
		}
	}
	return numbers
}

// passagesOf returns the passages of a document in its order; a passage that stands in it twice is there twice.
func (x *searchIndex) passagesOf(key page.Key) []uint32 {
	a, err := x.article(key)
	if err != nil {
		return nil
	}
	numbers := make([]uint32, len(a.passages))
	for i := range a.passages {
		numbers[i] = a.passages[i].number
	}
	return numbers
}

// owners returns the documents that have a passage, ascending. The caller holds mu.
func (x *searchIndex) owners(s *segment, ord uint32) []uint32 {
	shared := x.shared[s.numbers[ord]]
	if s.dead.has(ord) {
		return nil
	}
	owners := make([]uint32, 0, len(shared)+1)
	if !s.orphans.has(ord) {
		owners = append(owners, s.owners[ord])
	}
	owners = append(owners, shared...)
	slices.Sort(owners)
	return owners
}

// indexStats are figures of an index.
type indexStats struct {
	Documents int
	Passages  int
	Segments  int
	Dead      int   // passages that wait for a merge to be gone
	Bytes     int64 // of terms on disk, before compression
	Damaged   bool  // something could not be read: rebuild
}

func (x *searchIndex) stats() indexStats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := indexStats{
		Documents: x.docs.live, Passages: x.sums.passages, Segments: len(x.segments),
		Damaged: x.damaged.Load(),
	}
	for _, seg := range x.segments {
		s.Bytes += seg.bytes
		s.Dead += seg.len() - seg.live
	}
	return s
}
