package server

import (
	"context"

	"github.com/readthru/readthru/api/server/figures"
	"github.com/readthru/readthru/api/server/hooks"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/api/server/machine"
	"github.com/readthru/readthru/api/server/memory"
	"github.com/readthru/readthru/api/server/pages"
	"github.com/readthru/readthru/api/server/people"
	"github.com/readthru/readthru/api/server/requests"
	"github.com/readthru/readthru/api/server/sites"
)

// families are the packages below this one that do the operations of the API. Each has only what it needs.
type families struct {
	jobs     *jobs.Runner
	memory   *memory.Service
	hooks    *hooks.Service
	pages    *pages.Service
	sites    *sites.Service
	people   *people.Service
	requests *requests.Service
	figures  *figures.Service
	machine  *machine.Service
}

// newFamilies returns the families of a server. Running counts its jobs, and untilStopping waits until it stops.
func newFamilies(o Options, running func() int, untilStopping func(context.Context)) (f families) {
	f.jobs = jobs.New(o.Store, o.Log)
	f.machine = machine.New(machine.Options{
		Fetch: o.Fetch, Store: o.Store, Fleet: o.Fleet, Switches: o.Switches, Switch: o.Switch, System: o.System,
		Services: o.Services, Proxy: o.Proxy, AutoConfig: o.AutoConfig, CA: o.CA, Trust: o.Trust, RenewCA: o.RenewCA,
		SigningKeys: o.SigningKeys, Log: o.Log,
	})
	offline := func() bool { return f.machine.Switches().Offline }
	f.memory = memory.New(memory.Options{
		Store: o.Store, Knowledge: o.Knowledge, Fleet: o.Fleet, Dir: o.Dir, Jobs: f.jobs, Crawl: o.Crawl,
		Offline: offline, Log: o.Log,
	})
	f.pages = pages.New(pages.Options{
		Fetch: o.Fetch, Store: o.Store, Knowledge: o.Knowledge, Fleet: o.Fleet, Summary: o.Summary, Offline: offline,
		Expired: o.Expired, Explain: o.Explain, Fresh: o.Fresh,
	})
	f.sites = sites.New(sites.Options{
		Store: o.Store, Fetch: o.Fetch, Journal: o.Journal, Pages: f.pages, Memory: f.memory,
		Treatment: o.Treatment, FileRules: o.FileRules, Changed: o.Changed,
	})
	f.people = people.New(people.Options{
		Store: o.Store, Fleet: o.Fleet, Users: o.Users, ConfiguredUsers: o.ConfiguredUsers, Changed: o.Changed,
		Session: o.Session, Sessions: o.Sessions, SessionProxies: o.SessionProxies, UntilStopping: untilStopping,
	})
	f.figures = figures.New(figures.Options{
		Fetch: o.Fetch, Store: o.Store, Journal: o.Journal, Knowledge: o.Knowledge, Fleet: o.Fleet, Sites: f.sites,
		People: f.people, Jobs: running, Switches: f.machine.Switches, Version: o.Version, Instance: o.Instance,
		Secret: o.Secret, MarkdownNewMode: o.MarkdownNewMode, LastEnd: o.LastEnd, Proxy: o.Proxy, Requests: o.Requests,
		Open: o.Open, Cache: o.Cache, WorkTimes: o.WorkTimes, Log: o.Log,
	})
	f.requests = requests.New(requests.Options{
		Journal: o.Journal, Store: o.Store, Version: o.Version, Instance: o.Instance, Work: f.figures.Work,
		Stopping: f.jobs.Stopping().Done(), Proxy: o.Proxy, CA: o.CA, Log: o.Log,
	})
	f.hooks = hooks.New(hooks.Options{Fetch: o.Fetch, Memory: f.memory, Dir: o.Dir, Log: o.Log})
	return f
}

// Memory returns what does the operations on knowledge bases, and goes on with what earlier processes left.
func (s *Server) Memory() *memory.Service { return s.memory }

// Hooks returns what answers the events of agents, and does the work that they leave.
func (s *Server) Hooks() *hooks.Service { return s.hooks }

// Sample writes what is counted into the time series, until ctx ends. Stop does so a last time.
func (s *Server) Sample(ctx context.Context) error { return s.figures.Sample(ctx) }

// Stop interrupts the jobs and the work of hooks so that they can be continued later, and waits for them to end.
func (s *Server) Stop() {
	s.jobs.Stop()
	s.hooks.Close()
	if s.o.Firecrawl != nil {
		s.o.Firecrawl.Close()
	}
	s.figures.Close()
}

// Running returns the number of jobs that run, those of Firecrawl clients among them.
func (s *Server) Running() int {
	n := s.jobs.Running()
	if s.o.Firecrawl != nil {
		n += s.o.Firecrawl.Running()
	}
	return n
}
