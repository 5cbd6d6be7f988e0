package knowledge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Keys of annotations. A key with a hash is <key32><hash16>.
//
//	k/aq/<key>               a document to be annotated
//	k/ay/<key>               what is said of it changed since it was last indexed
//	k/a/<key with hash>      what a passage says: an annotation
//	k/f/<frame>\0<k.w.hash>  look-up by frame
//	k/o/<subject>\0<k.w.h.>  look-up by subject, in lower case → as it was written
const (
	annotationQueue  = "k/aq/"
	saidPrefix       = "k/ay/"
	annotationPrefix = "k/a/"
	framePrefix      = "k/f/"
	subjectPrefix    = "k/o/"
)

// annotationJob has a document annotated: it goes into the change that makes a document a member of a base, or changes
// one.
func annotationJob(k page.Key) store.Change { return store.Change{Key: annotationQueue + string(k[:])} }

// annotationDone takes a document out of the queue.
func annotationDone(k page.Key) store.Change {
	return store.Change{Key: annotationQueue + string(k[:]), Gone: true}
}

// passageKey is where an annotation belongs.
type passageKey struct {
	page page.Key
	hash [16]byte
}

func (p passageKey) String() string     { return string(p.page[:]) + string(p.hash[:]) }
func (p passageKey) annotation() string { return annotationPrefix + p.String() }

// passageKeyIn reads what stands at the end of a key.
func passageKeyIn(key string) (p passageKey, ok bool) {
	if len(key) < 48 {
		return p, false
	}
	copy(p.page[:], key[len(key)-48:])
	copy(p.hash[:], key[len(key)-16:])
	return p, true
}

// annotation is what k/a/ holds.
type annotation struct {
	By         string                `json:"by,omitempty"` // the model that was asked; empty: none was
	Version    int                   `json:"v,omitempty"`  // of what is said without a model
	Edition    int                   `json:"e,omitempty"`  // of the cleaner that the passage passed
	Statements []statement.Statement `json:"s"`
}

// localVersion is raised when statements made without a model change. Passages are then described again.
const localVersion = 1

// holds reports whether an annotation is what would be made now; model is nil if none is asked.
func (a *annotation) holds(model *llm.Client) bool {
	if model != nil {
		return a.By == model.Model()
	}
	return a.By != "" || a.Version == localVersion
}

