package memory

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// ListSubjects lists the subjects of the passages of a knowledge base, or of all.
func (s *Service) ListSubjects(_ context.Context, q api.SubjectQuery) (*api.SubjectList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, err := k.Subjects(q.KB, q.Limit)
	return &api.SubjectList{Subjects: api.OrEmpty(list)}, err
}

// ListPassages lists passages by knowledge base, document, subject and frame.
func (s *Service) ListPassages(_ context.Context, q api.PassageQuery) (*api.PassageList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Passages(knowledge.PassageQuery{
		Subject: q.Subject, Frame: q.Frame, URL: q.URL, Doc: q.Doc, KB: q.KB, Cursor: q.Cursor, Limit: q.Limit,
	})
	return &api.PassageList{Passages: list, Next: next}, err
}

// ListSubjectPassages lists the passages of a subject.
func (s *Service) ListSubjectPassages(ctx context.Context, q api.SubjectPassages) (*api.PassageList, error) {
	return s.ListPassages(ctx, api.PassageQuery(q))
}

// ListBasePassages lists the passages of a knowledge base.
func (s *Service) ListBasePassages(ctx context.Context, q api.BasePassages) (*api.PassageList, error) {
	return s.ListPassages(ctx, api.PassageQuery{Subject: q.Subject, KB: q.KB, PassageFilter: q.PassageFilter})
}

// GetPassage returns a passage, its sources and its annotations.
func (s *Service) GetPassage(_ context.Context, ref api.PassageRef) (*knowledge.PassageInfo, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	return k.Passage(ref.ID)
}

// AddNote stores a note.
func (s *Service) AddNote(_ context.Context, n api.NewNote) (*knowledge.Note, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	note, err := k.AddNote(knowledge.Note{
		Text: n.Text, Label: n.Label, Metadata: n.Metadata, Subjects: n.Subjects, Pages: n.Pages,
	})
	return &note, err
}

// ListNotes lists notes, by subject and by page.
func (s *Service) ListNotes(_ context.Context, q api.NoteQuery) (*api.NoteList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Notes(knowledge.NoteQuery(q))
	return &api.NoteList{Notes: list, Next: next}, err
}

// GetNote returns a note.
func (s *Service) GetNote(_ context.Context, ref api.NoteRef) (*knowledge.Note, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	n, err := k.Note(ref.ID)
	return &n, err
}

// DeleteNote deletes a note and its relations.
func (s *Service) DeleteNote(_ context.Context, ref api.NoteRef) (*api.Deleted, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	found, err := k.DeleteNote(ref.ID)
	if err == nil && !found {
		err = api.Problem(http.StatusNotFound, "unknown note %q", ref.ID)
	}
	return &api.Deleted{Deleted: true}, err
}

// AddRelation relates a passage to a note or to another passage.
func (s *Service) AddRelation(_ context.Context, r api.NewRelation) (*knowledge.Relation, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	made, err := k.Relate(knowledge.Relation{
		Passage: r.Passage, Note: r.Note, Other: r.Other, Type: r.Type,
		Weight: r.Weight,
	})
	return &made, err
}

// ListRelations lists relations by passage, note and type.
func (s *Service) ListRelations(_ context.Context, q api.RelationQuery) (*api.RelationList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, err := k.Relations(knowledge.RelationQuery(q))
	return &api.RelationList{Relations: list}, err
}

// ListPassageRelations lists the relations of a passage.
func (s *Service) ListPassageRelations(ctx context.Context, q api.PassageRelations) (*api.RelationList, error) {
	return s.ListRelations(ctx, api.RelationQuery(q))
}
