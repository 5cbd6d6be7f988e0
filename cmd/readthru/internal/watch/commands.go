package watch

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// program is the program whose commands these are.
type program struct{ *command.Program }

// Commands returns the commands of the group.
func Commands(p *command.Program) []*cli.Command { return (&program{p}).commands() }

// Former returns commands of the group under the names that they had in earlier releases.
func Former(p *command.Program) []*cli.Command { return (&program{p}).former() }

func (p *program) commands() []*cli.Command {
	return []*cli.Command{
		p.logCommand(), p.statsCommand(), p.siteCommand(), p.openCommand(),
		command.Hidden(p.checkCommand()), // site check, for keepers of sites who use nothing else
	}
}

// former returns the commands of watching under the names that they had in earlier versions: hidden, and each telling
// on standard error what it is called now.
func (p *program) former() []*cli.Command {
	hosts := command.Hidden(p.hostsCommand())
	for old, now := range map[string]string{"list": "site learnt", "show": "site show", "forget": "site forget"} {
		p.Former(command.Sub(hosts, old), now)
	}
	fleet := command.Hidden(p.fleetCommand())
	p.Former(command.Sub(fleet, "status"), "stats fleet")
	return []*cli.Command{
		hosts, fleet,
		p.Former(p.requestsCommand(), "log"),
		p.Former(p.visitsCommand(), "log visits"),
		p.Former(p.sessionsCommand(), "log sessions"),
		p.Former(p.disclosuresCommand(), "log disclosures"),
		p.Former(p.contextCommand(), "log context"),
		p.Former(p.sitesCommand(), "site list"),
		p.Former(p.rulesCommand(), "site rule"),
		p.Former(p.recipeCommand(), "site recipe"),
		p.Former(p.usageCommand(), "stats usage"),
		p.Former(p.systemCommand(), "stats system"),
	}
}
