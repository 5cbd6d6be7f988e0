package api

import (
	"context"
	"fmt"

	"readthru/store"
)

// listDisclosures lists what was sent to third parties, newest first.
func (s *Server) listDisclosures(_ context.Context, q listQuery) (*DisclosureList, error) {
	list, next, err := s.o.Store.Disclosures(q.Cursor, q.Limit)
	if err != nil {
		return nil, fmt.Errorf("read the ledger of disclosures: %w", err)
	}
	if list == nil {
		list = []store.Disclosure{}
	}
	return &DisclosureList{Disclosures: list, Next: next}, nil
}

// requestList is the answer of /api/v1/requests.
type requestList struct {
	Requests any `json:"requests"`
}

// listRequests lists the proxy's last requests, newest first.
func (s *Server) listRequests(context.Context, none) (*requestList, error) {
	if s.o.Recent == nil {
		return &requestList{[]struct{}{}}, nil
	}
	return &requestList{s.o.Recent()}, nil
}
