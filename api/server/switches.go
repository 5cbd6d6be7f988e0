package server

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
)

// getSwitches returns how the switches are.
func (s *Server) getSwitches(context.Context, api.None) (*api.Switches, error) {
	now := s.switches()
	return &now, nil
}

// setSwitches changes switches.
func (s *Server) setSwitches(_ context.Context, c api.SwitchChange) (*api.Switches, error) {
	if s.o.Switch == nil {
		return nil, api.Problem(http.StatusConflict, "no daemon runs: there is nothing to switch")
	}
	now := s.switches()
	if c.Paused != nil {
		now.Paused = *c.Paused
	}
	if c.Offline != nil {
		now.Offline = *c.Offline
	}
	if err := s.o.Switch(now); err != nil {
		return nil, err
	}
	s.o.Log.Info("switched", "paused", now.Paused, "offline", now.Offline)
	return &now, nil
}

func (s *Server) switches() api.Switches {
	if s.o.Switches == nil {
		return api.Switches{}
	}
	return s.o.Switches()
}
