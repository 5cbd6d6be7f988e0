package main

import (
	"cmp"
	"context"
)

// listAgents lists the agents, whether they are on this machine, and whether they are set up.
func (p *program) listAgents(ctx context.Context, s *settings, asJSON bool) error {
	list := agentStates(ctx, s)
	if asJSON {
		return p.printJSON(list)
	}
	var rows [][]string
	for _, st := range list {
		found := "no"
		if st.Found {
			found = "yes"
		}
		rows = append(rows, []string{string(st.Agent), st.Title, found, cmp.Or(st.Error, st.State)})
	}
	return p.table([]string{"AGENT", "NAME", "FOUND", "SET UP"}, rows)
}
