package annotation

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
	QueuePrefix      = "k/aq/"
	saidPrefix       = "k/ay/"
	annotationPrefix = "k/a/"
	framePrefix      = "k/f/"
	SubjectPrefix    = "k/o/"
)

// Job has a document annotated: it goes into the change that makes a document a member of a base, or changes
// one.
func Job(k page.Key) store.Change { return store.Change{Key: QueuePrefix + string(k[:])} }

// unqueued takes a document out of the queue of those to be annotated.
func unqueued(k page.Key) store.Change {
	return store.Change{Key: QueuePrefix + string(k[:]), Gone: true}
}

// Passage is where an annotation belongs.
type Passage struct {
	Page page.Key
	Hash [16]byte
}

// String returns the passage of an annotation as it stands in a key's text.
func (p Passage) String() string { return string(p.Page[:]) + string(p.Hash[:]) }

// annotation returns the key of the passage's annotation.
func (p Passage) annotation() string { return annotationPrefix + p.String() }

// PassageIn reads the passage of an annotation that stands at the end of a key.
func PassageIn(key string) (p Passage, ok bool) {
	if len(key) < 48 {
		return p, false
	}
	copy(p.Page[:], key[len(key)-48:])
	copy(p.Hash[:], key[len(key)-16:])
	return p, true
}

// Annotation is what k/a/ holds.
type Annotation struct {
	By         string                `json:"by,omitempty"` // the model that was asked; empty: none was
	Version    int                   `json:"v,omitempty"`  // of what is said without a model
	Edition    int                   `json:"e,omitempty"`  // of the cleaner that the passage passed
	Statements []statement.Statement `json:"s"`
}

// localVersion is raised when statements made without a model change. Passages are then described again.
const localVersion = 1

// holds reports whether an annotation is what would be made now; model is nil if none is asked.
func (a *Annotation) holds(model *llm.Client) bool {
	if model != nil {
		return a.By == model.Model()
	}
	return a.By != "" || a.Version == localVersion
}

// Said returns the statements in words of their own, a line each; empty without a model.
func (a *Annotation) Said() string {
	var b strings.Builder
	for i := range a.Statements {
		if text := a.Statements[i].NormalizedText; text != "" {
			b.WriteString(text + "\n")
		}
	}
	return b.String()
}

// lookups returns the keys under which an annotation is found, with their values; of the zero annotation none.
func (a *Annotation) lookups(p Passage) map[string]string {
	if len(a.Statements) == 0 {
		return nil
	}
	keys := map[string]string{}
	for i := range a.Statements {
		keys[FrameLookup(a.Statements[i].Frame)+p.String()] = ""
	}
	for _, subject := range statement.Subjects(a.Statements) {
		keys[SubjectLookup(subject)+p.String()] = subject
	}
	return keys
}

// FrameLookup begins the keys of the passages whose annotation has a frame.
func FrameLookup(frame string) string { return framePrefix + frame + "\x00" }

// SubjectLookup begins the keys of the passages whose annotation names a subject.
func SubjectLookup(subject string) string {
	return SubjectPrefix + statement.FoldSubject(subject) + "\x00"
}

// Annotator describes every passage of a knowledge base, of an ingested text and of a note (rules D2, D7, D12): with a
// model, by one prompt for each; without one, and for texts that may not leave the machine, from the text alone. It
// works through a queue in the background; search never needs it. While the model cannot be asked, it uses the text
// alone, and the document stays in the queue for the model.
type Annotator struct {
	o    Options
	wake chan struct{}

	passing sync.Mutex // held over a pass
	writing sync.Mutex // no document is forgotten between the look whether it is still a member and the write

	// Under passing.
	failures int               // of the model in a row
	rest     time.Time         // the model is not asked before
	fallen   map[page.Key]bool // documents annotated without the model, that wait for it
}

// Options are what annotations are made with and kept in.
type Options struct {
	Records  *store.Records
	Model    *llm.Client // may be nil
	Document func(page.Key) (*index.Document, error)
	Split    func(markdown []byte) []outline.Passage
	Member   func(page.Key) bool          // is it to be annotated?
	Withhold func(d *index.Document) bool // may nothing of it be told to the model? May be nil
	Gone     func(Passage) error          // a passage is gone: so are its relations
	Reindex  func()                       // a document was queued for the index: more is said of its passages
	Cleaner  store.Cleaner
	Log      *slog.Logger
}

// New returns an annotator, which [Annotator.Run] has work.
func New(o Options) *Annotator {
	return &Annotator{o: o, wake: make(chan struct{}, 1), fallen: map[page.Key]bool{}}
}

// Notify says that there may be something to annotate.
func (a *Annotator) Notify() {
	select {
	case a.wake <- struct{}{}:
	default:
	}
}

