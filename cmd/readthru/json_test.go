package main

import (
	"slices"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// notData are the commands that print no data of their own.
var notData = []string{
	"__complete", "completion", "demo", "help", "hook", "log clear", "mcp", "password", "requests clear", "run", "serve",
	"user password", "service logs", "service restart", // the system's own
}

func TestEveryCommandWithDataHasJSON(t *testing.T) {
	var walk func(prefix string, commands []*cli.Command)
	walk = func(prefix string, commands []*cli.Command) {
		for _, c := range commands {
			name := prefix + c.Name
			if len(c.Subcommands) > 0 {
				walk(name+" ", c.Subcommands)
				continue
			}
			has := slices.ContainsFunc(c.Flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), "json") })
			if has == slices.Contains(notData, name) {
				t.Errorf("%s: --json is %v", name, has)
			}
		}
	}
	walk("", newProgram(terminal.Streams{}).app().Commands)
}
