package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// commands are the commands that the help lists, and the hidden ones that programs call.
func (p *program) commands() []*cli.Command {
	return []*cli.Command{
		p.runCommand(), p.fetchCommand(), p.convertCommand(), p.mcpCommand(),
		p.searchCommand(), p.pagesCommand(), p.kbCommand(), p.notesCommand(),
		p.logCommand(), p.statsCommand(), p.siteCommand(), p.openCommand(),
		p.setupCommand(), p.envCommand(), p.serviceCommand(), p.caCommand(), p.configCommand(), p.doctorCommand(),
		p.demoCommand(), p.uninstallCommand(),
		p.serveCommand(), p.stopCommand(), p.pauseCommand(), p.offlineCommand(), p.storeCommand(), p.userCommand(),
		hidden(p.detectCommand()), hidden(p.hookCommand()), hidden(p.completionCommand()), p.completeCommand(),
		hidden(p.versionCommand()), hidden(p.helpCommand()),
	}
}

// logCommand is about what happened: requests, visits, sessions, and what was sent to third parties.
func (p *program) logCommand() *cli.Command {
	c := named("log", p.requestsCommand())
	c.Usage = "list what was asked for and answered, and why; visits, sessions, what left this machine"
	c.Subcommands = append(c.Subcommands, p.visitsCommand(), p.sessionsCommand(), p.disclosuresCommand(),
		p.contextCommand())
	return c
}

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

// userCommand is about who may use the daemon.
func (p *program) userCommand() *cli.Command {
	c := named("user", p.usersCommand())
	c.Subcommands = append(c.Subcommands, named("admin-token", p.tokenCommand()), p.passwordCommand())
	return c
}

// named returns c under another name.
func named(name string, c *cli.Command) *cli.Command {
	c.Name = name
	return c
}

// hidden returns c, which the help does not list.
func hidden(c *cli.Command) *cli.Command {
	c.Hidden = true
	return c
}

// sub returns the subcommand of c with a name, which c has.
func sub(c *cli.Command, name string) *cli.Command {
	return c.Subcommands[slices.IndexFunc(c.Subcommands, func(s *cli.Command) bool { return s.Name == name })]
}
