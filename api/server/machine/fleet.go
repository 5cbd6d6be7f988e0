package machine

import (
	"context"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fleet"
)

// GetFleet returns how this node and its fleet are.
func (s *Service) GetFleet(ctx context.Context, _ api.None) (*api.FleetState, error) {
	state := &api.FleetState{Status: fleet.Status{State: api.FleetNone}, Nodes: []fleet.Node{}}
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
