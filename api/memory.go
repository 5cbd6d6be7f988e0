package api

import (
	"context"
	"net/http"

	"readthru/knowledge"
)

// Ingestion is a text that somebody hands in (rule A21): the same label and text again changes nothing.
type Ingestion struct {
	Title string `json:"title,omitempty"`
	Label string `json:"label,omitempty"` // where it comes from, such as context7-next.js
	Text  string `json:"text"`            // markdown
	// where it stands: a later text of the same label and URL takes its place
	URL      string            `json:"url,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
	KB       string            `json:"kb,omitempty"` // the base to put it into; default none
}

// SubjectList holds what passages are about, the most frequent first.
type SubjectList struct {
	Subjects []knowledge.Subject `json:"subjects"`
}

// PassageList is a part of passages. Next is empty at the end.
type PassageList struct {
	Passages []knowledge.PassageInfo `json:"passages"`
	Next     string                  `json:"next,omitempty"`
}

// NewNote is something an agent found out.
type NewNote struct {
	Text     string            `json:"text"`
	Label    string            `json:"label,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"`
}

// NoteList is a part of the notes, oldest first. Next is empty at the end.
type NoteList struct {
	Notes []knowledge.Note `json:"notes"`
	Next  string           `json:"next,omitempty"`
}

// NewRelation relates a passage to a note or to another passage: exactly one of the two.
type NewRelation struct {
	Note   string  `json:"note,omitempty"`
	Other  string  `json:"other,omitempty"`
	Type   string  `json:"type"`             // lower-case letters, digits and _-
	Weight float64 `json:"weight,omitempty"` // default 1
}

// RelationList holds relations.
type RelationList struct {
	Relations []knowledge.Relation `json:"relations"`
}

// Ingest stores a text, which is found as soon as a page that was read.
func (s *Server) Ingest(ctx context.Context, in Ingestion) (*knowledge.Ingested, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	done, err := k.Ingest(ctx, knowledge.Ingestion{
		Title: in.Title, Label: in.Label, Text: in.Text, URL: in.URL,
		Metadata: in.Metadata, KB: in.KB,
	})
	return &done, err
}

// Subjects lists what the passages of a base are about; of all bases when kb is empty.
func (s *Server) Subjects(_ context.Context, kb string, limit int) (*SubjectList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, err := k.Subjects(kb, limit)
	if list == nil {
		list = []knowledge.Subject{}
	}
	return &SubjectList{list}, err
}

// Passages lists annotated passages by subject, frame or URL.
func (s *Server) Passages(_ context.Context, q knowledge.PassageQuery) (*PassageList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Passages(q)
	if list == nil {
		list = []knowledge.PassageInfo{}
	}
	return &PassageList{list, next}, err
}

// Passage returns a passage with where it comes from and what it says.
func (s *Server) Passage(_ context.Context, id string) (*knowledge.PassageInfo, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	return k.Passage(id)
}

// AddNote keeps a note.
func (s *Server) AddNote(_ context.Context, n NewNote) (*knowledge.Note, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	note, err := k.AddNote(knowledge.Note{Text: n.Text, Label: n.Label, Metadata: n.Metadata})
	return &note, err
}

// Notes lists the notes.
func (s *Server) Notes(_ context.Context, cursor string, limit int) (*NoteList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Notes(cursor, limit)
	if list == nil {
		list = []knowledge.Note{}
	}
	return &NoteList{list, next}, err
}

// DeleteNote drops a note with its relations.
func (s *Server) DeleteNote(_ context.Context, id string) error {
	k, err := s.knows()
	if err != nil {
		return err
	}
	found, err := k.DeleteNote(id)
	if err == nil && !found {
		err = problem(http.StatusNotFound, "there is no note %q", id)
	}
	return err
}

// Relate relates a passage to a note or to another passage.
func (s *Server) Relate(_ context.Context, passage string, r NewRelation) (*knowledge.Relation, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	made, err := k.Relate(knowledge.Relation{
		Passage: passage, Note: r.Note, Other: r.Other, Type: r.Type,
		Weight: r.Weight,
	})
	return &made, err
}

// Relations lists relations by passage, note and type.
func (s *Server) Relations(_ context.Context, q knowledge.RelationQuery) (*RelationList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, err := k.Relations(q)
	if list == nil {
		list = []knowledge.Relation{}
	}
	return &RelationList{list}, err
}

func (s *Server) serveIngest(w http.ResponseWriter, r *http.Request) error {
	var in Ingestion
	if err := decode(r, &in); err != nil {
		return err
	}
	done, err := s.Ingest(r.Context(), in)
	return reply(w, done, err)
}

func (s *Server) serveSubjects(w http.ResponseWriter, r *http.Request) error {
	_, limit, err := listQuery(r)
	if err != nil {
		return err
	}
	list, err := s.Subjects(r.Context(), r.PathValue("name"), limit)
	return reply(w, list, err)
}

func (s *Server) servePassages(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "frame", "url", "kb", "cursor")
	if err != nil {
		return err
	}
	list, err := s.Passages(r.Context(), knowledge.PassageQuery{
		Subject: r.PathValue("subject"), Frame: q.Get("frame"),
		URL: q.Get("url"), KB: q.Get("kb"), Cursor: q.Get("cursor"), Limit: limit,
	})
	return reply(w, list, err)
}

func (s *Server) servePassage(w http.ResponseWriter, r *http.Request) error {
	p, err := s.Passage(r.Context(), r.PathValue("id"))
	return reply(w, p, err)
}

func (s *Server) serveAddNote(w http.ResponseWriter, r *http.Request) error {
	var n NewNote
	if err := decode(r, &n); err != nil {
		return err
	}
	note, err := s.AddNote(r.Context(), n)
	return reply(w, note, err)
}

func (s *Server) serveNotes(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "cursor")
	if err != nil {
		return err
	}
	list, err := s.Notes(r.Context(), q.Get("cursor"), limit)
	return reply(w, list, err)
}

func (s *Server) serveDeleteNote(w http.ResponseWriter, r *http.Request) error {
	if err := s.DeleteNote(r.Context(), r.PathValue("id")); err != nil {
		return err
	}
	return answer(w, http.StatusOK, deleted{true})
}

func (s *Server) serveRelate(w http.ResponseWriter, r *http.Request) error {
	var n NewRelation
	if err := decode(r, &n); err != nil {
		return err
	}
	made, err := s.Relate(r.Context(), r.PathValue("id"), n)
	return reply(w, made, err)
}

func (s *Server) serveRelations(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "note", "type")
	if err != nil {
		return err
	}
	list, err := s.Relations(r.Context(), knowledge.RelationQuery{
		Passage: r.PathValue("id"), Note: q.Get("note"),
		Type: q.Get("type"), Limit: limit,
	})
	return reply(w, list, err)
}
