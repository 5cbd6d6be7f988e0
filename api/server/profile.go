package server

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/users"
)

// ServeProfiles answers with profiles of this process (processor time, heap, goroutines, traces) below /debug/pprof/ on
// l, until ctx ends. The same askers are answered as on the admin port. It closes l.
func (s *Server) ServeProfiles(ctx context.Context, l net.Listener) error {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			who, _, e := s.guard.Check(r, false, false)
			if e == nil && who.User != nil && !who.User.Role.Allows(users.Admin) {
				e = api.Problem(http.StatusForbidden, "profiles are for the role admin")
			}
			if e != nil {
				s.refuse(w, r, e)
				return
			}
			mux.ServeHTTP(w, r)
		}),
	}
	stop := context.AfterFunc(ctx, func() { _ = server.Close() }) // a profile that is being taken is not worth waiting for
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}
