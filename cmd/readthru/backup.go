package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"readthru/api"
)

func (p *program) backupCommand() *cli.Command {
	return &cli.Command{
		Name:        "backup",
		Usage:       "write a consistent copy of the store",
		ArgsUsage:   "FILE",
		Description: "If FILE is \"-\", the copy goes to standard output. It does not contain the authority.",
		Action: func(c *cli.Context) error {
			name, err := oneArg(c.Args().Slice(), "FILE")
			if err != nil {
				return err
			}
			return p.withClient(c.Context, func(b *api.Client) error {
				if name == "-" {
					return b.Backup(c.Context, p.out)
				}
				return writeWhole(name, func(f *os.File) error { return b.Backup(c.Context, f) })
			})
		},
	}
}

// writeWhole writes a file completely or not at all, for its owner only.
func writeWhole(name string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err // which names a temporary file
		}
		return fmt.Errorf("write %s: %w", name, err)
	}
	err = write(f)
	if err == nil {
		err = f.Sync()
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error is returned
		return fmt.Errorf("write %s: %w", name, err)
	}
	return nil
}