// said returns the statements in words of their own, a line each; empty without a model.
func (a *annotation) said() string {
	var b strings.Builder
	for i := range a.Statements {
		if text := a.Statements[i].NormalizedText; text != "" {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// lookups returns the keys under which an annotation is found, with their values; of the zero annotation none.
func (a *annotation) lookups(p passageKey) map[string]string {
	if len(a.Statements) == 0 {
		return nil
	}
	keys := map[string]string{}
	for i := range a.Statements {
		keys[frameLookup(a.Statements[i].Frame)+p.String()] = ""
	}
	for _, subject := range statement.Subjects(a.Statements) {
		keys[subjectLookup(subject)+p.String()] = subject
	}
	return keys
}

// frameLookup begins the keys of the passages of a frame.
func frameLookup(frame string) string { return framePrefix + frame + "\x00" }

// subjectLookup begins the keys of the passages about a subject.
func subjectLookup(subject string) string {
	return subjectPrefix + statement.FoldSubject(subject) + "\x00"
}

// annotator describes every passage of a knowledge base, of an ingested text and of a note (rules D2, D7, D12): with a
// model, by one prompt for each; without one, and for texts that may not leave the machine, from the text alone. It
// works through a queue in the background; search never needs it. While the model cannot be asked, it uses the text
// alone, and the document stays in the queue for the model.
type annotator struct {
	o    annotatorOptions
	wake chan struct{}

	passing sync.Mutex // held over a pass
	writing sync.Mutex // no document is forgotten between the look whether it is still a member and the write

	// Under passing.
	failures int               // of the model in a row
	rest     time.Time         // the model is not asked before
	fallen   map[page.Key]bool // documents annotated without the model, that wait for it
}

type annotatorOptions struct {
	records  *store.Records
	model    *llm.Client // may be nil
	document func(page.Key) (*index.Document, error)
	split    func(markdown []byte) []outline.Passage
	member   func(page.Key) bool          // is it to be annotated?
	withhold func(d *index.Document) bool // may nothing of it be told to the model? May be nil
	gone     func(passageKey) error       // a passage is gone: so are its relations
	reindex  func()                       // a document was queued for the index: more is said of its passages
	cleaner  store.Cleaner
	log      *slog.Logger
}

// newAnnotator returns an annotator, which run has work.
func newAnnotator(o annotatorOptions) *annotator {
	return &annotator{o: o, wake: make(chan struct{}, 1), fallen: map[page.Key]bool{}}
}

// notify says that there may be work.
func (a *annotator) notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// lookAround is how often the queue is checked without a notification.
const lookAround = 5 * time.Second

// run annotates until ctx ends, and returns nil.
func (a *annotator) run(ctx context.Context) error {
	for ctx.Err() == nil {
		rest := a.passAndRest(ctx)
		wait := lookAround
		if rest > 0 {
			wait = min(wait, rest)
		}
		select {
		case <-a.wake:
		case <-time.After(wait):
		case <-ctx.Done():
		}
	}
	return nil
}

// passAndRest works through the queue once and returns for how long the model is left alone.
func (a *annotator) passAndRest(ctx context.Context) time.Duration {
	a.passing.Lock()
	defer a.passing.Unlock()
	a.pass(ctx, a.o.model)
	return time.Until(a.rest)
}

// describe says of what waits what can be said without a model, unless somebody is at it.
func (a *annotator) describe(ctx context.Context) {
	if a.passing.TryLock() {
		defer a.passing.Unlock()
		a.pass(ctx, nil)
	}
}

// pass works through the queue once. If there is a model and it is not given, it does what has no annotation, and
// leaves it in the queue for the model.
func (a *annotator) pass(ctx context.Context, model *llm.Client) {
	var jobs []page.Key
	a.o.records.Keys(annotationQueue, "", func(key string) bool {
		if k, ok := archive.KeyIn(key, annotationQueue); ok {
			jobs = append(jobs, k)
		}
		return true
	})
	for _, k := range jobs {
		if ctx.Err() != nil {
			return
		}
		if a.fallen[k] && time.Now().Before(a.rest) || model != a.o.model && a.has(k) {
			continue
		}
		err := fault.CatchJob("knowledge: annotate a document", k.Doc(), func() error { return a.annotate(ctx, k, model) })
		if fault.Is(err) { // it would panic again; a change of the document queues it again
			err = errors.Join(err, a.o.records.Apply(annotationDone(k)))
			a.o.log.Warn("document not annotated", "doc", k.Doc(), "err", err)
		} else if err != nil && ctx.Err() == nil {
			a.o.log.Warn("annotation waits", "doc", k.Doc(), "err", err)
		}
	}
}

// together is how many passages of a document are weighed against each other: what a larger one takes in memory is
// bounded.
const together = 500

// annotate brings a document's annotations up to date and takes it out of the queue. It stays there after an error, and
// if the model is still to be asked.
func (a *annotator) annotate(ctx context.Context, k page.Key, model *llm.Client) error {
	d, err := a.o.document(k)
	if errors.Is(err, store.ErrNotFound) || err == nil && !a.o.member(k) {
		return a.forget(k)
	}
	if err != nil {
		return err
	}
	gone := map[[16]byte]annotation{} // what is there, less what is found again
	a.each(k, func(p passageKey, old annotation) bool {
		gone[p.hash] = old
		return true
	})
	var waits error // for the model
	seen := map[[16]byte]bool{}
	for passages := range slices.Chunk(a.o.split(d.Markdown), together) {
		local := statement.Local(d, passages)
		for i := range passages {
			p := &passages[i]
			if seen[p.Hash] {
				continue
			}
			seen[p.Hash] = true
			old, had := gone[p.Hash]
			delete(gone, p.Hash)
			now := &annotation{By: old.By, Version: old.Version, Statements: old.Statements}
			if had && old.holds(model) {
				if old.Edition == a.o.cleaner.Edition {
					continue
				}
				if old.Version > 0 { // it was weighed against passages that may be gone
					now.Version, now.Statements = localVersion, []statement.Statement{local[i]}
				}
			} else if now, err = a.statements(ctx, d, p, local[i], model); ctx.Err() != nil {
				return ctx.Err()
			} else if err != nil {
				waits = err
				if had {
					continue
				}
			}
			now.Edition = a.o.cleaner.Edition
			if err := a.write(passageKey{k, p.Hash}, &old, now); err != nil {
				return err
			}
		}
	}
	for hash, old := range gone {
		p := passageKey{k, hash}
		if err := a.write(p, &old, nil); err != nil {
			return err
		}
		if err := a.o.gone(p); err != nil {
			return err
		}
	}
	var done []store.Change
	if _, err := a.o.records.Get(saidPrefix + string(k[:])); err == nil {
		done = append(done, store.Change{Key: saidPrefix + string(k[:]), Gone: true}, archive.Queued(k))
		defer a.o.reindex()
	}
	if waits == nil && model == a.o.model {
		done = append(done, annotationDone(k))
	}
	if err := a.o.records.Apply(done...); err != nil {
		return err
	}
	if waits != nil {
		a.fallen[k] = true
		return waits
	}
	if model != a.o.model {
		return nil
	}
	delete(a.fallen, k)
	// The document may have changed, and its job may have been queued again, before the job was deleted.
	if again, err := a.o.document(k); err == nil && string(again.Markdown) != string(d.Markdown) {
		return a.o.records.Apply(annotationJob(k))
	}
	return nil
}

// statements returns what a passage says. An error says that the model should be asked again later. The annotation is
// to be used until then.
func (a *annotator) statements(ctx context.Context, d *index.Document, p *outline.Passage, local statement.Statement,
	model *llm.Client,
) (*annotation, error) {
	now := &annotation{Version: localVersion, Statements: []statement.Statement{local}}
	if model == nil {
		return now, nil
	}
	if a.o.withhold != nil && a.o.withhold(d) {
		now.By = model.Model() // that is its last word
		return now, nil
	}
	if wait := time.Until(a.rest); wait > 0 {
		return now, fmt.Errorf("the model is not asked for another %v", wait.Round(time.Second))
	}
	list, err := statement.Normalise(ctx, model, d, p)
	if err == nil {
		a.failures = 0
		list[0].Domains = slices.Concat(d.Subjects, list[0].Domains) // what is known is not the model's to leave out
		list[0].Tidy()
		return &annotation{By: model.Model(), Statements: list}, nil
	}
	switch e, _ := errors.AsType[*llm.Error](err); {
	case e == nil:
		return now, err
	case e.Kind == llm.Malformed || e.Kind == llm.Refused || e.Kind == llm.Cut || e.Kind == llm.BadRequest &&
		e.Status != 404:
		a.o.log.Info("passage annotated without the model", "doc", d.Key.Doc(), "err", err)
		now.By = model.Model()
		return now, nil
	}
	a.failures++
	a.rest = time.Now().Add(llm.WaitAfter(a.failures, err))
	return now, err
}

// has reports whether a document has annotations.
func (a *annotator) has(k page.Key) (found bool) {
	a.o.records.Keys(annotationPrefix+string(k[:]), "", func(string) bool { found = true; return false })
	return found
}

// each calls f for the annotations of a document, as they are stored, until f returns false.
func (a *annotator) each(k page.Key, f func(passageKey, annotation) bool) {
	a.o.records.Walk(annotationPrefix+string(k[:]), "", func(key string, value []byte) bool {
		p, ok := passageKeyIn(key)
		var old annotation
		if !ok || json.Unmarshal(value, &old) != nil {
			return true
		}
		return f(p, old)
	})
}

// of returns the annotation of a passage, as it is told. The error is store.ErrNotFound, also while one that was made
// without a model waits to be made of what the cleaner leaves now: it may name what other passages hid.
func (a *annotator) of(p passageKey) (*annotation, error) {
	value, err := a.o.records.Get(p.annotation())
	if err != nil {
		return nil, err
	}
	var stored annotation
	if json.Unmarshal(value, &stored) != nil || stored.Version > 0 && a.o.cleaner.Behind(stored.Edition) {
		return nil, store.ErrNotFound
	}
	return a.told(&stored), nil
}

// told returns an annotation as it is told: what a model wrote may hide something, too.
func (a *annotator) told(stored *annotation) *annotation {
	told := *stored
	told.Statements = make([]statement.Statement, len(stored.Statements))
	for i, s := range stored.Statements {
		s.NormalizedText = string(a.o.cleaner.Markdown([]byte(s.NormalizedText)))
		for _, list := range []*[]string{&s.Domains, &s.Entities, &s.Problems, &s.Resolutions, &s.Contexts} {
			items := make([]string, len(*list))
			for i, item := range *list {
				items[i] = a.o.cleaner.Line(item)
			}
			*list = items
		}
		told.Statements[i] = s
	}
	return &told
}

// eachCurrent calls f for the annotations of a document, as they are told, that are of what the cleaner leaves now.
func (a *annotator) eachCurrent(k page.Key, f func(*annotation)) {
	a.each(k, func(_ passageKey, stored annotation) bool {
		if !a.o.cleaner.Behind(stored.Edition) {
			f(a.told(&stored))
		}
		return true
	})
}

// write puts a passage's annotation, or nil, in the place of an old one. What is no member any more gets none.
func (a *annotator) write(p passageKey, old, now *annotation) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	if now != nil && !a.o.member(p.page) {
		return nil
	}
	changes := []store.Change{{Key: p.annotation(), Gone: true}}
	if now != nil && now.said() != old.said() {
		changes = append(changes, store.Change{Key: saidPrefix + string(p.page[:])})
	}
	keep := map[string]string{}
	if now != nil {
		value, err := json.Marshal(now)
		if err != nil {
			return err
		}
		changes[0] = store.Change{Key: p.annotation(), Value: value}
		keep = now.lookups(p)
	}
	for key := range old.lookups(p) {
		if _, ok := keep[key]; !ok {
			changes = append(changes, store.Change{Key: key, Gone: true})
		}
	}
	for key, value := range keep {
		changes = append(changes, store.Change{Key: key, Value: []byte(value)})
	}
	return a.o.records.Apply(changes...)
}

// forget drops what is known of a document's passages, and its job.
func (a *annotator) forget(k page.Key) error {
	var all []passageKey
	var old []annotation
	a.each(k, func(p passageKey, o annotation) bool {
		all, old = append(all, p), append(old, o)
		return true
	})
	for i, p := range all {
		if err := a.write(p, &old[i], nil); err != nil {
			return fmt.Errorf("forget annotations: %w", err)
		}
	}
	if err := a.o.records.Apply(annotationDone(k), store.Change{Key: saidPrefix + string(k[:]), Gone: true}); err != nil {
		return fmt.Errorf("forget annotations: %w", err)
	}
	return nil
}

// lookup calls f for the passages whose keys begin with prefix, in order from one on, until f returns false. From is
// what follows the prefix.
func lookup(r *store.Records, prefix, from string, f func(p passageKey) bool) {
	if from != "" {
		from = prefix + from
	}
	r.Keys(prefix, from, func(key string) bool {
		p, ok := passageKeyIn(key)
		return !ok || f(p)
	})
}
