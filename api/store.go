package api

import "context"

// compactStore removes from the disk what is left of what was deleted, first in the index, whose deletions the store
// then forgets.
func (s *Server) compactStore(ctx context.Context, _ none) (*Compacted, error) {
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
	return &Compacted{true}, nil
}
