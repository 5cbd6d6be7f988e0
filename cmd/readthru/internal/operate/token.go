package operate

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
)

// tokenCommand is the command token: the secret of the admin port. A running daemon is asked for its own, because it
// may have been started with another configuration.
func (p *program) tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print the token of the admin port",
		Description: "Clients that are not programs of your user on this machine send it: \"Authorization: Bearer " +
			"TOKEN\". readthru's own commands\nuse it by themselves.",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			if err := settings.MakeDataDir(s.DataDir); err != nil {
				return err
			}
			var token string
			if d := daemon.Find(c.Context, s.DataDir); d != nil {
				token = d.Token // its configuration may be another
			} else if token, err = wiring.AdminToken(s); err != nil {
				return err
			}
			if c.Bool("json") {
				return p.PrintJSON(map[string]string{"token": token})
			}
			_, err = fmt.Fprintln(p.Out, token)
			return err
		},
	}
}
