package main

import (
	"fmt"

	"github.com/urfave/cli/v2"
)

func (p *program) tokenCommand() *cli.Command {
	return &cli.Command{
		Name:  "token",
		Usage: "print the token of the admin port",
		Description: "Clients that are not programs of your user on this machine send it: \"Authorization: Bearer " +
			"TOKEN\". readthru's own commands\nuse it by themselves.",
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArgs(c.Args().Slice()); err != nil {
				return err
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			if err := makeDataDir(s.dataDir); err != nil {
				return err
			}
			var token string
			if d := findDaemon(c.Context, s.dataDir); d != nil {
				token = d.Token // its configuration may be another
			} else if token, err = adminToken(s); err != nil {
				return err
			}
			if c.Bool("json") {
				return p.printJSON(map[string]string{"token": token})
			}
			_, err = fmt.Fprintln(p.out, token)
			return err
		},
	}
}
