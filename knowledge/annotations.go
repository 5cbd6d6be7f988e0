package knowledge

import (
	"strings"

	"github.com/readthru/readthru/knowledge/annotation"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/index/query"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/knowledge/statement"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// described reports whether the passages of a document are annotated: it is of a base, ingested, or a note.
func (k *Knowledge) described(key page.Key) bool {
	if e, ok := note.In(key); ok {
		_, err := k.notes.Get(e)
		return err == nil
	}
	return len(k.bases.owners(key)) > 0
}

// forgetAnnotations drops what is known of a document that neither is read nor belongs to a base any more: what its
// passages say, and their relations. Notes stay.
func (k *Knowledge) forgetAnnotations(key page.Key) error {
	if err := k.annotator.Forget(key); err != nil {
		return err
	}
	return k.notes.Forget(key, nil)
}

// reannotate queues documents that were just indexed to be annotated again, because their passages may have changed:
// those of bases, ingested texts and notes.
func (k *Knowledge) reannotate(batch []index.Item) error {
	var jobs []store.Change
	for i := range batch {
		if key := batch[i].Doc.Key; k.described(key) {
			jobs = append(jobs, annotation.Job(key))
		}
	}
	defer k.annotator.Notify()
	return k.records.Apply(jobs...)
}

// withStatements adds to a document's passages the statements of a model in their annotations, which are indexed with
// them.
func (k *Knowledge) withStatements(d *Document, passages []outline.Passage) []outline.Passage {
	if !k.described(d.Key) {
		return passages
	}
	said := map[[16]byte]string{}
	k.annotator.Each(d.Key, func(p annotation.Passage, stored annotation.Annotation) bool {
		if s := k.annotator.Told(&stored).Said(); s != "" {
			said[p.Hash] = s
		}
		return true
	})
	for i := range passages {
		passages[i].Said = said[passages[i].Hash]
	}
	return passages
}

// saidOf returns the statements of a model in the annotation of a passage, a line each; empty if there are none.
func (k *Knowledge) saidOf(key page.Key, hash [16]byte) string {
	said, err := k.annotator.Of(annotation.Passage{Page: key, Hash: hash})
	if err != nil {
		return ""
	}
	return said.Said()
}

// withSubjects adds to what a note's author names the subjects that its annotations name.
func (k *Knowledge) withSubjects(n *Note, e note.End) {
	var all statement.List
	for _, s := range n.Subjects {
		all.Add(s)
	}
	k.annotator.EachCurrent(note.KeyOf(e), func(a *annotation.Annotation) {
		for _, s := range statement.Subjects(a.Statements) {
			all.Add(s)
		}
	})
	n.Subjects = all.Items
}

// statementWith returns the statement in the annotation of a passage that has most words of a query, or nothing.
func (k *Knowledge) statementWith(passage string, q *query.Parsed) (best string) {
	key, hash, err := k.resolve(passage)
	if err != nil {
		return ""
	}
	most := 0
	for text := range strings.Lines(k.saidOf(key, hash)) {
		if n := q.Matches(text); n > most {
			most, best = n, strings.TrimSuffix(text, "\n")
		}
	}
	return best
}
