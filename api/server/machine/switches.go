package machine

import (
	"context"
	"net/http"

	"github.com/readthru/readthru/api"
)

// GetSwitches returns how the switches are.
func (s *Service) GetSwitches(context.Context, api.None) (*api.Switches, error) {
	now := s.Switches()
	return &now, nil
}

// SetSwitches changes the switches that are given (paused, offline) and leaves the others as they are.
func (s *Service) SetSwitches(_ context.Context, c api.SwitchChange) (*api.Switches, error) {
	if s.o.Switch == nil {
		return nil, api.Problem(http.StatusConflict, "no daemon runs: there is nothing to switch")
	}
	now := s.Switches()
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

// Switches returns how the switches are.
func (s *Service) Switches() api.Switches {
	if s.o.Switches == nil {
		return api.Switches{}
	}
	return s.o.Switches()
}
