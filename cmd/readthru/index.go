package main

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
)

func (p *program) indexCommand() *cli.Command {
	return &cli.Command{
		Name:  "index",
		Usage: "manage the search index",
		Subcommands: []*cli.Command{
			{
				Name: "rebuild", Usage: "rebuild the index from what is stored", Flags: []cli.Flag{jsonFlag()},
				Action: func(c *cli.Context) error {
					if err := noArgs(c.Args().Slice()); err != nil {
						return err
					}
					return p.withClient(c.Context, func(b *api.Client) error {
						j, err := b.RebuildIndex(c.Context)
						if err != nil {
							return err
						}
						last, err := p.watch(c.Context, b, j.ID)
						if err != nil {
							return err
						}
						return p.done(c, last, "indexed %s", count(last.I, "document"))
					})
				},
			},
		},
	}
}
