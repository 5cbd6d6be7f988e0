package main

import (
	"io"
	"os"
	"time"

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
				w := &counted{bar: newBar(p.err), what: "written"}
				if name == "-" {
					if c.Bool("json") {
						return usagef("--json does not go with the copy on standard output")
					}
					w.w = p.out
					err := b.Backup(c.Context, w)
					w.bar.clear()
					return err
				}
				err := wholefile.WriteFrom(name, func(f *os.File) error {
					w.w = f
					return b.Backup(c.Context, w)
				})
				w.bar.clear()
				if err != nil {
					return err
				}
				return p.done(c, fileWritten{name, w.n}, "wrote %s: %s", name, bytesText(w.n))
			})
		},
	}
}

// fileWritten is a file that a command wrote.
type fileWritten struct {
	File  string `json:"file"`
	Bytes int64  `json:"bytes"`
}

// counted counts what passes, and shows it.
type counted struct {
	w    io.Writer
	n    int64
	bar  *bar
	what string
}

// Write implements [io.Writer].
func (c *counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	c.n += int64(n)
	if c.bar.last.IsZero() {
		c.bar.last = time.Now() // the first bytes say nothing of the whole: the first line has time
	}
	c.bar.draw(0, 0, bytesText(c.n)+" "+c.what)
	return n, err
}
