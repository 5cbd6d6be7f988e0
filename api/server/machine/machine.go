// Package machine does the operations on this node itself: how it is configured, its authority and keys, its switches,
// what leaves it for third parties, its fleet, and the copy of its store.
package machine

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. Fetch, Store and Log are required. Of what is nil there is none.
type Options struct {
	Fetch *fetch.Fetcher
	Store *store.Store
	Fleet *fleet.Fleet // this node's part in a fleet

	// Switches returns how the switches are, and Switch changes them all.
	Switches func() api.Switches
	Switch   func(api.Switches) error
	// System returns how the program is configured and what it keeps, without the authority.
	System func(ctx context.Context) (*api.System, error)
	// Services returns the third parties that the configuration lets be asked, by their names in the ledger, and
	// whether each runs on this machine.
	Services func() map[string]bool

	Proxy      func() string                     // the proxy's address, host:port
	AutoConfig func(addr string) string          // the proxy auto-configuration for that address
	CA         func() []byte                     // the authority's certificate, PEM
	Trust      func(context.Context) []api.Trust // whether each trust store has the authority
	RenewCA    func() error                      // replaces the authority
	Log        *slog.Logger
	// SigningKeys returns the directory of the key that signs own requests, and sets the fields of its response.
	SigningKeys func(http.Header, time.Time) ([]byte, error)
}

// Service does the operations.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

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
