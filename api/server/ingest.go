package server

import (
	"context"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// ingest stores a text and indexes it as a page that was read.
func (s *Server) ingest(ctx context.Context, in api.Ingestion) (*knowledge.Ingested, error) {
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
