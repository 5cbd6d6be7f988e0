package api

import (
	"context"
	"fmt"
	"net/http"

	"readthru/store"
)

// Disclosures lists what was sent to third parties, newest first. An empty ledger means that nothing left.
func (s *Server) Disclosures(_ context.Context, cursor string, limit int) (*DisclosureList, error) {
	list, next, err := s.o.Store.Disclosures(cursor, min(limit, maxLimit))
	if err != nil {
		return nil, fmt.Errorf("read the ledger of disclosures: %w", err)
	}
	if list == nil {
		list = []store.Disclosure{}
	}
	return &DisclosureList{Disclosures: list, Next: next}, nil
}

func (s *Server) serveDisclosures(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "cursor")
	if err != nil {
		return err
	}
	list, err := s.Disclosures(r.Context(), q.Get("cursor"), limit)
	return reply(w, list, err)
}

func (s *Server) serveRequests(w http.ResponseWriter, _ *http.Request) error {
	var recent any = []struct{}{}
	if s.o.Recent != nil {
		recent = s.o.Recent()
	}
	return answer(w, http.StatusOK, requestList{recent})
}
