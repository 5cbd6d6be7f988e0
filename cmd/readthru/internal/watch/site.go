package watch

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// siteCommand is about hosts: how each is treated, what was learnt, and the rules and recipes for it.
func (p *program) siteCommand() *cli.Command {
	hosts := p.hostsCommand()
	learnt := command.Named("learnt", command.Sub(hosts, "list"))
	learnt.Description = hosts.Description
	return &cli.Command{
		Name: "site", Usage: "show how sites are treated and what was learnt about them; rules and recipes",
		Subcommands: []*cli.Command{
			command.Named("list", p.sitesCommand()), p.siteShowCommand(), learnt, command.Sub(hosts, "forget"),
			p.siteRemoveCommand(), command.Named("rule", p.rulesCommand()), p.recipeCommand(), p.checkCommand(),
		},
	}
}
