package watch

import (
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/users"
)

// usageCommand is the command usage: what each user used, in all or by days of UTC.
func (p *program) usageCommand() *cli.Command {
	return &cli.Command{
		Name:  "usage",
		Usage: "show what users used: requests, bytes, pages, tokens delivered and saved",
		Description: "Requests are those to the proxy and the admin port, bytes those of the answers. Tokens are those of\n" +
			"the pages that were delivered as markdown or text, and saved is by how much their HTML has more. Days are of\n" +
			"UTC.",
		Flags: []cli.Flag{
			&cli.StringFlag{
				Name: "since", Usage: "since a day, a `TIME`, or an age (36h, 7d), with the whole of that day",
				DefaultText: "today",
			},
			&cli.StringFlag{Name: "user", Usage: "show only the user `NAME`"},
			&cli.BoolFlag{Name: "days", Usage: "show each day by itself"},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			q := api.UsesQuery{User: c.String("user"), Days: c.Bool("days")}
			var err error
			if c.IsSet("since") {
				if q.Since, err = api.Since(c.String("since"), time.Now()); err != nil {
					return terminal.Usagef("--since: %w", err)
				}
			}
			return command.Show(p.Program, c, func(b *api.Client) (*api.UseList, error) {
				return b.Usage(c.Context, q)
			}, func(list *api.UseList) error {
				if list.Missing != "" {
					p.Note("without what was used on other nodes: %s", list.Missing)
				}
				if len(list.Users) == 0 && q.User == "" {
					p.Note("usage is counted by user, and none has used anything in this time: readthru user add makes one, " +
						"readthru stats has the figures of all requests")
					return nil
				}
				var rows [][]string
				for _, u := range list.Users {
					rows = append(rows, useRow(terminal.OrDash(u.Day), u.User, u.Use))
				}
				rows = append(rows, useRow("-", "all", list.Sum))
				return p.Table([]string{"DAY", "USER", "REQUESTS", "BYTES", "PAGES", "TOKENS", "SAVED"}, rows)
			})
		},
	}
}

func useRow(day, name string, u users.Use) []string {
	row := []string{day, name}
	for _, n := range []int64{u.Requests, u.Bytes, u.Pages, u.Tokens, u.Saved} {
		row = append(row, strconv.FormatInt(n, 10))
	}
	return row
}
