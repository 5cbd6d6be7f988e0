package knowledge

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/meaning"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Options configures a Knowledge. Store is needed; the zero value of the rest will do.
type Options struct {
	Store *store.Store

	// PassageChars is the most code points a passage has. If zero, 4000 (rule D11).
	PassageChars int

	// Decode returns a text in UTF-8, whatever its encoding, and other content as it is. If nil, files are in UTF-8.
	Decode func(content []byte) []byte

	// Convert makes markdown of a file that is none: HTML, PDF. If nil, such files are not taken.
	Convert Converter

	// Cleaner cleans the texts to keep that were not read as pages, and those that were kept without it, or under a lower
	// edition of it, when they are read.
	Cleaner store.Cleaner

	// Embeddings is asked for vectors. If nil, words alone find.
	Embeddings *llm.Client

	// Reranker ranks the best documents of a search again. If nil, nobody does.
	Reranker *llm.Client

	// WithholdRanked is Withhold for Reranker.
	WithholdRanked func(d *Document) bool

	// Model normalises the passages of knowledge bases. If nil, that is done without one.
	Model *llm.Client

	// Anchors returns the anchors of a page, as far as they are known. If nil, only the ids that texts give are known.
	Anchors func(key page.Key) []page.Anchor

	// Withhold reports whether nothing of a document may be told to Embeddings and Model. If nil, everything may.
	Withhold func(d *Document) bool

	// Observe is told how long it took to index some documents together. If nil, nobody is.
	Observe func(took time.Duration)

	// Journal notes which documents are being indexed, so that one that ends the process is not indexed for ever. If nil,
	// nothing is noted.
	Journal *fault.Journal

	// Log receives what an operator should know. If nil, nothing is logged.
	Log *slog.Logger
}

// Converter converts the content of a file to markdown. Name has the extension of the file.
type Converter func(ctx context.Context, name string, content []byte) (title, markdown string, err error)

// Knowledge is the index of what was read, and the knowledge bases. It is safe for concurrent use. Open makes one, Run
// keeps it up to date, Close ends it.
type Knowledge struct {
	store   *store.Store
	records *store.Records
	log     *slog.Logger
	split   outline.SplitOptions
	convert Converter
	observe func(took time.Duration)
	decode  func([]byte) []byte
	cleaner store.Cleaner

	doing *fault.Journal

	archive archive.Archive
	index   *index.Index
	bases   bases

	vectors   *meaning.Vectors // nil without Options.Embeddings
	annotator *annotation.Annotator
	notes     *note.Store

	wake     chan struct{} // capacity 1
	notices  atomic.Int64  // how often notify was called
	progress progress
	garbage  atomic.Bool  // a generation was marked and not cleared
	added    atomic.Int64 // documents queued since the queue was last worked on

	work    sync.Mutex // held over a step of indexing
	retries retries
	rebuild *rebuild // a rebuild under way; under work

	rebuildSeen atomic.Pointer[rebuild] // the same, for whoever only asks

	opened chan struct{} // closed when the index is open
	failed error         // then: why it is not
}

// Open opens the knowledge in a store. The caller closes the store after the Knowledge. It does not wait for the index,
// which takes a second for every few hundred thousand pages: whatever needs that waits, see [Knowledge.Opened]. Run and
// Drain rebuild an index that is missing, damaged or of another version.
func Open(o Options) (*Knowledge, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	k := &Knowledge{
		store: o.Store, records: o.Store.Records(), log: o.Log, convert: o.Convert, decode: o.Decode,
		cleaner: o.Cleaner, observe: o.Observe, doing: o.Journal,
		split: outline.SplitOptions{MaxChars: o.PassageChars},
		wake:  make(chan struct{}, 1), opened: make(chan struct{}),
		progress: progress{hurry: make(chan struct{}, 1)},
	}
	k.archive = archive.New(k.records, k.cleaner)
	if err := k.archive.Repair(); err != nil {
		return nil, fmt.Errorf("open knowledge: %w", err)
	}
	if err := k.archive.KeyMetadata(); err != nil {
		return nil, fmt.Errorf("open knowledge: key the documents by their metadata: %w", err)
	}
	k.notes = note.New(k.records, k.cleaner)
	k.vectors = meaning.New(meaning.Options{
		Records: k.records, Model: o.Embeddings, Withhold: o.Withhold, Log: o.Log,
		Passages: func() iter.Seq2[uint32, [16]byte] { return k.index.Passages() },
		Passage: func(n uint32) (index.Passage, error) {
			p, err := k.index.Passage(n)
			if p.Bare {
				p.Doc.Title, p.Path = "", ""
			} else {
				p.Said = k.saidOf(p.Key, p.Hash)
			}
			p.Hash = index.VectorHash(p.Hash, p.Bare)
			return p, err
		},
		Live:  func(hash [16]byte) bool { return k.index.HasVectorHash(hash) },
		Whole: func() bool { return k.rebuilding() == 0 },
	})
	k.annotator = annotation.New(annotation.Options{
		Records: k.records, Model: o.Model, Withhold: o.Withhold, Log: o.Log, Document: k.load,
		Split:   func(markdown []byte) []outline.Passage { return outline.Split(markdown, k.split) },
		Member:  k.described,
		Gone:    func(p annotation.Passage) error { return k.notes.Forget(p.Page, p.Hash[:4]) },
		Reindex: k.notify,
		Cleaner: k.cleaner,
	})
	about := index.Options{
		Records: k.records, Text: k.markdown, Split: k.split, Members: k.bases.members, Changed: k.vectors.Changed,
		Log: o.Log, Cleaner: k.cleaner, Anchors: o.Anchors,
		Reranker: index.NewReranker(o.Reranker, o.WithholdRanked, o.Log),
		Metadata: func(key page.Key) page.Metadata {
			h, _ := k.archive.Head(key) // pages that were read have none
			return h.Metadata
		},
	}
	if k.vectors != nil {
		about.Vectors = k.vectors.Meaning
	}
	k.index = index.New(about)
	k.bases = bases{
		records: k.records, index: k.index, byName: map[string]*baseRecord{}, sets: map[generation]*memberSet{},
		busy: map[baseID]bool{},
	}
	k.bases.load(k.cleaner.Line)
	k.retries.load(k.records)
	k.garbage.Store(true)
	// Everybody else waits for these, until all of the index is there.
	k.work.Lock()
	k.index.Hold()
	go fault.Contain("knowledge: end opening the index", k.openIndex)()
	return k, nil
}

