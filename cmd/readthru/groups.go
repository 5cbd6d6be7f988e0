package main

import (
	"fmt"
	"maps"
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

// synonyms are what other programs call our commands, by ours.
var synonyms = map[string]string{
	"setup": "install init", "serve": "start up daemon proxy", "doctor": "check health", "service status": "status",
	"log": "logs tail history", "service upgrade": "update self-update", "pages": "ls list", "kb": "bases knowledge",
	"fetch": "get read open-url scrape curl", "stop": "down quit kill", "--help": "man commands", "site": "host hosts",
	"pages rm": "remove rm delete del", "uninstall": "remove",
}

// verbs are what other programs call the verbs of our commands, by ours.
var verbs = map[string]string{
	"rm": "remove delete del forget clear", "forget": "remove rm delete del clear", "clear": "remove rm delete del forget",
	"list": "ls all", "show": "get info view cat", "get": "show info view cat",
	"add": "new create make set", "new": "add create make", "set": "add change edit",
}

// meant returns the commands by which other programs would call what name says, or one whose name is nearly that. Top
// says whether commands are those of the program, and not the subcommands of one.
func meant(name string, commands []*cli.Command, top bool) (found []string) {
	known := slices.DeleteFunc(slices.Clone(commands), func(c *cli.Command) bool { return c.Hidden })
	if len(known) == 0 {
		known = commands // of a former name
	}
	if top {
		for _, ours := range slices.Sorted(maps.Keys(synonyms)) {
			if slices.Contains(strings.Fields(synonyms[ours]), name) {
				found = append(found, ours)
			}
		}
	} else {
		for _, c := range known {
			if slices.Contains(strings.Fields(verbs[c.Name]), name) {
				return []string{c.Name}
			}
		}
	}
	if best := nearest(name, known); len(found) == 0 && best != "" {
		found = []string{best}
	}
	return found
}
