package api

import (
	"cmp"
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

// requestQuery asks for the proxy's last requests.
type requestQuery struct {
	Limit int `query:"limit" range:"1,500" doc:"how many at most, 1 to 500; default 500"`
}

// listRequests lists the proxy's last requests, newest first.
func (s *Server) listRequests(_ context.Context, q requestQuery) (*requestList, error) {
	if s.o.Recent == nil {
		return &requestList{[]struct{}{}}, nil
	}
	return &requestList{s.o.Recent(cmp.Or(q.Limit, 500))}, nil
}
