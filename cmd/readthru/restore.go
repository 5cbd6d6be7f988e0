package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/store"
)

func (p *program) restoreCommand() *cli.Command {
	return &cli.Command{
		Name:        "restore",
		Usage:       "read a backup into an empty store",
		ArgsUsage:   "FILE",
		Description: "If FILE is \"-\", the backup comes from standard input.",
		Flags:       []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			name, err := oneArg(c.Args().Slice(), "FILE")
			if err != nil {
				return err
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			if findDaemon(c.Context, s.dataDir) != nil {
				return withHint(errors.New("a daemon uses the store"), "stop it first: readthru stop")
			}
			dir := filepath.Join(s.dataDir, "store")
			if err := wantEmpty(dir); err != nil {
				return err
			}
			if err := makeDataDir(s.dataDir); err != nil {
				return err
			}
			in := p.in
			if name != "-" {
				f, err := os.Open(name)
				if err != nil {
					return err
				}
				defer f.Close() //nolint:errcheck // it was only read
				in = f
			}
			read := newCounted(p.stdio, "read")
			err = restoreAside(dir, io.TeeReader(in, read), name)
			read.bar.clear()
			if err != nil {
				return err
			}
			return p.done(c, struct {
				Store string `json:"store"`
				Bytes int64  `json:"bytes"`
			}{dir, read.bytes}, "restored %s from %s", dir, name)
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
		return withHint(fmt.Errorf("%s already has a store", dir),
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
