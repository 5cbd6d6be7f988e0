package api

import (
	"context"
	"net/http"

	"readthru/knowledge"
)

// SubjectQuery asks for the subjects of passages. The zero value asks for the most frequent of all passages.
type SubjectQuery struct {
	KB    string `path:"name"` // only of this knowledge base
	Limit int    `query:"limit" range:"1,500"`
}

// PassageQuery selects annotated passages.
type PassageQuery struct {
	Subject string `path:"subject"`
	Frame   string `query:"frame" doc:"frame, such as CAUSAL"`
	URL     string `query:"url" doc:"URL of the document"`
	KB      string `query:"kb" doc:"only of this knowledge base"`
	Cursor  string `query:"cursor"`
	Limit   int    `query:"limit" range:"1,500" doc:"how many at most, 1 to 100; default 20"`
}

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
	Text     string            `json:"text"`
	Label    string            `json:"label,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
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

// RelationQuery selects relations.
type RelationQuery struct {
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

// listPassages lists annotated passages by subject, frame or URL.
func (s *Server) listPassages(_ context.Context, q PassageQuery) (*PassageList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Passages(knowledge.PassageQuery(q))
	if list == nil {
		list = []knowledge.PassageInfo{}
	}
	return &PassageList{list, next}, err
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
	note, err := k.AddNote(knowledge.Note{Text: n.Text, Label: n.Label, Metadata: n.Metadata})
	return &note, err
}

// listNotes lists the notes.
func (s *Server) listNotes(_ context.Context, q listQuery) (*NoteList, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Notes(q.Cursor, q.Limit)
	if list == nil {
		list = []knowledge.Note{}
	}
	return &NoteList{list, next}, err
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
	if list == nil {
		list = []knowledge.Relation{}
	}
	return &RelationList{list}, err
}
