package watch

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// logCommand is about what happened: requests, visits, sessions, and what was sent to third parties.
func (p *program) logCommand() *cli.Command {
	c := command.Named("log", p.requestsCommand())
	c.Usage = "list what was asked for and answered, and why; visits, sessions, what left this machine"
	c.Subcommands = append(c.Subcommands, p.visitsCommand(), p.sessionsCommand(), p.disclosuresCommand(),
		p.contextCommand())
	return c
}
