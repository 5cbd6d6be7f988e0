// Package people does the operations on who uses this: users with their tokens and what they used, and sessions with
// their counts, recordings and proxies.
package people

import (
	"context"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/internal/users"
	"github.com/readthru/readthru/store"
)

// Options configures a Service. Store is required. Of what is nil there is none.
type Options struct {
	Store *store.Store
	Fleet *fleet.Fleet // this node's part in a fleet

	Users           *users.Directory
	ConfiguredUsers func() []string // the names of the users of the configuration
	Changed         func() error    // takes over changed users of the store

	Session        func(name string) api.SessionStats // counts of a session, without its name
	Sessions       func() []api.SessionStats          // counts of all sessions, with their names
	SessionProxies SessionProxies
	UntilStopping  func(ctx context.Context) // waits until the server stops or ctx ends; required by SessionProxies
}

// Service does the operations.
type Service struct{ o Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }
