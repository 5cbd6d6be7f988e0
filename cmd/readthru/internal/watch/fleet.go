package watch

import (
	"cmp"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/internal/fleet"
)

// fleetCommand is the former command fleet, now stats fleet: the nodes that share a database.
func (p *program) fleetCommand() *cli.Command {
	return &cli.Command{
		Name: "fleet", Usage: "show the nodes that share what they read",
		Subcommands: []*cli.Command{{
			Name: "status", Usage: "show this node, the others, and what waits", Flags: []cli.Flag{command.JSONFlag()},
			Action: command.All(p.Program, (*api.Client).Fleet, p.fleetStatus),
		}},
	}
}

// fleetStatus prints the state of this node, and the nodes.
func (p *program) fleetStatus(state *api.FleetState) error {
	if state.State == api.FleetNone {
		p.Note("this is a node alone: fleet.database names the database of a fleet")
		return nil
	}
	p.Note("fleet %s, node %s: %s for %s, %d pages told, %d taken over, %d refused", state.Name, state.Node, state.State,
		time.Since(state.Since).Round(time.Second), state.Published, state.Taken, state.Refused)
	p.Note("%d responses told, %d of others used instead of asking their origins, %d renditions of others used, "+
		"%d waits for a node that asked before, %d late answers of the database", state.Told, state.Reused,
		state.Renditions, state.Waited, state.Late)
	if state.Reason != "" {
		p.Note("%s: %s", state.Reason, cmp.Or(state.Remedy, "nothing to do"))
	}
	for _, a := range state.Aside {
		again := ""
		if a.Again != nil {
			again = "; tried again at " + a.Again.Local().Format(time.DateTime)
		}
		p.Note("set aside: %s %s: %s: %s%s", a.Kind, a.ID, a.Reason, a.Remedy, again)
	}
	if b := state.Bodies; b.State != "" {
		p.Note("object store: %s, %d contents put, %d got, %d lost, %d put again; %d wait here", b.State, b.Put, b.Got,
			b.Lost, b.Repaired, b.Held)
		if b.Reason != "" {
			p.Note("%s: %s", b.Reason, b.Remedy)
		}
	}
	if state.Unknown != "" {
		p.Note("the nodes are not known: %s", state.Unknown)
		return nil
	}
	var rows [][]string
	for _, n := range state.Nodes {
		is := fleet.Connected
		if n.Away {
			is = "away"
		}
		rows = append(rows, []string{
			n.Name, is, n.Version, n.Seen.Local().Format(time.DateTime), strconv.FormatInt(n.Pages, 10),
			strconv.FormatInt(n.Outbox, 10), strconv.FormatInt(n.Behind, 10), strings.Join(n.Crawls, " "),
		})
	}
	return p.Table([]string{"NODE", "STATE", "VERSION", "SEEN", "PAGES", "TO TELL", "TO TAKE", "CRAWLS"}, rows)
}
