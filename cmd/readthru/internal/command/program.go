package command

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// Program is one run of readthru: where it reads and writes, and the values of the flags that every command has.
type Program struct {
	terminal.Streams
	DataDirFlag, ConfigFlag string

	// Ignores reports whether a signal was ignored when the program started.
	Ignores func(os.Signal) bool

	// ReleaseSignals stops the handling of signals that run set up, for a command with its own handling.
	ReleaseSignals func()
}

// Load reads the configuration that the flags of the command line and the environment name.
func (p *Program) Load(flags ...settings.Set) (*settings.Settings, error) {
	return settings.Load(p.DataDirFlag, p.ConfigFlag, flags...)
}

// LoadAlone is load for a command without arguments.
func (p *Program) LoadAlone(c *cli.Context) (*settings.Settings, error) {
	if err := NoArgs(c.Args().Slice()); err != nil {
		return nil, err
	}
	return p.Load()
}

// FullName returns the names of c's command and of those above it: "store cache". The library's own FullName knows two
// levels.
func FullName(c *cli.Context) string {
	var names []string
	for _, level := range c.Lineage() {
		if level.Command != nil && level.Command.Name != "" && level.Command.Name != c.App.Name {
			names = append(names, level.Command.Name)
		}
	}
	slices.Reverse(names)
	return strings.Join(names, " ")
}
