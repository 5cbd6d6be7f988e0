package figures

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/guard"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/fleet"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// GetLiveness says which daemon answers.
func (s *Service) GetLiveness(_ context.Context, q api.LivenessQuery) (*api.Liveness, error) {
	l := &api.Liveness{Status: "ok", Instance: s.o.Instance, Version: s.o.Version}
	if q.Challenge != "" && s.o.Secret != "" {
		l.Proof = api.Proof(s.o.Secret, q.Challenge)
	}
	return l, nil
}

// What to do about documents that were set aside, an index that was left closed, and faults.
const (
	JobsRemedy     = `see "readthru store jobs list"; "readthru store jobs retry ID" tries one again`
	SetAsideRemedy = `pages, cache and index begin anew; "readthru store restore" takes a backup into a new data directory`
	ClosedRemedy   = "restart the daemon to open it again; if that crashes, too, stop it and run " +
		`"readthru store index rebuild"`
	FaultRemedy = "the log says where; please report it"
)

// aside says how many documents were set aside because they could not be indexed.
func aside(n int) string {
	if n == 1 {
		return "a document was set aside, because it could not be indexed"
	}
	return fmt.Sprintf("%d documents were set aside, because they could not be indexed", n)
}

// indexPart returns the state of the search index for readiness; the zero value if all is well.
func indexPart(k *knowledge.Knowledge) api.Part {
	open, err := k.Opened()
	if _, crashed := errors.AsType[*knowledge.CrashError](err); crashed {
		return api.Part{State: "closed", Reason: err.Error(), Remedy: ClosedRemedy}
	}
	switch {
	case err != nil:
		return api.Part{State: "failed", Reason: err.Error()}
	case !open:
		return api.Part{State: "opening", Reason: "searches wait until the index is read"}
	}
	if n := k.Aside(); n > 0 {
		return api.Part{State: "degraded", Reason: aside(n), Remedy: JobsRemedy}
	}
	return api.Part{}
}

// fleetPart returns the state of a node's part in its fleet.
func fleetPart(st fleet.Status) api.Part {
	if n := len(st.Aside); n > 0 && st.State == fleet.Connected && st.Reason == "" {
		last := st.Aside[n-1]
		return api.Part{
			State: "degraded", Remedy: "see what `readthru stats fleet` names",
			Reason: fmt.Sprintf("%d rows of others set aside; the last: %s %s: %s", st.SetAside, last.Kind, last.ID,
				last.Reason),
		}
	}
	return api.Part{State: st.State, Reason: st.Reason, Remedy: st.Remedy}
}

// GetReadiness returns the state of each part. A store that takes no writes leaves the daemon ready: it still answers
// pages. The path is open to all: to strangers the answer names neither files nor hosts that were visited.
func (s *Service) GetReadiness(ctx context.Context, _ api.None) (*api.Readiness, error) {
	h := s.o.Store.Health()
	st := api.Part{State: h.State, Reason: h.Reason}
	if st.Reason == "" && h.SetAside != "" {
		st.Reason, st.Remedy = "a damaged store was moved to "+h.SetAside, SetAsideRemedy
	}
	if s.o.Store.UsersLost() {
		st.Reason += "; " + api.UsersLost
		if h.SetAside != "" {
			st.Remedy = api.UsersLostRemedy
		}
	}
	if st.Reason == "" && h.Lost {
		st.Reason = "records were lost: the change log is shorter than it was"
	}
	parts := map[string]api.Part{
		"store": st, "proxy": {State: "ok"},
		"markdown_new": {State: s.o.Fetch.Stats().MarkdownNewState},
	}
	if parts["markdown_new"].State == "resting" {
		parts["markdown_new"] = api.Part{State: "resting", Reason: "it failed, or asked for a pause: pages are made here"}
	}
	seen := s.renderStats()
	parts["render"] = api.Part{State: seen.State, Reason: seen.Reason}
	switch {
	case seen.State == "browser" && !seen.Sandboxed:
		parts["render"] = api.Part{State: seen.State, Reason: "browser without sandbox", Remedy: api.SandboxRemedy}
	case seen.State == "http" && seen.Reason != "":
		parts["render"] = api.Part{State: seen.State, Reason: seen.Reason, Remedy: api.BrowserRemedy}
	}
	if s.o.Knowledge != nil {
		if part := indexPart(s.o.Knowledge); part.State != "" {
			parts["index"] = part
		}
	}
	if n, last := fault.Caught(); n > 0 {
		parts["faults"] = api.Part{
			State: "degraded", Remedy: FaultRemedy,
			Reason: fmt.Sprintf("%d caught since the start; the last: %v", n, last[len(last)-1]),
		}
	}
	if s.o.LastEnd.Crashed {
		parts["last run"] = api.Part{
			State: "crashed", Reason: s.o.LastEnd.Cause(), Remedy: "please report " + s.o.LastEnd.File,
		}
	}
	if s.o.Fleet != nil { // without the database the node is a node alone, and ready
		st := s.o.Fleet.Status()
		parts["fleet"] = fleetPart(st)
		if b := st.Bodies; b.State != "" {
			parts["fleet bodies"] = api.Part{State: b.State, Reason: b.Reason, Remedy: b.Remedy}
		}
	}
	ready := true
	if s.o.Proxy == nil || s.o.Proxy() == "" {
		parts["proxy"], ready = api.Part{State: "down", Reason: "no proxy runs"}, false
	}
	if !guard.IsKnown(ctx) {
		for name, part := range parts {
			parts[name] = api.Part{State: part.State}
		}
		return &api.Readiness{Ready: ready, Parts: parts}, nil
	}
	rejected, err := s.o.Sites.Facts(store.RejectsCA, maxRejected)
	if err != nil {
		return nil, err
	}
	ans := &api.Readiness{Ready: ready, Parts: parts}
	for _, f := range rejected.Facts {
		if !slices.Contains(ans.Distrusted, f.Host) {
			ans.Distrusted = append(ans.Distrusted, f.Host)
		}
	}
	return ans, nil
}

// maxRejected bounds Stats.RejectedCA and Readiness.Distrusted.
const maxRejected = 100
