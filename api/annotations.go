package api

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// SubjectQuery asks for the subjects of passages. The zero value asks for the most frequent of all passages.
type SubjectQuery struct {
	KB    string `path:"name"` // only of this knowledge base
	Limit int    `query:"limit" range:"1,500"`
}

// PassageQuery selects passages: at least one of Subject, KB, Frame, URL and Doc is needed, and all that are given
// hold.
type PassageQuery struct {
	Subject string `query:"subject" doc:"only passages about this subject"`
	KB      string `query:"kb" doc:"only of this knowledge base"`
	PassageFilter
}

// PassageFilter is what every list of passages can be limited by.
type PassageFilter struct {
	Frame  string `query:"frame" doc:"only passages with a statement of this frame, such as CAUSAL"`
	URL    string `query:"url" doc:"only of the document with this URL"`
	Doc    string `query:"doc" doc:"only of the document with this id"`
	Cursor string `query:"cursor"`
	Limit  int    `query:"limit" range:"1,500" doc:"how many at most, 1 to 100; default 20"`
}

// subjectPassages and basePassages are a PassageQuery whose path names the subject or the knowledge base.
type (
	subjectPassages struct {
		Subject string `path:"subject"`
		KB      string `query:"kb" doc:"only of this knowledge base"`
		PassageFilter
	}
	basePassages struct {
		KB      string `path:"name"`
		Subject string `query:"subject" doc:"only passages about this subject"`
		PassageFilter
	}
)

// passageRef names a passage.
type passageRef struct {
	ID string `path:"id"`
}

// listQuery asks for a part of a list.
type listQuery struct {
	Limit  int    `query:"limit" range:"1,500"`
	Cursor string `query:"cursor"`
}

// SubjectList holds the subjects of passages, the most frequent first.
type SubjectList struct {
	Subjects []knowledge.Subject `json:"subjects"`
}

// PassageList is a part of a list of passages. Next is empty at the end.
type PassageList struct {
	Passages []knowledge.PassageInfo `json:"passages"`
	Next     string                  `json:"next,omitempty"`
}

// NewNote is a note to store, such as a finding of an agent.
type NewNote struct {
	Text     string        `json:"text"`
	Label    string        `json:"label,omitempty"`
	Metadata page.Metadata `json:"metadata,omitempty"` // strings, numbers and booleans
	Subjects []string      `json:"subjects,omitempty"` // beside those that its text names
	Pages    []string      `json:"pages,omitempty"`    // URLs of the pages it is about, beside those in its text
}

// NoteQuery selects notes. The zero value selects all.
type NoteQuery struct {
	Subject string `query:"subject" doc:"only notes about this subject"`
	URL     string `query:"url" doc:"only notes about the page with this URL"`
	Cursor  string `query:"cursor"`
	Limit   int    `query:"limit" range:"1,500"`
}

// noteRef names a note.
type noteRef struct {
	ID string `path:"id"`
}

// NoteList is a part of the notes, oldest first. Next is empty at the end.
type NoteList struct {
	Notes []knowledge.Note `json:"notes"`
	Next  string           `json:"next,omitempty"`
}

// NewRelation relates a passage to either a note or another passage.
type NewRelation struct {
	Passage string  `path:"id" json:"-"`
	Note    string  `json:"note,omitempty"`
	Other   string  `json:"other,omitempty"`
	Type    string  `json:"type"`             // lower-case letters, digits and _-
	Weight  float64 `json:"weight,omitempty"` // default 1
}

// RelationQuery selects relations: at least one of the first three is needed, and all that are given hold.
type RelationQuery struct {
	Passage string `query:"passage" doc:"only of this passage"`
	Note    string `query:"note" doc:"only to this note"`
	Type    string `query:"type" doc:"only of this type"`
	Limit   int    `query:"limit" range:"1,500"`
}

// passageRelations is a RelationQuery whose path names the passage.
type passageRelations struct {
	Passage string `path:"id"`
	Note    string `query:"note" doc:"only to this note"`
	Type    string `query:"type" doc:"only of this type"`
	Limit   int    `query:"limit" range:"1,500"`
}

// RelationList holds relations.
type RelationList struct {
	Relations []knowledge.Relation `json:"relations"`
}

// listSubjects lists the subjects of the passages of a knowledge base, or of all.
func (s *Server) listSubjects(_ context.Context, q SubjectQuery) (*SubjectList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, err := k.Subjects(q.KB, q.Limit)
	if list == nil {
		list = []knowledge.Subject{}
	}
	return &SubjectList{list}, err
}

// listPassages lists passages by knowledge base, document, subject and frame.
func (s *Server) listPassages(_ context.Context, q PassageQuery) (*PassageList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Passages(knowledge.PassageQuery{
		Subject: q.Subject, Frame: q.Frame, URL: q.URL, Doc: q.Doc, KB: q.KB, Cursor: q.Cursor, Limit: q.Limit,
	})
	return &PassageList{list, next}, err
}

func (s *Server) listSubjectPassages(ctx context.Context, q subjectPassages) (*PassageList, error) {
	return s.listPassages(ctx, PassageQuery(q))
}

func (s *Server) listBasePassages(ctx context.Context, q basePassages) (*PassageList, error) {
	return s.listPassages(ctx, PassageQuery{Subject: q.Subject, KB: q.KB, PassageFilter: q.PassageFilter})
}

// getPassage returns a passage, its sources and its annotations.
func (s *Server) getPassage(_ context.Context, ref passageRef) (*knowledge.PassageInfo, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	return k.Passage(ref.ID)
}

// addNote stores a note.
func (s *Server) addNote(_ context.Context, n NewNote) (*knowledge.Note, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	note, err := k.AddNote(knowledge.Note{
		Text: n.Text, Label: n.Label, Metadata: n.Metadata, Subjects: n.Subjects, Pages: n.Pages,
	})
	return &note, err
}

// listNotes lists notes, by subject and by page.
func (s *Server) listNotes(_ context.Context, q NoteQuery) (*NoteList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Notes(knowledge.NoteQuery(q))
	return &NoteList{list, next}, err
}

// getNote returns a note.
func (s *Server) getNote(_ context.Context, ref noteRef) (*knowledge.Note, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	n, err := k.Note(ref.ID)
	return &n, err
}

// deleteNote deletes a note and its relations.
func (s *Server) deleteNote(_ context.Context, ref noteRef) (*deleted, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	found, err := k.DeleteNote(ref.ID)
	if err == nil && !found {
		err = problem(http.StatusNotFound, "unknown note %q", ref.ID)
	}
	return &deleted{true}, err
}

// addRelation relates a passage to a note or to another passage.
func (s *Server) addRelation(_ context.Context, r NewRelation) (*knowledge.Relation, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	made, err := k.Relate(knowledge.Relation{
		Passage: r.Passage, Note: r.Note, Other: r.Other, Type: r.Type,
		Weight: r.Weight,
	})
	return &made, err
}

// listRelations lists relations by passage, note and type.
func (s *Server) listRelations(_ context.Context, q RelationQuery) (*RelationList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, err := k.Relations(knowledge.RelationQuery(q))
	return &RelationList{list}, err
}

func (s *Server) listPassageRelations(ctx context.Context, q passageRelations) (*RelationList, error) {
	return s.listRelations(ctx, RelationQuery(q))
}
