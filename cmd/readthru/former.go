package main

import "github.com/urfave/cli/v2"

// formerCommands are the commands of earlier releases under the names that they had: hidden, and with the same output.
// They go with the release after the next.
func (p *program) formerCommands() []*cli.Command {
	hosts := hidden(p.hostsCommand())
	for old, now := range map[string]string{"list": "site learnt", "show": "site show", "forget": "site forget"} {
		p.former(sub(hosts, old), now)
	}
	fleet := hidden(p.fleetCommand())
	p.former(sub(fleet, "status"), "stats fleet")
	return []*cli.Command{
		hosts, fleet,
		p.former(p.requestsCommand(), "log"),
		p.former(p.visitsCommand(), "log visits"),
		p.former(p.sessionsCommand(), "log sessions"),
		p.former(p.disclosuresCommand(), "log disclosures"),
		p.former(p.contextCommand(), "log context"),
		p.former(p.sitesCommand(), "site list"),
		p.former(p.rulesCommand(), "site rule"),
		p.former(p.recipeCommand(), "site recipe"),
		p.former(p.usageCommand(), "stats usage"),
		p.former(p.systemCommand(), "stats system"),
		p.former(p.backupCommand(), "store backup"),
		p.former(p.restoreCommand(), "store restore"),
		p.former(p.exportCommand(), "store export"),
		p.former(p.cacheCommand(), "store cache"),
		p.former(p.indexCommand(), "store index"),
		p.former(p.usersCommand(), "user"),
		p.former(p.passwordCommand(), "user password"),
		p.former(p.tokenCommand(), "user admin-token"),
		p.former(p.upgradeCommand(), "service upgrade"),
	}
}

// former hides c, a command under a former name, and has it and its subcommands say on a terminal what they are called
// now. A script's standard error stays as it was.
func (p *program) former(c *cli.Command, now string) *cli.Command {
	if do := c.Action; do != nil {
		c.Action = func(ctx *cli.Context) error {
			if terminal(p.err) {
				p.note("this command is called \"readthru %s\" now", now)
			}
			return do(ctx)
		}
	}
	for _, s := range c.Subcommands {
		p.former(s, now+" "+s.Name)
	}
	return hidden(c)
}
