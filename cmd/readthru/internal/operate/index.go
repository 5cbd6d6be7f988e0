package operate

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// indexCommand is the command index: it rebuilds the search index from what is stored, and waits for that.
func (p *program) indexCommand() *cli.Command {
	return &cli.Command{
		Name:  "index",
		Usage: "manage the search index",
		Subcommands: []*cli.Command{
			{
				Name: "rebuild", Usage: "rebuild the index from what is stored", Flags: []cli.Flag{command.JSONFlag()},
				Action: func(c *cli.Context) error {
					if err := command.NoArgs(c.Args().Slice()); err != nil {
						return err
					}
					return p.WithClient(c.Context, func(b *api.Client) error {
						j, err := b.RebuildIndex(c.Context)
						if err != nil {
							return err
						}
						last, err := p.Watch(c.Context, b, j.ID)
						if err != nil {
							return err
						}
						return p.Done(c, last, "indexed %s", terminal.Count(last.I, "document"))
					})
				},
			},
		},
	}
}
