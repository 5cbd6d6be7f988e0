package main

import (
	"github.com/urfave/cli/v2"
)

// siteCommand is about hosts: how each is treated, what was learnt, and the rules and recipes for it.
func (p *program) siteCommand() *cli.Command {
	hosts := p.hostsCommand()
	learnt := named("learnt", sub(hosts, "list"))
	learnt.Description = hosts.Description
	return &cli.Command{
		Name: "site", Usage: "show how sites are treated and what was learnt about them; rules and recipes",
		Subcommands: []*cli.Command{
			named("list", p.sitesCommand()), sub(hosts, "show"), learnt, sub(hosts, "forget"),
			named("rule", p.rulesCommand()), p.recipeCommand(), p.checkCommand(),
		},
	}
}
