package operate

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// userCommand is about who may use the daemon.
func (p *program) userCommand() *cli.Command {
	c := command.Named("user", p.usersCommand())
	c.Subcommands = append(c.Subcommands, command.Named("admin-token", p.tokenCommand()), p.passwordCommand())
	return c
}
