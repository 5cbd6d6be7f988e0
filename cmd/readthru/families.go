package main

import (
	"slices"

	"github.com/urfave/cli/v2"
)

// commands are the commands that the help lists, and the hidden ones that programs call.
func (p *program) commands() []*cli.Command {
	return slices.Concat(
		p.readCommands(), p.rememberCommands(), p.watchCommands(), p.setupCommands(), p.operateCommands(),
		[]*cli.Command{
			hidden(p.completionCommand()), p.completeCommand(), hidden(p.versionCommand()), hidden(p.helpCommand()),
		},
	)
}

// formerCommands are the commands of earlier releases under the names that they had: hidden, and with the same output.
// They go with the release after the next.
func (p *program) formerCommands() []*cli.Command {
	return slices.Concat(p.formerWatchCommands(), p.formerOperateCommands(), p.formerSetupCommands())
}
