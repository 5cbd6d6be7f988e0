package agentsetup

import (
	"context"
	"os/exec"
	"slices"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
)

// agentState is an agent in a list.
type agentState struct {
	Agent agents.Agent `json:"agent"`
	Title string       `json:"title"`
	Found bool         `json:"found"`
	State string       `json:"state"` // set up, partly, or no
	Files []string     `json:"files"`
	Error string       `json:"error,omitempty"`
}

// AgentStates says of each agent whether it is on this machine and set up.
func AgentStates(ctx context.Context, s *settings.Settings) (list []agentState) {
	for _, a := range agents.All() {
		list = append(list, (&Setup{Settings: s, Agent: a}).Look(ctx))
	}
	return list
}

// Look says whether the agent is on this machine and set up.
func (in *Setup) Look(ctx context.Context) agentState {
	m := thisMachine()
	st := agentState{Agent: in.Agent, Title: in.Agent.Title(), State: "no", Found: m.Exists(m.Dir(in.Agent))}
	for _, name := range in.Agent.Programs() {
		if _, err := exec.LookPath(name); err == nil {
			st.Found = true
		}
	}
	j, err := in.journal()
	if err != nil {
		st.Error = err.Error()
		return st
	}
	w := j.Choices
	if len(j.Files) == 0 {
		w = Choices{Proxy: true, Text: true}
	}
	choice, _, err := in.choice(ctx, w, false)
	if err != nil {
		st.Error = err.Error()
		return st
	}
	files := agents.Files(in.Agent, m, choice)
	changes, err := in.plan(files, j)
	for _, f := range files {
		st.Files = append(st.Files, f.Path)
	}
	if err != nil {
		st.Error = err.Error()
		return st
	}
	missing, ours := 0, 0
	for _, c := range changes {
		if c.Changes() {
			missing++
		}
		if without, err := c.file.Remove(c.state.text, j.entry(c.file.Path).Record); err == nil &&
			(without.Gone || !slices.Equal(without.Text, c.state.text)) {
			ours++
		}
	}
	switch {
	case missing == 0:
		st.State = "yes"
	case ours > 0:
		st.State = "partly"
	}
	return st
}
