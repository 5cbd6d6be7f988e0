package api

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/knowledge"
)

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
