package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) watchCommands() []*cli.Command {
	return []*cli.Command{p.logCommand(), p.statsCommand(), p.siteCommand(), p.openCommand()}
}

func (p *program) formerWatchCommands() []*cli.Command {
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
	}
}
