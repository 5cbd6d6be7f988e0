package server

import (
	"context"

	"github.com/readthru/readthru/api"
)

// compactStore removes from the disk what is left of what was deleted, first in the index, whose deletions the store
// then forgets.
func (s *Server) compactStore(ctx context.Context, _ api.None) (*api.Compacted, error) {
	k, err := s.index()
	if err != nil {
		return nil, err
	}
	if err := k.Compact(ctx); err != nil {
		return nil, err
	}
	if err := s.o.Store.Compact(ctx); err != nil {
		return nil, err
	}
	return &api.Compacted{Compacted: true}, nil
}