// openIndex opens the index, which takes long, in a goroutine of Open, and then lets go of the locks for which all
// others wait. An index that panics is given up and made again; what else fails stays in failed.
func (k *Knowledge) openIndex() {
	defer close(k.opened)
	defer k.work.Unlock()
	defer k.index.Release()
	if k.failed = k.crashLoop(); k.failed != nil {
		return
	}
	err := fault.Catch("knowledge: open the index", k.index.Open)
	if fault.Is(err) {
		err = nil
		k.index.GiveUp()
	}
	if err != nil {
		k.failed = fmt.Errorf("open knowledge: %w", err)
		return
	}
	// Before anybody misses a passage: they must know why.
	if err := k.openRebuild(); err != nil {
		k.failed = fmt.Errorf("open knowledge: %w", err)
		return
	}
	k.index.MergeAtStart()
}

// A CrashError says why the index is left closed: the last process crashed in it soon after its start. The next start
// opens it again, unless this one crashes, too.
type CrashError struct{ Last fault.LastEnd }

// Error says why the index is not opened.
func (e *CrashError) Error() string {
	return "the index is left closed, because the last process crashed in it within a minute after its start: " +
		e.Last.Cause()
}

// crashLoop returns a *CrashError if opening the index, or what follows, may end this process as it ended the last one.
func (k *Knowledge) crashLoop() error {
	if last := k.doing.Last(); last.Crashed && last.Soon && last.In("knowledge") {
		return &CrashError{last}
	}
	return nil
}

// Opened reports whether the index is open: until then, whatever needs it waits. The error says why it will never be.
func (k *Knowledge) Opened() (bool, error) {
	select {
	case <-k.opened:
		return k.failed == nil, k.failed
	default:
		return false, nil
	}
}

// await waits until the index is open, or ctx ends.
func (k *Knowledge) await(ctx context.Context) error {
	select {
	case <-k.opened:
		return k.failed
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Close stops the background work of Open and waits for it.
func (k *Knowledge) Close() error {
	<-k.opened
	k.vectors.Close()
	return k.index.Close()
}

// Stats are counts as of now.
type Stats struct {
	Passages  int   `json:"passages"`
	Documents int   `json:"documents"`
	Segments  int   `json:"segments"`
	Bases     int   `json:"bases"`
	Queued    int64 `json:"queued"` // documents that wait to be indexed
	Failed    int   `json:"failed"` // documents that cannot be indexed as they are

	// Rebuilding is how many documents are still to be indexed again, 0 when nothing is rebuilt.
	Rebuilding int64 `json:"rebuilding,omitempty"`

	Vectors *VectorState `json:"vectors,omitempty"` // nil when embeddings are switched off
}

// Stats returns the counts.
func (k *Knowledge) Stats() Stats {
	s := k.index.Stats()
	stats := Stats{Passages: s.Passages, Documents: s.Documents, Segments: s.Segments}
	stats.Queued = k.store.QueuedJobs(Consumer)
	k.records.Keys(archive.QueuePrefix, "", func(string) bool { stats.Queued++; return stats.Queued < 1_000_000 })
	stats.Failed = k.Aside()
	stats.Rebuilding = k.rebuilding()
	stats.Vectors = k.vectors.State()
	k.bases.mu.Lock()
	stats.Bases = len(k.bases.byName)
	k.bases.mu.Unlock()
	return stats
}
