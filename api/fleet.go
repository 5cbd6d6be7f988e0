package api

import (
	"context"

	"github.com/readthru/readthru/internal/fleet"
)

// getFleet returns how this node and its fleet are.
func (s *Server) getFleet(ctx context.Context, _ none) (*FleetState, error) {
	state := &FleetState{Status: fleet.Status{State: FleetNone}, Nodes: []fleet.Node{}}
	if s.o.Fleet == nil {
		return state, nil
	}
	state.Status = s.o.Fleet.Status()
	nodes, err := s.o.Fleet.Nodes(ctx)
	if err != nil {
		state.Unknown = err.Error()
		return state, ctx.Err()
	}
	state.Nodes = append(state.Nodes, nodes...)
	return state, nil
}
