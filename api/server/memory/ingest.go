package memory

import (
	"context"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/knowledge"
)

// Ingest stores a text and indexes it as a page that was read.
func (s *Service) Ingest(ctx context.Context, in api.Ingestion) (*knowledge.Ingested, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	done, err := k.Ingest(ctx, knowledge.Ingestion{
		Title: in.Title, Label: in.Label, Text: in.Text, URL: in.URL,
		Metadata: in.Metadata, KB: in.KB,
	})
	return &done, err
}
