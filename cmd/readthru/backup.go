package main

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/wholefile"
)

func (p *program) backupCommand() *cli.Command {
	return &cli.Command{
		Name:        "backup",
		Usage:       "write a consistent copy of the store",
		ArgsUsage:   "FILE",
		Description: "If FILE is \"-\", the copy goes to standard output. It has neither the authority nor the signing key.",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c.Args().Slice(), "FILE")
			if err != nil {
				return err
			}
			return p.withClient(c.Context, func(b *api.Client) error {
				w := newCounted(p.stdio, "written")
				if name == "-" {
					if c.Bool("json") {
						return usagef("--json does not go with the copy on standard output")
					}
					w.to = p.out
					err := b.Backup(c.Context, w)
					w.bar.clear()
					return err
				}
				err := wholefile.WriteFrom(name, func(f *os.File) error {
					w.to = f
					return b.Backup(c.Context, w)
				})
				w.bar.clear()
				if err != nil {
					return err
				}
				return p.done(c, fileWritten{File: name, Bytes: w.bytes}, "wrote %s: %s", name, bytesText(w.bytes))
			})
		},
	}
}
