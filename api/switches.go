package api

import (
	"context"
	"net/http"
)

// Switches are what can be switched while the daemon runs. They are as they were configured when it starts again.
type Switches struct {
	// Paused: connections are tunnelled and requests passed on as if there were no readthru; what a rule blocks is still
	// refused, and what is stored can still be asked for.
	Paused bool `json:"paused"`
	// Offline: answers come from what is stored, and no origin, model or other service is asked.
	Offline bool `json:"offline"`
}

// SwitchChange says what to switch; what is absent stays.
type SwitchChange struct {
	Paused  *bool `json:"paused,omitempty"`
	Offline *bool `json:"offline,omitempty"`
}

// getSwitches returns how the switches are.
func (s *Server) getSwitches(context.Context, none) (*Switches, error) {
	now := s.switches()
	return &now, nil
}

// setSwitches changes switches.
func (s *Server) setSwitches(_ context.Context, c SwitchChange) (*Switches, error) {
	if s.o.Switch == nil {
		return nil, problem(http.StatusConflict, "no daemon runs: there is nothing to switch")
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

func (s *Server) switches() Switches {
	if s.o.Switches == nil {
		return Switches{}
	}
	return s.o.Switches()
}
