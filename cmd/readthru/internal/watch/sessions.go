package watch

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// sessionsCommand is the command sessions: for each session what it was answered, what it has fetched, and whether it
// is recorded.
func (p *program) sessionsCommand() *cli.Command {
	return &cli.Command{
		Name: "sessions", Usage: "list sessions with what they were answered and what they have fetched",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			return command.Show(p.Program, c, func(b *api.Client) (*api.SessionList, error) {
				return b.Sessions(c.Context)
			}, func(list *api.SessionList) error {
				var rows [][]string
				for _, s := range list.Sessions {
					recording := "-"
					if s.Recording {
						recording = "yes"
					}
					row := []string{s.Session, recording}
					for _, n := range []int64{s.Requests, s.Hits, s.Errors, s.Tokens.Saved, int64(s.Fetched.Pages)} {
						row = append(row, strconv.FormatInt(n, 10))
					}
					rows = append(rows, row)
				}
				p.Note("since the daemon started; what sessions have fetched is kept")
				heads := []string{"SESSION", "RECORDED", "REQUESTS", "HITS", "FAILED", "TOKENS SAVED", "FETCHED"}
				return p.Table(heads, rows)
			})
		},
	}
}
