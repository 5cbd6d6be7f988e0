package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// groups are the commands as the help lists them: by what a user wants to do.
var groups = []struct{ name, commands string }{
	{"Read", "run fetch convert detect mcp context recipe"},
	{"Remember", "search pages kb notes export index"},
	{"Watch", "requests visits sessions sites hosts disclosures stats usage open"},
	{"Set up", "setup env service ca config doctor demo completion upgrade uninstall"},
	{
		"Operate",
		"serve stop pause offline rules cache store backup restore users token password fleet system hook version help",
	},
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
`
}

// synonyms are what other programs call our commands and verbs, by ours.
var synonyms = map[string]string{
	"setup": "install init", "serve": "start up daemon proxy", "doctor": "status check health",
	"requests": "logs log tail",
	"upgrade":  "update self-update", "pages": "ls list", "visits": "history", "fetch": "get read open-url scrape curl",
	"stop": "down quit kill", "kb": "bases knowledge", "rm": "remove delete del forget clear",
	"delete": "remove rm del forget", "forget": "remove rm delete del clear", "clear": "remove rm delete del forget",
	"list": "ls all", "show": "get info view cat",
	"add": "new create make set", "new": "add create make", "set": "add change edit", "help": "man commands",
}

// meant returns the command by which other programs would call what name says, or one whose name is nearly that; "" if
// there is none.
func meant(name string, commands []*cli.Command) string {
	for _, c := range commands {
		if slices.Contains(strings.Fields(synonyms[c.Name]), name) {
			return c.Name
		}
	}
	return nearest(name, commands)
}
