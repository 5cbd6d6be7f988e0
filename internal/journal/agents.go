package journal

import (
	"cmp"
	"slices"
	"strings"
	"time"
)

// Names of agents and sessions come from clients: of more than these, the journal does not keep the names.
const (
	maxAgents = 64
	// MaxSessions is how many sessions of an agent are told apart.
	MaxSessions = 32
)

// What agents ask is summed up in steps of time, of which the last ones are told: AgentsTime, and the step that has
// begun.
const (
	agentStep  = 10 * time.Minute
	agentSteps = 7
	// AgentsTime is for how long it is told at least what an agent has asked.
	AgentsTime = (agentSteps - 1) * agentStep
)

// AgentSeen is what clients that call themselves so have asked lately.
type AgentSeen struct {
	Name        string    `json:"name"`     // User-Agent, shortened; empty for clients that send none
	Seen        time.Time `json:"seen"`     // when its last request ended
	Sessions    int       `json:"sessions"` // that have a name; MaxSessions if they are that many or more
	Requests    int64     `json:"requests"`
	TokensSaved int64     `json:"tokens_saved"` // those of the HTML less those of the markdown in its place
}

// agents sums up what each agent asks. A request adds to it under the journal's lock.
type agents struct {
	byName map[string]*agent
	others agent // those that made room
}

// agent is what a user agent has asked lately, by steps of time, in a ring.
type agent struct {
	seen     int64    // Unix nanoseconds
	all      agentSum // since the start of the process
	steps    [agentSteps]agentSum
	sessions map[string]int64 // by their names, when they were seen, in steps
}

// agentSum is what was asked in one step.
type agentSum struct {
	step                     int64
	requests, html, markdown int64
}

// add adds a request, unless this program made it for no agent. Now says that it is one of this process.
func (g *agents) add(s slot, now bool) {
	if s.of.Door == DoorCrawl || s.of.Door == DoorDashboard {
		return
	}
	end := s.began + int64(s.took)
	step := end / int64(agentStep)
	a := g.byName[s.of.Agent]
	if a == nil {
		if g.byName == nil {
			g.byName = map[string]*agent{}
		}
		if len(g.byName) == maxAgents {
			g.makeRoom(step)
		}
		a = new(agent)
		g.byName[strings.Clone(s.of.Agent)] = a
	}
	a.seen = max(a.seen, end)
	n := agentSum{step: step, requests: 1}
	n.markdown, n.html = s.of.spared()
	a.add(n)
	if now {
		a.all.plus(n)
	}
	if s.of.Session != "" {
		a.visit(s.of.Session, step)
	}
}

// add adds to the sum of a step.
func (a *agent) add(n agentSum) {
	at := &a.steps[uint64(n.step)%agentSteps]
	if at.step != n.step {
		*at = agentSum{step: n.step}
	}
	at.plus(n)
}

// plus adds what else was asked.
func (n *agentSum) plus(more agentSum) {
	n.requests, n.html, n.markdown = n.requests+more.requests, n.html+more.html, n.markdown+more.markdown
}

// visit notes that a session was seen in a step.
func (a *agent) visit(session string, step int64) {
	if _, known := a.sessions[session]; !known {
		if len(a.sessions) == MaxSessions {
			a.forget(step)
		}
		if len(a.sessions) == MaxSessions {
			return
		}
		if a.sessions == nil {
			a.sessions = map[string]int64{}
		}
		session = strings.Clone(session)
	}
	a.sessions[session] = step
}

// forget forgets sessions that were not seen lately.
func (a *agent) forget(now int64) {
	for name, step := range a.sessions {
		if step <= now-agentSteps {
			delete(a.sessions, name)
		}
	}
}

// lately returns what an agent has asked in the steps that are told.
func (a *agent) lately(now int64) (n agentSum) {
	for _, s := range a.steps {
		if s.step > now-agentSteps {
			n.plus(s)
		}
	}
	return n
}

// makeRoom drops the agent that has asked least lately, of those that have asked as little the one that was seen first.
// So names that are sent once drop each other, and not those of agents that work.
func (g *agents) makeRoom(now int64) {
	var least string
	var requests int64
	var drop *agent
	for name, a := range g.byName {
		if n := a.lately(now).requests; drop == nil || n < requests || n == requests && a.seen < drop.seen {
			least, requests, drop = name, n, a
		}
	}
	delete(g.byName, least)
	g.others.seen = max(g.others.seen, drop.seen)
	for _, s := range drop.steps {
		if s.step > now-agentSteps {
			g.others.add(s)
		}
	}
}

// told returns what the API says of a user agent, and whether it has asked anything lately.
func (a *agent) told(name string, now int64) (AgentSeen, bool) {
	n := a.lately(now)
	a.forget(now)
	return AgentSeen{
		Name: name, Seen: time.Unix(0, a.seen).UTC(), Sessions: len(a.sessions), Requests: n.requests,
		TokensSaved: n.html - n.markdown,
	}, n.requests > 0
}

// maxRecalled is how many requests of earlier processes are summed up at most.
const maxRecalled = 20000

// recallAgents sums up what was asked lately before this process began, as the files have it.
func (j *Journal) recallAgents(now time.Time) {
	if j.archive == nil {
		return
	}
	since := now.Add(-agentSteps * agentStep)
	var before []slot
	j.archive.latest(place{j.run, 1}, func(e *Entry) bool {
		if e.Time.Before(since) || len(before) == maxRecalled {
			return false
		}
		took := time.Duration(e.Micros) * time.Microsecond
		before = append(before, slot{of: e, began: e.Time.UnixNano(), took: took})
		return true
	})
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, s := range slices.Backward(before) {
		j.agents.add(s, false)
	}
}

// Agents returns the agents that have asked lately, those with the most requests first. Others sums up those that were
// too many to be told apart, which have neither names nor sessions there; nil if all are listed.
func (j *Journal) Agents(now time.Time) (list []AgentSeen, others *AgentSeen) {
	j.agentsBefore.Do(func() { j.recallAgents(now) })
	step := now.UnixNano() / int64(agentStep)
	j.mu.Lock()
	for name, a := range j.agents.byName {
		if told, lately := a.told(name, step); lately {
			list = append(list, told)
		}
	}
	if told, lately := j.agents.others.told("", step); lately {
		others = &told
	}
	j.mu.Unlock()
	slices.SortFunc(list, func(a, b AgentSeen) int {
		return cmp.Or(cmp.Compare(b.Requests, a.Requests), cmp.Compare(a.Name, b.Name))
	})
	return list, others
}
