package knowledge

import (
	"context"
	"fmt"
	"io"

	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/files"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/meaning"
	"github.com/readthru/readthru/knowledge/note"
	"github.com/readthru/readthru/knowledge/pack"
	"github.com/readthru/readthru/knowledge/statement"
)

// What a search is asked and answers stands in package index, what passages say in package
// statement, and how far vectors are in package meaning.
type (
	// Document is a searchable text: a page that was read, or another document of a knowledge base.
	Document = index.Document
	// Query asks for passages.
	Query = index.Query
	// Hit is a document with its best passage.
	Hit = index.Hit
	// Term is a part of a hit's score.
	Term = index.Term
	// Results are the hits of a query, best first.
	Results = index.Results
	// Statement is one thing that a passage says (rule D2).
	Statement = statement.Statement
	// RefusedError says that a document cannot be kept, whatever the state of the store.
	RefusedError = archive.RefusedError
	// FileReport is the result of adding files.
	FileReport = files.Report
	// Skipped is a file, or a line of one, that was not taken.
	Skipped = files.Skipped
	// Signer signs packs.
	Signer = pack.Signer
	// UnknownSignerError says that a pack is intact but its signer is not trusted.
	UnknownSignerError = pack.UnknownSignerError
	// Note is something an agent found out and keeps.
	Note = note.Note
	// NoteQuery selects notes. The zero value selects all.
	NoteQuery = note.Query
	// Relation says how a passage is related to a note, or to another passage.
	Relation = note.Relation
	// RelationQuery selects relations.
	RelationQuery = note.RelationQuery
	// VectorState tells how far the vectors are.
	VectorState = meaning.VectorState
)

// ErrBadPack means that a file is not a pack, or was cut short or changed after signing.
var ErrBadPack = pack.ErrBadPack

// OpenSigner returns the signer in a folder, the data dir, and makes one if the folder has none.
func OpenSigner(dir string) (*Signer, error) { return pack.OpenSigner(dir) }

// Errors of a search, of a document that cannot be indexed or kept, and of an argument: the error that wraps ErrInvalid
// says which and why.
var (
	ErrEmptyQuery      = index.ErrEmptyQuery
	ErrTooManyPassages = index.ErrTooManyPassages
	ErrTooLarge        = archive.ErrTooLarge
	ErrInvalid         = archive.ErrInvalid
)

// Kinds of documents that are not pages.
const (
	KindFile = archive.KindFile
	KindText = archive.KindText
	KindNote = note.Kind
)

// RerankPatience is how long a search waits for the reranker.
const RerankPatience = index.RerankPatience

// PackFiles writes a parcel for [Build.AddFiles] to w: files, and the files in folders. In folders, it leaves out files
// of other kinds, hidden files, links, and the folder private, which may be empty. A file in private that the user
// names is an error.
func PackFiles(ctx context.Context, w io.Writer, paths []string, private string) error {
	return files.Pack(ctx, w, paths, private)
}

// Clean returns markdown without what no reader sees, as the knowledge keeps it: see [Options].
func (k *Knowledge) Clean(md string) string { return string(k.cleaner.Markdown([]byte(md))) }

// cleanLine returns a title, a label or another text that is not markdown as it is kept.
func (k *Knowledge) cleanLine(s string) string { return k.cleaner.Line(s) }

// Compact removes from the index the words of passages that no document has any more. What waits is indexed first, and
// what is known of deleted documents is forgotten with that.
func (k *Knowledge) Compact(ctx context.Context) error {
	if err := k.await(ctx); err != nil {
		return err
	}
	if err := k.Drain(ctx); err != nil {
		return fmt.Errorf("compact the index: %w", err)
	}
	if err := k.index.Purge(ctx); err != nil {
		return fmt.Errorf("compact the index: %w", err)
	}
	return nil
}
