package knowledge

import (
	"context"
	"errors"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/breath"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"

	"golang.org/x/sync/errgroup"
)

// Two queues feed the index: the store's change log, for pages, and k/q/<key><nonce>, for other documents. Either only
// names a key to look at. The index then takes what is stored under the key, so that a key may come twice or late.
const (
	// Consumer is the index's name in the store's change log.
	Consumer = "index"
)

// A step takes at most this many documents and bytes.
const (
	stepDocuments = 256
	stepBytes     = 16 << 20
)

// task is a document to look at, and the queues that name it, from which it is removed when it is done.
type task struct {
	key      page.Key
	jobs     []store.Job // of the change log
	requests []string    // keys of k/q/
}

// step has the consumer index some of the documents that wait, and reports whether there may be more. Before, it clears
// generations of bases that were replaced, given up or deleted, and begins a rebuild of an index that is damaged; if
// nothing waits, it continues a rebuild. With now, it retries failed documents at once.
func (k *Knowledge) step(ctx context.Context, now bool) (more bool, err error) {
	k.work.Lock()
	defer k.work.Unlock()
	if k.failed != nil {
		return false, k.failed
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := k.clearMarked(ctx); err != nil {
		return false, err
	}
	if k.rebuild == nil && k.index.Stats().Damaged {
		k.log.Warn("index is damaged, rebuilding it")
		if err := k.startRebuildLocked(ctx, nil); err != nil {
			return false, err
		}
	}
	at := k.position()
	tasks, all, err := k.tasks(now)
	if err != nil {
		return false, err
	}
	if len(tasks) > 0 {
		err = k.do(ctx, tasks, nil)
	}
	if all && err == nil {
		k.progress.reach(at)
	}
	switch {
	case len(tasks) > 0:
		return true, err
	case k.rebuild != nil:
		return true, k.continueRebuild(ctx)
	}
	return false, nil
}

// tasks returns the documents that wait for the consumer in either queue and are due, and whether both queues were read
// to their ends: only then may a search stop waiting for what was stored.
func (k *Knowledge) tasks(now bool) (tasks []*task, all bool, err error) {
	// those that wait for another attempt are among the jobs, and must not fill the step
	limit := min(stepDocuments+k.retries.len(), 1000)
	jobs, err := k.store.Jobs(Consumer, limit)
	if err != nil {
		return nil, false, err
	}
	all = len(jobs) < limit
	byKey := map[page.Key]*task{}
	at := time.Now()
	get := func(key page.Key) *task {
		if !now && !k.retries.due(key, at) {
			return nil
		}
		t := byKey[key]
		if t == nil {
			t = &task{key: key}
			byKey[key], tasks = t, append(tasks, t)
		}
		return t
	}
	for _, j := range jobs {
		if t := get(j.Page); t != nil {
			t.jobs = append(t.jobs, j)
		}
	}
	k.records.Keys(archive.QueuePrefix, "", func(request string) bool {
		if key, ok := archive.KeyIn(request, archive.QueuePrefix); ok {
			if t := get(key); t != nil {
				t.requests = append(t.requests, request)
			}
		}
		more := len(tasks) < 2*stepDocuments
		all = all && more
		return more
	})
	k.added.Store(0)
	return tasks, all, nil
}

// do has the consumer bring the index up to date with tasks, in portions of at most stepDocuments documents, which end
// with the one that reaches stepBytes of markdown. It calls each, if that is not nil, for every document that it has
// indexed. The caller holds work.
func (k *Knowledge) do(ctx context.Context, tasks []*task, each func(*Document)) error {
	for len(tasks) > 0 {
		if err := ctx.Err(); err != nil {
			return err
		}
		var batch []index.Item
		var gone []page.Key
		failed := map[page.Key]error{}
		n, size := 0, 0
		together, done := k.noteBegun(tasks)
		for n < together && (size < stepBytes || n == 0) {
			key := tasks[n].key
			d, err := k.readTask(key)
			switch {
			case nothingToIndex(err):
				gone = append(gone, key)
			case err != nil:
				failed[key] = err
			default:
				batch = append(batch, d)
				size += len(d.Doc.Markdown)
			}
			n++
			breath.Take()
		}
		err := k.put(ctx, batch, gone, failed)
		done()
		if err != nil {
			return err
		}
		if err := k.reannotate(batch); err != nil {
			return err
		}
		if err := k.settle(tasks[:n], failed); err != nil {
			return err
		}
		tasks = tasks[n:]
		for _, d := range batch {
			if each != nil {
				each(d.Doc)
			}
		}
	}
	return nil
}

// indexing is what the journal calls the work of this file.
const indexing = "index"

// errPoison is why a document is set aside at once.
var errPoison = errors.New("the process ended again and again while this document was being indexed")

// noteBegun notes in the journal that the consumer indexes documents until done is called, and returns how many of
// tasks these are: a document during which a process ended is indexed alone.
func (k *Knowledge) noteBegun(tasks []*task) (n int, done func()) {
	var ids []string
	for n < len(tasks) && n < stepDocuments {
		suspect, _ := k.doing.Suspect(indexing, tasks[n].key.Doc())
		if suspect && n > 0 {
			break
		}
		ids = append(ids, tasks[n].key.Doc())
		if n++; suspect {
			break
		}
	}
	return n, k.doing.Begin(indexing, ids...)
}

// nothingToIndex reports whether an error of readTask says to the consumer that the document is stored no longer, and
// not that it cannot be indexed as it is.
func nothingToIndex(err error) bool {
	return err != nil && !fault.Is(err) && !errors.Is(err, errPoison)
}

// readTask returns a document with its passages, for the consumer. A fault, or errPoison, says that it cannot be
// indexed as it is, any other error that there is nothing to index (nothingToIndex).
func (k *Knowledge) readTask(key page.Key) (in index.Item, err error) {
	if _, poison := k.doing.Suspect(indexing, key.Doc()); poison {
		return index.Item{}, errPoison
	}
	err = fault.CatchJob("knowledge: read a document", key.Doc(), func() error {
		d, err := k.load(key)
		if err == nil {
			in = index.Item{Doc: d, Passages: k.withStatements(d, outline.Split(d.Markdown, k.split))}
		}
		return err
	})
	return in, err
}

// load returns a document as the consumer is to index it: a page that may be found, or a document of a base or note.
// Any error means that there is nothing to index.
func (k *Knowledge) load(key page.Key) (*Document, error) {
	p, err := k.store.PageAt(key)
	switch {
	case err != nil:
		return k.Document(key)
	case !p.Findable():
		return nil, store.ErrNotFound
	}
	return k.pageDocument(key, p)
}

// put has the consumer index documents and forget others. It adds to failed those for which that is not possible, with
// the reason; an error says that nothing can be indexed now.
func (k *Knowledge) put(ctx context.Context, batch []index.Item, gone []page.Key, failed map[page.Key]error) error {
	for _, key := range gone {
		err := k.changeIndex(key.Doc(), func() error { return k.removeDocument(ctx, key) })
		if fault.Is(err) {
			failed[key] = err
		} else if err != nil {
			return err
		}
	}
	touched := gone
	if len(batch) > 0 {
		begun := time.Now()
		err := k.changeIndex("", func() error { return k.index.IndexAll(ctx, batch) })
		if k.observe != nil {
			k.observe(time.Since(begun))
		}
		if err != nil {
			err = k.putEach(ctx, batch, failed)
		}
		if err != nil {
			return err
		}
	}
	for _, d := range batch {
		touched = append(touched, d.Doc.Key)
	}
	k.bases.indexed(touched)
	return nil
}

// putEach has the consumer index documents one by one, after they failed together. It adds to failed those that cannot
// be indexed.
func (k *Knowledge) putEach(ctx context.Context, batch []index.Item, failed map[page.Key]error) error {
	for _, d := range batch {
		key := d.Doc.Key
		switch err := k.changeIndex(key.Doc(), func() error { return k.index.IndexAll(ctx, []index.Item{d}) }); {
		case err == nil:
		case ctx.Err() != nil, errors.Is(err, store.ErrFull):
			return err
		default:
			failed[key] = err
		}
	}
	return nil
}

// changeIndex changes the index, as the consumer does, for a document, or for several if doc is empty. After a panic,
// which may have left what memory holds behind the disk, it reads the index from the disk again.
func (k *Knowledge) changeIndex(doc string, change func() error) error {
	err := fault.CatchJob("knowledge: change the index", doc, change)
	if fault.Is(err) {
		if again := fault.Catch("knowledge: read the index again", k.index.Reopen); again != nil {
			err = errors.Join(err, again)
		}
	}
	return err
}

// removeDocument removes, as the consumer does, a document from the index, and from its bases if it is stored nowhere
// or cannot be read.
func (k *Knowledge) removeDocument(ctx context.Context, key page.Key) error {
	if err := k.index.Delete(ctx, key); err != nil {
		return err
	}
	s := &k.bases
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, err := k.store.PageAt(key); err == nil {
		return nil
	}
	if _, err := k.archive.Markdown(key); err == nil {
		return nil // it has come back: then it was queued again
	}
	if err := k.forgetAnnotations(key); err != nil {
		return err
	}
	changes := s.leave(key)
	if _, err := k.archive.Head(key); err == nil {
		return k.archive.Delete(key, changes...)
	}
	return k.records.Apply(changes...)
}

// settle removes the consumer's tasks from the queues. A task that failed is tried again later, or given up.
func (k *Knowledge) settle(tasks []*task, failed map[page.Key]error) error {
	var done []uint64
	var changes []store.Change
	for _, t := range tasks {
		cause := failed[t.key]
		if cause != nil && !errors.Is(cause, errPoison) && k.retries.add(t, cause, time.Now()) {
			for _, j := range t.jobs {
				if err := k.store.RetryJob(Consumer, j, cause); err != nil {
					return err
				}
			}
			if len(t.jobs)+len(t.requests) == 0 { // of a rebuild, which goes on without it
				changes = append(changes, archive.Queued(t.key))
			}
			continue
		}
		for _, j := range t.jobs {
			done = append(done, j.Seq)
		}
		for _, request := range t.requests {
			changes = append(changes, store.Change{Key: request, Gone: true})
		}
		if cause != nil {
			k.log.Warn("document not indexed", "doc", t.key.Doc(), "err", cause)
		}
		if c, ok := k.retries.settle(t.key, cause); ok {
			changes = append(changes, c)
		}
	}
	if err := index.ApplyAll(k.records, changes); err != nil {
		return err
	}
	return k.store.AckJobs(Consumer, done...)
}

// stepIfMuchAdded does a step of the consumer if many documents were added to it.
func (k *Knowledge) stepIfMuchAdded(ctx context.Context) error {
	if k.added.Add(1) < stepDocuments {
		return nil
	}
	_, err := k.step(ctx, false)
	return err
}

// Drain consumes the queue: it indexes all waiting documents and returns. It is for commands without Run. It retries
// documents that fail at once, a few times. The error is that of ctx, or of a store that takes no writes.
func (k *Knowledge) Drain(ctx context.Context) error {
	for {
		more, err := k.step(ctx, true)
		if err != nil || !more {
			return err
		}
	}
}

// Describe is Drain, and finds the subjects of the passages that wait for that, without a model. It is for commands
// without Run that need them.
func (k *Knowledge) Describe(ctx context.Context) error {
	if err := k.Drain(ctx); err != nil {
		return err
	}
	k.annotator.Describe(ctx)
	return ctx.Err()
}

// Run consumes the queue: it indexes new pages and documents until ctx ends, then returns nil. If the index cannot be
// opened, it only waits.
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

// sleep has the consumer wait for a time, and reports whether ctx goes on.
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