// lookAround is how often the queue is checked without a notification.
const lookAround = 5 * time.Second

// Run annotates until ctx ends, and returns nil.
func (a *Annotator) Run(ctx context.Context) error {
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
func (a *Annotator) passAndRest(ctx context.Context) time.Duration {
	a.passing.Lock()
	defer a.passing.Unlock()
	a.pass(ctx, a.o.Model)
	return time.Until(a.rest)
}

// Describe says of what waits what can be said without a model, unless somebody is at it.
func (a *Annotator) Describe(ctx context.Context) {
	if a.passing.TryLock() {
		defer a.passing.Unlock()
		a.pass(ctx, nil)
	}
}

// pass works through the queue once. If there is a model and it is not given, it does what has no annotation, and
// leaves it in the queue for the model.
func (a *Annotator) pass(ctx context.Context, model *llm.Client) {
	var jobs []page.Key
	a.o.Records.Keys(QueuePrefix, "", func(key string) bool {
		if k, ok := archive.KeyIn(key, QueuePrefix); ok {
			jobs = append(jobs, k)
		}
		return true
	})
	for _, k := range jobs {
		if ctx.Err() != nil {
			return
		}
		if a.fallen[k] && time.Now().Before(a.rest) || model != a.o.Model && a.has(k) {
			continue
		}
		err := fault.CatchJob("knowledge: annotate a document", k.Doc(), func() error { return a.annotate(ctx, k, model) })
		if fault.Is(err) { // it would panic again; a change of the document queues it again
			err = errors.Join(err, a.o.Records.Apply(unqueued(k)))
			a.o.Log.Warn("document not annotated", "doc", k.Doc(), "err", err)
		} else if err != nil && ctx.Err() == nil {
			a.o.Log.Warn("annotation waits", "doc", k.Doc(), "err", err)
		}
	}
}

// together is how many passages of a document are weighed against each other: what a larger one takes in memory is
// bounded.
const together = 500

// annotate brings a document's annotations up to date and takes it out of the queue. It stays there after an error, and
// if the model is still to be asked.
func (a *Annotator) annotate(ctx context.Context, k page.Key, model *llm.Client) error {
	d, err := a.o.Document(k)
	if errors.Is(err, store.ErrNotFound) || err == nil && !a.o.Member(k) {
		return a.Forget(k)
	}
	if err != nil {
		return err
	}
	gone := map[[16]byte]Annotation{} // what is there, less what is found again
	a.Each(k, func(p Passage, old Annotation) bool {
		gone[p.Hash] = old
		return true
	})
	var waits error // for the model
	seen := map[[16]byte]bool{}
	for passages := range slices.Chunk(a.o.Split(d.Markdown), together) {
		local := statement.Local(d, passages)
		for i := range passages {
			p := &passages[i]
			if seen[p.Hash] {
				continue
			}
			seen[p.Hash] = true
			old, had := gone[p.Hash]
			delete(gone, p.Hash)
			now := &Annotation{By: old.By, Version: old.Version, Statements: old.Statements}
			if had && old.holds(model) {
				if old.Edition == a.o.Cleaner.Edition {
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
			now.Edition = a.o.Cleaner.Edition
			if err := a.write(Passage{k, p.Hash}, &old, now); err != nil {
				return err
			}
		}
	}
	for hash, old := range gone {
		p := Passage{k, hash}
		if err := a.write(p, &old, nil); err != nil {
			return err
		}
		if err := a.o.Gone(p); err != nil {
			return err
		}
	}
	var done []store.Change
	if _, err := a.o.Records.Get(saidPrefix + string(k[:])); err == nil {
		done = append(done, store.Change{Key: saidPrefix + string(k[:]), Gone: true}, archive.Queued(k))
		defer a.o.Reindex()
	}
	if waits == nil && model == a.o.Model {
		done = append(done, unqueued(k))
	}
	if err := a.o.Records.Apply(done...); err != nil {
		return err
	}
	if waits != nil {
		a.fallen[k] = true
		return waits
	}
	if model != a.o.Model {
		return nil
	}
	delete(a.fallen, k)
	// The document may have changed, and its job may have been queued again, before the job was deleted.
	if again, err := a.o.Document(k); err == nil && string(again.Markdown) != string(d.Markdown) {
		return a.o.Records.Apply(Job(k))
	}
	return nil
}

// statements returns what a passage says. An error says that the model should be asked again later. The annotation is
// to be used until then.
func (a *Annotator) statements(ctx context.Context, d *index.Document, p *outline.Passage, local statement.Statement,
	model *llm.Client,
) (*Annotation, error) {
	now := &Annotation{Version: localVersion, Statements: []statement.Statement{local}}
	if model == nil {
		return now, nil
	}
	if a.o.Withhold != nil && a.o.Withhold(d) {
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
		return &Annotation{By: model.Model(), Statements: list}, nil
	}
	switch e, _ := errors.AsType[*llm.Error](err); {
	case e == nil:
		return now, err
	case e.Kind == llm.Malformed || e.Kind == llm.Refused || e.Kind == llm.Cut || e.Kind == llm.BadRequest &&
		e.Status != 404:
		a.o.Log.Info("passage annotated without the model", "doc", d.Key.Doc(), "err", err)
		now.By = model.Model()
		return now, nil
	}
	a.failures++
	a.rest = time.Now().Add(llm.WaitAfter(a.failures, err))
	return now, err
}

// has reports whether a document has annotations.
func (a *Annotator) has(k page.Key) (found bool) {
	a.o.Records.Keys(annotationPrefix+string(k[:]), "", func(string) bool { found = true; return false })
	return found
}

// Each calls f for the annotations of a document, as they are stored, until f returns false.
func (a *Annotator) Each(k page.Key, f func(Passage, Annotation) bool) {
	a.o.Records.Walk(annotationPrefix+string(k[:]), "", func(key string, value []byte) bool {
		p, ok := PassageIn(key)
		var old Annotation
		if !ok || json.Unmarshal(value, &old) != nil {
			return true
		}
		return f(p, old)
	})
}

// Of returns the annotation of a passage, as it is told. The error is store.ErrNotFound, also while one that was made
// without a model waits to be made of what the cleaner leaves now: it may name what other passages hid.
func (a *Annotator) Of(p Passage) (*Annotation, error) {
	value, err := a.o.Records.Get(p.annotation())
	if err != nil {
		return nil, err
	}
	var stored Annotation
	if json.Unmarshal(value, &stored) != nil || stored.Version > 0 && a.o.Cleaner.Behind(stored.Edition) {
		return nil, store.ErrNotFound
	}
	return a.Told(&stored), nil
}

// Told returns an annotation as callers may read it, with all its texts cleaned: a model may have copied what a page
// hides.
func (a *Annotator) Told(stored *Annotation) *Annotation {
	told := *stored
	told.Statements = make([]statement.Statement, len(stored.Statements))
	for i, s := range stored.Statements {
		s.NormalizedText = string(a.o.Cleaner.Markdown([]byte(s.NormalizedText)))
		for _, list := range []*[]string{&s.Domains, &s.Entities, &s.Problems, &s.Resolutions, &s.Contexts} {
			items := make([]string, len(*list))
			for i, item := range *list {
				items[i] = a.o.Cleaner.Line(item)
			}
			*list = items
		}
		told.Statements[i] = s
	}
	return &told
}

// EachCurrent calls f for the annotations of a document, as they are told, that are of what the cleaner leaves now.
func (a *Annotator) EachCurrent(k page.Key, f func(*Annotation)) {
	a.Each(k, func(_ Passage, stored Annotation) bool {
		if !a.o.Cleaner.Behind(stored.Edition) {
			f(a.Told(&stored))
		}
		return true
	})
}

// write puts a passage's annotation, or nil, in the place of an old one. What is no member any more gets none.
func (a *Annotator) write(p Passage, old, now *Annotation) error {
	a.writing.Lock()
	defer a.writing.Unlock()
	if now != nil && !a.o.Member(p.Page) {
		return nil
	}
	changes := []store.Change{{Key: p.annotation(), Gone: true}}
	if now != nil && now.Said() != old.Said() {
		changes = append(changes, store.Change{Key: saidPrefix + string(p.Page[:])})
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
	return a.o.Records.Apply(changes...)
}

// Forget drops what is known of a document's passages, and its job.
func (a *Annotator) Forget(k page.Key) error {
	var all []Passage
	var old []Annotation
	a.Each(k, func(p Passage, o Annotation) bool {
		all, old = append(all, p), append(old, o)
		return true
	})
	for i, p := range all {
		if err := a.write(p, &old[i], nil); err != nil {
			return fmt.Errorf("forget annotations: %w", err)
		}
	}
	if err := a.o.Records.Apply(unqueued(k), store.Change{Key: saidPrefix + string(k[:]), Gone: true}); err != nil {
		return fmt.Errorf("forget annotations: %w", err)
	}
	return nil
}

// Lookup calls f for the annotated passages whose keys begin with prefix, in order from one on, until f returns false.
// From is what follows the prefix.
func Lookup(r *store.Records, prefix, from string, f func(p Passage) bool) {
	if from != "" {
		from = prefix + from
	}
	r.Keys(prefix, from, func(key string) bool {
		p, ok := PassageIn(key)
		return !ok || f(p)
	})
}
