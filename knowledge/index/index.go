package index

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/readthru/readthru/knowledge/index/rank"
	"github.com/readthru/readthru/knowledge/index/segment"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Keys of the index beside those of its segments. Numbers are big-endian.
//
//	k/g/<page>                     article: a document's URL, title and passages
//	k/n/<block u32>                documentBlock rows of the documents' table
//	k/x/<document u32>             passages that a document owns beside the one they were indexed for
//	k/z                            version of the format, and the next numbers
const (
	ArticlePrefix   = "k/g/"
	rowsPrefix      = "k/n/"
	sharedPrefix    = "k/x/"
	indexVersionKey = "k/z"
)

var indexPrefixes = []string{
	segment.ListPrefix, ArticlePrefix, rowsPrefix, sharedPrefix, segment.TablePrefix, segment.ChangesPrefix,
	segment.BlockPrefix,
}

func articleKey(k page.Key) string     { return ArticlePrefix + string(k[:]) }
func rowsKey(block uint32) string      { return rowsPrefix + segment.BigEndian(block) }
func sharedKey(document uint32) string { return sharedPrefix + segment.BigEndian(document) }

// records is what the index needs of [store.Records].
type records interface {
	Get(key string) ([]byte, error)
	Walk(prefix, from string, f func(key string, value []byte) bool)
	Keys(prefix, from string, f func(key string) bool)
	Apply(changes ...store.Change) error
}

// Options configures an Index. Records and Text are needed.
type Options struct {
	// Records keeps the index; it is that of a store.
	Records records

	// Text returns the markdown of a document, as it was indexed or newer. A document for which the error is
	// store.ErrNotFound is no hit any more; after any other error its hit has no snippet.
	Text func(key page.Key) ([]byte, error)

	// Cleaner cleans the titles and headings of documents that were indexed before it cleaned their texts.
	Cleaner store.Cleaner

	// Split is how documents are cut into passages.
	Split outline.SplitOptions

	// Members returns the documents of a knowledge base, which nobody may change afterwards. Its error is that of a search
	// that names the base.
	Members func(kb string) (*roaring.Bitmap, error)

	// Vectors returns the passages nearest to a text, best first, of those that allow (nil: all) accepts. If nil, words
	// alone rank. After an error, too, and the results say so.
	Vectors func(ctx context.Context, text string, n int, allow func(passage uint32) bool) Meaning

	// Reranker ranks the best documents again. If nil, nobody does.
	Reranker *Reranker

	// Changed is called after passages came or went. It must not block or call the index.
	Changed func(added, removed []uint32)

	// Anchors returns the anchors of a page. If nil, none are known.
	Anchors func(key page.Key) []page.Anchor

	// Metadata returns what the author of a document says about it. If nil, hits have no metadata.
	Metadata func(key page.Key) page.Metadata

	// Log gets what goes wrong. If nil, it is discarded.
	Log *slog.Logger
}

// Scored is a passage that somebody ranked.
type Scored struct {
	Passage uint32  // its number
	Score   float64 // the greater the better
}

// Item is a document with its passages.
type Item struct {
	Doc      *Document
	Passages []outline.Passage
}

// Index is an inverted index over passages, kept in the store. It is safe for concurrent use. Close ends it.
//
// Passages are numbered as they come and keep their number. They lie in segments, which never change but for the
// passages that die in them; in the background many small segments become a large one. A change of the index is one
// transaction: what comes before it (terms of a segment that nothing lists yet) and after it (terms of one that nothing
// lists any more) is found and removed at the next start if the process dies.
type Index struct {
	o Options

	write   sync.Mutex       // held over a change, from reading what was to the memory being as the disk
	build   *segment.Builder // under write
	stained bool             // under write: records of an index that is given up are still to be deleted

	mu       sync.RWMutex       // guards what follows; searches hold it while they read segments
	segments []*segment.Segment // in order of their passages' numbers
	docs     docTable
	shared   map[uint32][]uint32 // further owners of a passage
	sharedBy map[uint32][]uint32 // k/x: the other way round, ascending; some may be in the segment's table by now
	byHash   hashTable           // live passages that are not bare
	bare     hashTable           // live passages that are bare
	sums     sums
	next     counters

	damaged     atomic.Bool   // a search met a segment it could not read
	lastSegment atomic.Uint32 // the newest segment's number; none is given twice while the process lives
	blocks      *segment.Blocks
	merging     merging

	pruneFrom int  // postings of a list that make it worth looking whether they are needed: WorthPruning, but in tests
	Rebuilt   bool // openIndex found no index, or one of another version: everything must be indexed again
}

