package main

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/internal/releases"
)

func (p *program) versionCommand() *cli.Command {
	return &cli.Command{
		Name:  "version",
		Usage: "print the version",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			return p.printVersion(c.Bool("json"))
		},
	}
}

func (p *program) printVersion(asJSON bool) error {
	revision, committed := commit()
	v := struct {
		Version   string `json:"version"`
		Go        string `json:"go"`
		Platform  string `json:"platform"`
		Revision  string `json:"revision,omitempty"`
		Committed string `json:"committed,omitempty"` // when, in RFC 3339
	}{releases.Version, runtime.Version(), runtime.GOOS + "/" + runtime.GOARCH, revision, committed}
	if asJSON {
		return p.PrintJSON(v)
	}
	built := v.Go + ", " + v.Platform
	if len(revision) >= 12 && len(committed) >= len(time.DateOnly) {
		built = "commit " + revision[:12] + " of " + committed[:len(time.DateOnly)] + ", " + built
	}
	_, err := fmt.Fprintf(p.Out, "readthru %s (%s)\n", v.Version, built)
	return err
}

// commit returns the commit that the program was built from and its time, if the build recorded them.
func commit() (revision, at string) {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "", ""
	}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			at = s.Value
		}
	}
	return revision, at
}
