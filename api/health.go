package api

import (
	"context"
	"fmt"
	"net/http"

	"readthru/store"
)

// Liveness says who answers.
func (s *Server) Liveness(context.Context) (*Liveness, error) {
	return &Liveness{Status: "ok", Instance: s.o.Instance, Version: s.o.Version}, nil
}

// Readiness tells the state of each part. A store that takes no writes leaves the daemon ready: pages come back all the
// same.
func (s *Server) Readiness(context.Context) (*Readiness, error) {
	h := s.o.Store.Health()
	st := Part{State: h.State, Reason: h.Reason}
	if st.Reason == "" && h.SetAside != "" {
		st.Reason = "a damaged store was set aside at " + h.SetAside
	}
	if st.Reason == "" && h.Lost {
		st.Reason = "records were lost: the change log is shorter than it was"
	}
	parts := map[string]Part{
		"store": st, "proxy": {State: "ok"},
		"markdown_new": {State: s.o.Fetch.Stats().MarkdownNewState},
	}
	seen := s.renderStats()
	parts["render"] = Part{State: seen.State, Reason: seen.Reason}
	if seen.State == "browser" && !seen.Sandboxed {
		parts["render"] = Part{State: seen.State, Reason: "browser without sandbox"}
	}
	ready := true
	if s.o.Proxy == nil || s.o.Proxy() == "" {
		parts["proxy"], ready = Part{State: "down", Reason: "no proxy listens"}, false
	}
	distrusted, err := s.distrusted()
	if err != nil {
		return nil, err
	}
	return &Readiness{Ready: ready, Parts: parts, Distrusted: distrusted}, nil
}

// maxDistrusted bounds Readiness.Distrusted.
const maxDistrusted = 100

func (s *Server) distrusted() (hosts []string, err error) {
	err = s.o.Store.Hosts(func(name string, h store.Host) bool {
		if len(h.RejectsCA) > 0 {
			hosts = append(hosts, name)
		}
		return len(hosts) < maxDistrusted
	})
	if err != nil {
		return nil, fmt.Errorf("read hosts: %w", err)
	}
	return hosts, nil
}

func (s *Server) serveLiveness(w http.ResponseWriter, r *http.Request) error {
	l, err := s.Liveness(r.Context())
	return reply(w, l, err)
}

func (s *Server) serveReadiness(w http.ResponseWriter, r *http.Request) error {
	rd, err := s.Readiness(r.Context())
	if err != nil {
		return err
	}
	if !s.guard.admits(r.Header.Values("Authorization")) {
		rd.Distrusted = nil // the path is public; what was visited is not, nor are names of files
		for name, part := range rd.Parts {
			rd.Parts[name] = Part{State: part.State}
		}
	}
	if !rd.Ready {
		return answer(w, http.StatusServiceUnavailable, rd)
	}
	return answer(w, http.StatusOK, rd)
}
