package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// groups are the commands as the help lists them: by what a user wants to do.
var groups = []struct{ name, commands string }{
	{"Read", "run fetch convert mcp"},
	{"Remember", "search pages kb notes"},
	{"Watch", "log stats site open"},
	{"Set up", "setup env service ca config doctor demo uninstall"},
	{"Operate", "serve stop pause offline store user"},
}

// grouped returns the template of the program's help: that of the library, with its list of commands in groups.
func grouped(commands []*cli.Command) string {
	var list strings.Builder
	for i, g := range groups {
		if i > 0 {
			list.WriteString("\n")
		}
		fmt.Fprintf(&list, "   %s\n", g.name)
		for name := range strings.FieldsSeq(g.commands) {
			if i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == name }); i >= 0 {
				fmt.Fprintf(&list, "     %-11s  %s\n", name, commands[i].Usage)
			}
		}
	}
	return `NAME:
   {{template "helpNameTemplate" .}}

USAGE:
   {{if .UsageText}}{{wrap .UsageText 3}}{{else}}{{.HelpName}} [global options] command [command options]{{end}}

COMMANDS:
` + list.String() + `
GLOBAL OPTIONS:{{template "visibleFlagTemplate" .}}

"readthru COMMAND --help" has the subcommands and options of one, with an example.
`
}
