package knowledge

import "github.com/readthru/readthru/knowledge/outline"

// searchedForNames is how many of the best documents are looked through for what a query names, and definedHere how
// much one gains that defines it, as a share of the best score.
const (
	searchedForNames = 10
	definedHere      = .5
)

// landmarked is the text of a document with its landmarks, and where it defines what the query names, once
// readLandmarks was called.
type landmarked struct {
	md      []byte
	known   bool
	list    []outline.Landmark
	defined outline.Definition
}

func newLandmarked(md []byte) *landmarked {
	return &landmarked{md: md, defined: outline.Definition{Landmark: -1}}
}

// readLandmarks finds the landmarks of the text, the first time. A text that is too long has none.
func (w *landmarked) readLandmarks(names []string) {
	if w.known || len(w.md) > outline.MaxWalked {
		return
	}
	w.known, w.list = true, outline.Landmarks(w.md)
	w.defined = outline.DefinitionOf(w.list, names)
}

// favourDefinitions adds to the scores of documents that define what the query names, and sorts them again.
func (x *searchIndex) favourDefinitions(parsed *query, docs []ranked) {
	if len(parsed.names) == 0 || len(docs) == 0 {
		return
	}
	most := docs[0].score
	for i := range docs[:min(len(docs), searchedForNames)] {
		d := &docs[i]
		key, ok := x.document(d.doc)
		if !ok {
			continue
		}
		md, err := x.o.text(key)
		if err != nil {
			continue // whoever shows it reads it again, and says so
		}
		if d.text = newLandmarked(md); outline.MayDefine(md, parsed.names) {
			d.text.readLandmarks(parsed.names)
		}
		if d.text.defined.Exact {
			d.defines = definedHere * most
			d.score += d.defines
		}
	}
	sortRanked(docs)
}
