package operate

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/store"
)

// restoreCommand is the command restore: it reads a backup into the data directory, whose store must be empty and in
// use by no daemon.
func (p *program) restoreCommand() *cli.Command {
	return &cli.Command{
		Name:        "restore",
		Usage:       "read a backup into an empty store",
		ArgsUsage:   "FILE",
		Description: "If FILE is \"-\", the backup comes from standard input.",
		Flags:       []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			name, err := command.OneArg(c.Args().Slice(), "FILE")
			if err != nil {
				return err
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			if daemon.Find(c.Context, s.DataDir) != nil {
				return terminal.WithHint(errors.New("a daemon uses the store"), "stop it first: readthru stop")
			}
			dir := filepath.Join(s.DataDir, "store")
			if err := wantEmpty(dir); err != nil {
				return err
			}
			if err := settings.MakeDataDir(s.DataDir); err != nil {
				return err
			}
			in := p.In
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					return err
				}
				defer f.Close() //nolint:errcheck // it was only read
				in = f
			}
			read := terminal.NewCounted(p.Streams, "read")
			err = restoreAside(dir, io.TeeReader(in, read), name)
			read.Bar.Clear()
			if err != nil {
				return err
			}
			return p.Done(c, struct {
				Store string `json:"store"`
				Bytes int64  `json:"bytes"`
			}{dir, read.Bytes}, "restored %s from %s", dir, name)
		},
	}
}

// wantEmpty returns an error if a directory is not empty.
func wantEmpty(dir string) error {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if len(entries) > 0 {
		return terminal.WithHint(fmt.Errorf("%s already has a store", dir),
			"move it away first, or restore into another directory with --data-dir")
	}
	return nil
}

// restoreAside reads the backup into a new directory and moves that to dir once all of it was read: a broken backup
// leaves nothing behind.
func restoreAside(dir string, in io.Reader, name string) error {
	aside := dir + ".restoring"
	if err := os.RemoveAll(aside); err != nil {
		return err
	}
	err := store.Restore(aside, in)
	if err == nil {
		if err = os.Remove(dir); errors.Is(err, fs.ErrNotExist) {
			err = nil
		}
	}
	if err == nil {
		err = os.Rename(aside, dir)
	}
	if err != nil {
		_ = os.RemoveAll(aside) // the first error is returned
		return fmt.Errorf("restore %s: %w", name, err)
	}
	return nil
}
