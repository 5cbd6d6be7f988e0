package memory

import (
	"context"

	"github.com/readthru/readthru/api"
)

// CompactStore removes from the disk what is left of what was deleted, first in the index, whose deletions the store
// then forgets.
func (s *Service) CompactStore(ctx context.Context, _ api.None) (*api.Compacted, error) {
	k, err := s.Index()
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
