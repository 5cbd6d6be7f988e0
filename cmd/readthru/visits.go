package main

import (
	"fmt"
	"strconv"

	"github.com/urfave/cli/v2"

	"readthru/api"
)

func (p *program) visitsCommand() *cli.Command {
	return &cli.Command{
		Name:  "visits",
		Usage: "list deliveries of pages to readers, newest first",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "list only those of the page at `URL`"},
			&cli.StringFlag{Name: "user", Usage: "list only those of the user `NAME` of the proxy"},
			sessionFlag(), limitFlag(), cursorFlag(), jsonFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			limit, err := limitOf(c)
			if err != nil {
				return err
			}
			q := api.VisitQuery{
				URL: c.String("url"), Session: c.String("session"), User: c.String("user"), Limit: limit,
				Cursor: c.String("cursor"),
			}
			return p.withClient(c.Context, func(b *api.Client) error {
				list, err := b.Visits(c.Context, q)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.printJSON(list)
				}
				var rows [][]string
				for _, v := range list.Visits {
					from := "origin"
					if v.FromCache {
						from = "cache"
					}
					if v.Count > 1 {
						from += fmt.Sprintf(" ×%d", v.Count)
					}
					rows = append(rows, []string{
						day(v.Time), string(v.Source), from, strconv.Itoa(v.Tokens), orDash(v.User), v.Session, v.Agent,
						v.URL,
					})
				}
				p.more(c, list.Next)
				return p.table([]string{"TIME", "SOURCE", "FROM", "TOKENS", "USER", "SESSION", "AGENT", "URL"}, rows)
			})
		},
	}
}
