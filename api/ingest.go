package api

import (
	"context"

	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// Ingestion is a text to store (rule A21). Storing the same label and text again changes nothing.
type Ingestion struct {
	Title string `json:"title,omitempty"`
	Label string `json:"label,omitempty"` // its source, such as context7-next.js
	Text  string `json:"text"`            // markdown
	// where the text comes from: a later text with the same label and URL replaces it
	URL      string        `json:"url,omitempty"`
	Metadata page.Metadata `json:"metadata,omitempty"` // strings, numbers and booleans
	KB       string        `json:"kb,omitempty"`       // knowledge base to put it into; default none
}

// ingest stores a text and indexes it as a page that was read.
func (s *Server) ingest(ctx context.Context, in Ingestion) (*knowledge.Ingested, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	done, err := k.Ingest(ctx, knowledge.Ingestion{
		Title: in.Title, Label: in.Label, Text: in.Text, URL: in.URL,
		Metadata: in.Metadata, KB: in.KB,
	})
	return &done, err
}
