package knowledge

import (
	"context"
	"fmt"
	"iter"
	"log/slog"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/RoaringBitmap/roaring/v2"

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

// Run indexes new pages and documents until ctx ends, then returns nil. If the index cannot be opened, it only waits.
func (k *Knowledge) Run(ctx context.Context) error {
	if err := k.await(ctx); err != nil {
		if ctx.Err() == nil {
			k.log.Error("nothing is indexed, and no search answers, until the next start", "err", err)
			<-ctx.Done()
		}
		return nil
	}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(fault.Loop(ctx, "knowledge: index what was read", func(ctx context.Context) error {
		k.consume(ctx)
		return nil
	}))
	g.Go(fault.Loop(ctx, "knowledge: make vectors", k.vectors.Run))
	g.Go(fault.Loop(ctx, "knowledge: annotate", k.annotator.Run))
	return g.Wait()
}

// Close stops the background work of Open and waits for it.
func (k *Knowledge) Close() error {
	<-k.opened
	k.vectors.Close()
	return k.index.Close()
}

// Search returns the passages that answer a query, by document, best first. An empty query is an error, as is a
// knowledge base that is not there ([*UnknownBaseError]); no other text is. While Run runs, a search waits up to half a
// second for the few documents that were stored just before it, so that a client finds what it has read.
func (k *Knowledge) Search(ctx context.Context, q Query) (*Results, error) {
	if err := k.await(ctx); err != nil {
		return nil, err
	}
	k.progress.await(ctx, k.position())
	for {
		before := k.bases.liveOf(q.KB)
		var about *roaring.Bitmap
		if q.Subject != "" {
			about = k.passagesAbout(q.Subject)
		}
		r, err := k.index.Search(ctx, q.Within(k.withMetadata(q.Metadata), about))
		if err != nil {
			return nil, err
		}
		if k.bases.liveOf(q.KB) == before {
			k.connect(r.Hits, q.Text)
			return r, nil
		}
		// Meanwhile another filling of the base took over, and documents of the one that was searched are going.
	}
}

// withMetadata returns the indexed documents that have all of some values.
func (k *Knowledge) withMetadata(values map[string]string) *roaring.Bitmap {
	var found *roaring.Bitmap
	for name, value := range values {
		numbers := k.index.NumbersOf(k.archive.Having(name, value))
		if found != nil {
			numbers.And(found)
		}
		found = numbers
	}
	return found
}

// Document returns a page that was read, a document of a knowledge base, or a note, with its markdown. The error is
// store.ErrNotFound.
func (k *Knowledge) Document(key page.Key) (*Document, error) {
	if _, ok := note.In(key); ok {
		return k.noteDocument(key)
	}
	if p, err := k.store.PageAt(key); err == nil {
		return k.pageDocument(key, p)
	}
	h, err := k.archive.Head(key)
	if err != nil {
		return nil, err
	}
	md, err := k.archive.Markdown(key)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Key: key, URL: h.URL, Title: h.Title, Host: h.Host, Kind: h.Kind, FetchedAt: h.FetchedAt, Markdown: md,
		Metadata: h.Metadata,
	}
	if library, _ := h.Metadata["library"].(string); library != "" { // as the hook of Context7 says it (rule A19)
		d.Subjects = append(d.Subjects, library)
	} else if u, err := page.Parse(h.URL); err == nil {
		d.Subjects = about(u)
	}
	return d, nil
}

// pageDocument returns a page with its markdown.
func (k *Knowledge) pageDocument(key page.Key, p *page.Page) (*Document, error) {
	md, err := k.store.Markdown(key)
	if err != nil {
		return nil, err
	}
	d := &Document{
		Key: key, URL: p.NormalizedURL, Title: p.Title, TitleElement: p.Meta["title"], Kind: string(p.Type),
		FetchedAt: p.FetchedAt, Markdown: md,
	}
	if u, err := page.Parse(p.NormalizedURL); err == nil {
		d.Host, d.Subjects = page.Authority(u), about(u)
	}
	return d, nil
}

// about returns the subjects that a URL names, for the documents of that URL (rule A16): the library that it is the
// documentation of.
func about(u *url.URL) []string {
	if library := page.Library(u); library != "" {
		return []string{library}
	}
	return nil
}

// markdown returns the text of a document. The error is store.ErrNotFound when there is no such document.
func (k *Knowledge) markdown(key page.Key) ([]byte, error) {
	if _, ok := note.In(key); ok {
		d, err := k.noteDocument(key)
		if err != nil {
			return nil, err
		}
		return d.Markdown, nil
	}
	md, err := k.store.Markdown(key)
	if err == nil {
		return md, nil
	}
	if _, missing := k.store.Page(key); missing == nil {
		return nil, fmt.Errorf("the text of page %s no longer exists", key.Doc())
	}
	return k.archive.Markdown(key)
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

// notify wakes the consumer of the queues and the annotator, after a document that is no page was queued.
func (k *Knowledge) notify() {
	k.annotator.Notify()
	k.notices.Add(1)
	select {
	case k.wake <- struct{}{}:
	default:
	}
}

// idleTime is how long the consumer waits between looks at a queue that nobody spoke of.
const idleTime = 10 * time.Second

// consume indexes what is queued until ctx ends. After an error it waits, a second at first and a minute at most: a
// disk that is full is not asked again and again.
func (k *Knowledge) consume(ctx context.Context) {
	wait := time.Duration(0)
	k.progress.setWorking(true)
	defer k.progress.setWorking(false)
	for {
		more, err := k.step(ctx, false)
		k.progress.setWorking(err == nil)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			wait = min(max(2*wait, time.Second), time.Minute)
			k.log.Warn("indexing waits", "err", err, "wait_ms", wait.Milliseconds())
			if !sleep(ctx, wait) {
				return
			}
			continue
		case more:
			continue
		}
		wait = 0
		k.progress.gather(ctx, min(idleTime, k.retries.wait(time.Now())), k.store.JobsAdded(), k.wake, k.position)
	}
}

// sleep waits for a time, and reports whether ctx goes on.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
