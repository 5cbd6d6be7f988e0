package ui

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/journal"
)

// How many requests, agents and hosts the first page of the dashboard lists. The other agents are summed up.
const (
	lastOnNow   = 12
	agentsOnNow = 10
	hostsOnNow  = 10
)

// nowData is what the template of the first page shows.
type nowData struct {
	Stats   *api.Stats
	Hosts   []api.HostStats
	Parts   []part
	Trouble int     // parts that want attention
	Shares  []share // of requests, by outcome
	Doors   []share // of requests, by door
	Sources []share
	Jobs    []api.Job
	Last    []journal.Entry
	Agents  []journal.AgentSeen
	Others  *otherAgents // nil if Agents are all
	Proxy   string
	Charts  charts
	At      *api.Switches
	Token   string
}

// A part is the state of a part of the program, such as the store or the browser, on the first page.
type part struct {
	Name string
	api.Part
	Good bool
}

// Class is the CSS class of the tag that names the state, for its colour: what is switched off, or does not work
// yet, is neither good nor bad.
func (p part) Class() string {
	switch {
	case p.State == "down", p.State == "unavailable":
		return "o-failed"
	case !p.Good:
		return "o-stale"
	case p.State == "off", p.State == "connecting":
		return ""
	}
	return "o-hit"
}

// otherAgents sums up the agents that the first page does not list.
type otherAgents struct {
	journal.AgentSeen
	Text string
}

// A share is one of several figures that make a whole, as a part of a bar across the page. Positions are thousandths of
// the bar.
type share struct {
	Name  string
	Class string // of its colour; if empty, the name
	Link  string // to what it counts; may be empty
	N     int64
	X, W  int
}

// now shows the first page of the dashboard: how it stands at present. It asks several operations one after the other;
// none of them is slow, and an error of any is the page.
func (d *dashboard) now(w http.ResponseWriter, r *http.Request) {
	ctx, c := r.Context(), d.o.Client
	data := nowData{Proxy: d.o.Proxy(), Token: d.token}
	var err error
	if data.Stats, err = c.Stats(ctx); err != nil {
		d.fail(w, r, "/", err)
		return
	}
	ready, err := c.Readiness(ctx)
	if err != nil {
		d.fail(w, r, "/", err)
		return
	}
	if data.At, err = c.Switches(ctx); err != nil {
		d.fail(w, r, "/", err)
		return
	}
	at := spanOf(r.URL.Query().Get("span"))
	now := time.Now()
	series, err := c.Series(ctx, api.SeriesQuery{Step: at.step, Since: now.Add(-time.Duration(at.bars-1) * at.length)})
	if err != nil {
		d.fail(w, r, "/", err)
		return
	}
	data.Charts = chartsOf(at, series, now)
	data.Hosts = data.Stats.Hosts[:min(len(data.Stats.Hosts), hostsOnNow)]
	data.Parts = partsOf(ready)
	for _, p := range data.Parts {
		if !p.Good {
			data.Trouble++
		}
	}
	jobs, err := c.Jobs(ctx)
	if err != nil {
		d.fail(w, r, "/", err)
		return
	}
	data.Jobs = slices.DeleteFunc(jobs.Jobs, func(j api.Job) bool { return j.State != api.JobRunning })
	last, err := c.Requests(ctx, api.RequestQuery{Limit: lastOnNow})
	if err != nil {
		d.fail(w, r, "/", err)
		return
	}
	data.Last = last.Requests
	data.Agents, data.Others = agentsOf(data.Stats)
	data.Shares = sharesOf("outcome", data.Stats.Requests.Outcomes, journal.Outcomes)
	data.Doors = sharesOf("door", data.Stats.Requests.Doors, journal.Doors)
	for source, n := range data.Stats.Pages.BySource {
		data.Sources = append(data.Sources, share{Name: string(source), N: n})
	}
	slices.SortFunc(data.Sources, func(a, b share) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Name, b.Name))
	})
	data.Sources = shares(data.Sources)
	d.show(w, r, http.StatusOK, "now", view{Title: "Now", At: "/", Live: "/api/v1/events?limit=1&work=1", Data: data})
}

// agentsOf returns the agents that the first page lists, and the sum of the others; nil if there are none. The API
// bounds its own list and sums up what is beyond, so that the number of the others may be "and more".
func agentsOf(st *api.Stats) ([]journal.AgentSeen, *otherAgents) {
	most := min(len(st.Agents), agentsOnNow)
	rest := st.Agents[most:]
	var text string
	switch {
	case st.OtherAgents != nil:
		text = fmt.Sprintf("%d others and more", len(rest))
		rest = append(slices.Clip(rest), *st.OtherAgents)
	case len(rest) == 0:
		return st.Agents, nil
	case len(rest) == 1:
		text = "1 other"
	default:
		text = fmt.Sprintf("%d others", len(rest))
	}
	o := &otherAgents{Text: text}
	for _, a := range rest {
		o.Requests, o.TokensSaved = o.Requests+a.Requests, o.TokensSaved+a.TokensSaved
		if a.Seen.After(o.Seen) {
			o.Seen = a.Seen
		}
	}
	return st.Agents[:most], o
}

// agentFilter returns the filter of the requests of an agent, for links to the list. Filters have no quotes in a value:
// a name is cut at one.
func agentFilter(name string) string {
	name, _, _ = strings.Cut(name, `"`)
	return `agent:"` + name + `"`
}

// sessionsText writes how many sessions an agent has had. The journal stops counting at [journal.MaxSessions].
func sessionsText(n int) string {
	switch {
	case n == 0:
		return ""
	case n >= journal.MaxSessions:
		return strconv.Itoa(n) + "+"
	}
	return strconv.Itoa(n)
}

// sharesOf returns the requests of each value of a filter's term, in the order of names, with links to those requests.
// Values without requests are left out.
func sharesOf(term string, figures map[string]int64, names []string) []share {
	var list []share
	for _, name := range names {
		if n := figures[name]; n > 0 {
			list = append(list, share{
				Name: name, Class: term + "-" + name, Link: "/requests?" + url.Values{"q": {term + ":" + name}}.Encode(), N: n,
			})
		}
	}
	return shares(list)
}

// shares sets the positions of figures in a bar. Each part ends where the next begins, rounding included: the end is
// rounded, not the width. Figures that are zero have no width.
func shares(list []share) []share {
	var whole, at int64
	for _, s := range list {
		whole += s.N
	}
	for i := range list {
		if whole > 0 {
			list[i].X, list[i].W = int(at*1000/whole), int((at+list[i].N)*1000/whole-at*1000/whole)
		}
		at += list[i].N
	}
	return list
}

// partsOf returns the parts of the program by name, those that want attention first.
func partsOf(ready *api.Readiness) []part {
	var list []part
	for _, name := range slices.Sorted(maps.Keys(ready.Parts)) {
		p := ready.Parts[name]
		list = append(list, part{Name: name, Part: p, Good: p.Reason == "" && p.State != "down" && p.State != "unavailable"})
	}
	sort.SliceStable(list, func(i, j int) bool { return !list[i].Good && list[j].Good })
	return list
}
