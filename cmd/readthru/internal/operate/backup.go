package operate

import (
	"os"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/wholefile"
)

// backupCommand is the command backup: it streams a consistent copy of the store to a file, which appears only when it
// is whole, or to standard output.
func (p *program) backupCommand() *cli.Command {
	return &cli.Command{
		Name:        "backup",
		Usage:       "write a consistent copy of the store",
		ArgsUsage:   "FILE",
		Description: "If FILE is \"-\", the copy goes to standard output. It has neither the authority nor the signing key.",
		Flags:       []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			name, err := command.OneArg(c.Args().Slice(), "FILE")
			if err != nil {
				return err
			}
			return p.WithClient(c.Context, func(b *api.Client) error {
				w := terminal.NewCounted(p.Streams, "written")
				if name == "-" {
					if c.Bool("json") {
						return terminal.Usagef("--json does not go with the copy on standard output")
					}
					w.To = p.Out
					err := b.Backup(c.Context, w)
					w.Bar.Clear()
					return err
				}
				err := wholefile.WriteFrom(name, func(f *os.File) error {
					w.To = f
					return b.Backup(c.Context, w)
				})
				w.Bar.Clear()
				if err != nil {
					return err
				}
				return p.Done(c, terminal.FileWritten{File: name, Bytes: w.Bytes}, "wrote %s: %s", name, terminal.Bytes(w.Bytes))
			})
		},
	}
}
