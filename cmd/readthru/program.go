package main

import (
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// program is one run of readthru: where it reads and writes, and the values of the flags that every command has.
type program struct {
	stdio
	dataDirFlag, configFlag string

	// ignores reports whether a signal was ignored when the program started.
	ignores func(os.Signal) bool

	// releaseSignals stops the handling of signals that run set up, for a command with its own handling.
	releaseSignals func()
}

// load reads the configuration that the flags of the command line and the environment name.
func (p *program) load(flags ...set) (*settings, error) {
	return loadSettings(p.dataDirFlag, p.configFlag, flags...)
}

// loadAlone is load for a command without arguments.
func (p *program) loadAlone(c *cli.Context) (*settings, error) {
	if err := noArgs(c.Args().Slice()); err != nil {
		return nil, err
	}
	return p.load()
}

// fullName returns the names of c's command and of those above it: "store cache". The library's own FullName knows two
// levels.
func fullName(c *cli.Context) string {
	var names []string
	for _, level := range c.Lineage() {
		if level.Command != nil && level.Command.Name != "" && level.Command.Name != c.App.Name {
			names = append(names, level.Command.Name)
		}
	}
	slices.Reverse(names)
	return strings.Join(names, " ")
}
