package api

import (
	"context"
	"slices"

	"readthru/store"
)

// getLiveness says which daemon answers.
func (s *Server) getLiveness(context.Context, none) (*Liveness, error) {
	return &Liveness{Status: "ok", Instance: s.o.Instance, Version: s.o.Version}, nil
}

// readinessQuery asks for the state of each part.
type readinessQuery struct {
	Authorization []string `header:"Authorization"`
}

// getReadiness returns the state of each part. A store that takes no writes leaves the daemon ready: it still answers
// pages. The path is public: without the token the answer names neither files nor hosts that were visited.
func (s *Server) getReadiness(_ context.Context, q readinessQuery) (*Readiness, error) {
	h := s.o.Store.Health()
	st := Part{State: h.State, Reason: h.Reason}
	if st.Reason == "" && h.SetAside != "" {
		st.Reason = "a damaged store was moved to " + h.SetAside
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
		parts["proxy"], ready = Part{State: "down", Reason: "no proxy runs"}, false
	}
	if !s.guard.admits(q.Authorization) {
		for name, part := range parts {
			parts[name] = Part{State: part.State}
		}
		return &Readiness{Ready: ready, Parts: parts}, nil
	}
	rejected, err := s.hostFacts(store.RejectsCA, maxRejected)
	if err != nil {
		return nil, err
	}
	ans := &Readiness{Ready: ready, Parts: parts}
	for _, f := range rejected.Facts {
		if !slices.Contains(ans.Distrusted, f.Host) {
			ans.Distrusted = append(ans.Distrusted, f.Host)
		}
	}
	return ans, nil
}

// maxRejected bounds Stats.RejectedCA and Readiness.Distrusted.
const maxRejected = 100
