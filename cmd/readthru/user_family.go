package main

import (
	"github.com/urfave/cli/v2"
)

// userCommand is about who may use the daemon.
func (p *program) userCommand() *cli.Command {
	c := named("user", p.usersCommand())
	c.Subcommands = append(c.Subcommands, named("admin-token", p.tokenCommand()), p.passwordCommand())
	return c
}