// counters are the numbers given next to passages and documents. None is given twice.
type counters struct{ passage, document uint32 }

// New returns an index that is not open.
func New(o Options) *Index {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	x := &Index{o: o, build: segment.NewBuilder(), blocks: segment.NewBlocks(o.Records.Get), pruneFrom: rank.WorthPruning}
	x.merging.wake = make(chan struct{}, 1)
	x.empty()
	return x
}

// Hold has nobody else use the index until release.
func (x *Index) Hold() {
	x.write.Lock()
	x.mu.Lock()
}

// Release ends what hold began.
func (x *Index) Release() {
	x.mu.Unlock()
	x.write.Unlock()
}

// Open reads the index into memory. Nobody else uses it meanwhile, or the caller holds it.
func (x *Index) Open() error {
	err := store.ErrNotFound
	if !x.stained { // else the records are still to be deleted
		err = x.load()
	}
	if err != nil {
		if !errors.Is(err, store.ErrNotFound) {
			x.o.Log.Warn("rebuilding the index", "reason", err)
		}
		x.GiveUp()
	}
	if err := x.clean(); err != nil && !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("open index: %w", err)
	}
	if err := x.sweep(); err != nil && !errors.Is(err, store.ErrFull) {
		return fmt.Errorf("open index: %w", err)
	}
	return nil
}

// GiveUp makes the memory that of an index without passages, whose records are still to be deleted, and which is to be
// rebuilt. The caller holds write and mu, or nobody else uses it.
func (x *Index) GiveUp() {
	x.empty()
	x.Rebuilt, x.stained = true, true
}

// Reopen reads the index from the disk again. If that cannot be read, the index is damaged and will be rebuilt.
func (x *Index) Reopen() error {
	x.write.Lock()
	defer x.write.Unlock()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.empty()
	x.Rebuilt = false
	err := x.Open()
	if err != nil || x.Rebuilt {
		x.damaged.Store(true)
	}
	return err
}

// Close ends the background work. The store is not closed.
func (x *Index) Close() error {
	x.stopMerging()
	return nil
}

// empty makes the memory that of an index without passages. Numbers go on.
func (x *Index) empty() {
	x.segments, x.docs, x.sums = nil, docTable{}, sums{}
	x.damaged.Store(false)
	x.shared, x.sharedBy = map[uint32][]uint32{}, map[uint32][]uint32{}
	x.byHash, x.bare = hashTable{hashOf: x.hashIn}, hashTable{hashOf: x.hashIn}
}

// Reset forgets everything indexed.
func (x *Index) Reset(ctx context.Context) error {
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
	if x.o.Changed != nil && len(removed) > 0 {
		x.o.Changed(nil, removed)
	}
	return err
}

// clean deletes the records of an index that was given up, if there are any, before something is written: old and new
// records must not mix. The caller holds write.
func (x *Index) clean() error {
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
func (x *Index) clear() error {
	x.blocks.Clear()
	if err := x.o.Records.Apply(store.Change{Key: indexVersionKey, Gone: true}); err != nil {
		return fmt.Errorf("empty index: %w", err)
	}
	for _, prefix := range indexPrefixes {
		if err := DeletePrefix(x.o.Records, prefix); err != nil {
			return fmt.Errorf("empty index: %w", err)
		}
	}
	return x.o.Records.Apply(store.Change{Key: indexVersionKey, Value: x.next.encode()})
}

// DeletePrefix deletes all records of an index whose keys begin with prefix, some thousands in a transaction. If it is
// interrupted, a second call goes on.
func DeletePrefix(r records, prefix string) error {
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

// Stats are figures of an index.
type Stats struct {
	Documents int
	Passages  int
	Segments  int
	Dead      int   // passages that wait for a merge to be gone
	Bytes     int64 // of terms on disk, before compression
	Damaged   bool  // something could not be read: rebuild
}

// Stats returns figures of the index as it is now.
func (x *Index) Stats() Stats {
	x.mu.RLock()
	defer x.mu.RUnlock()
	s := Stats{
		Documents: x.docs.live, Passages: x.sums.passages, Segments: len(x.segments),
		Damaged: x.damaged.Load(),
	}
	for _, seg := range x.segments {
		s.Bytes += seg.Bytes
		s.Dead += seg.Len() - seg.Live
	}
	return s
}
