package setup

import (
	"cmp"
	"context"

	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
)

// listAgents lists the agents, whether they are on this machine, and whether they are set up.
func (p *program) listAgents(ctx context.Context, s *settings.Settings, asJSON bool) error {
	list := agentsetup.AgentStates(ctx, s)
	if asJSON {
		return p.PrintJSON(list)
	}
	var rows [][]string
	for _, st := range list {
		found := "no"
		if st.Found {
			found = "yes"
		}
		rows = append(rows, []string{string(st.Agent), st.Title, found, cmp.Or(st.Error, st.State)})
	}
	return p.Table([]string{"AGENT", "NAME", "FOUND", "SET UP"}, rows)
}
