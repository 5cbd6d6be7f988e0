package watch

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// visitsCommand is the command visits: each delivery of a page to a reader, of this node or of the whole fleet.
func (p *program) visitsCommand() *cli.Command {
	return &cli.Command{
		Name:  "visits",
		Usage: "list deliveries of pages to readers, newest first",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "list only those of the page at `URL`"},
			&cli.StringFlag{Name: "host", Usage: "list only those of pages of `HOST`"},
			&cli.StringFlag{Name: "agent", Usage: "list only those of agents with `TEXT` in their names"},
			&cli.StringFlag{Name: "since", Usage: "list only those since `TIME` (today, 2026-01-31, 36h, 7d)"},
			&cli.StringFlag{Name: "user", Usage: "list only those of the user `NAME` of the proxy"},
			&cli.BoolFlag{Name: "fleet", Usage: "list those of all nodes of the fleet, but for those of the last seconds"},
			command.SessionFlag(), command.LimitFlag(), command.CursorFlag(), command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			limit, err := command.LimitOf(c)
			if err != nil {
				return err
			}
			since, err := api.Since(c.String("since"), time.Now())
			if err != nil {
				return terminal.Usagef("--since: %s", err)
			}
			q := api.VisitQuery{
				Host: c.String("host"), Agent: c.String("agent"), Since: since,
				URL: c.String("url"), Session: c.String("session"), User: c.String("user"), Limit: limit,
				Cursor: c.String("cursor"), Nodes: c.Bool("fleet"),
			}
			return command.Show(p.Program, c, func(b *api.Client) (*api.VisitList, error) {
				return b.Visits(c.Context, q)
			}, func(list *api.VisitList) error {
				var rows [][]string
				for _, v := range list.Visits {
					from := "origin"
					if v.FromCache {
						from = "cache"
					}
					if v.Stale {
						from += ", stale"
					}
					if v.Count > 1 {
						from += fmt.Sprintf(" ×%d", v.Count)
					}
					row := []string{
						terminal.Day(v.Time), string(v.Source), from, strconv.Itoa(v.Tokens), terminal.OrDash(v.User), v.Session,
						v.Agent, v.URL,
					}
					if q.Nodes {
						row = slices.Insert(row, 1, v.Node)
					}
					rows = append(rows, row)
				}
				p.More(c, list.Next)
				head := []string{"TIME", "SOURCE", "FROM", "TOKENS", "USER", "SESSION", "AGENT", "URL"}
				if q.Nodes {
					head = slices.Insert(head, 1, "NODE")
				}
				return p.Table(head, rows)
			})
		},
	}
}
