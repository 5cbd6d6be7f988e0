package main

import (
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/operate"
	"github.com/readthru/readthru/cmd/readthru/internal/read"
	"github.com/readthru/readthru/cmd/readthru/internal/remember"
	"github.com/readthru/readthru/cmd/readthru/internal/setup"
	"github.com/readthru/readthru/cmd/readthru/internal/watch"
)

// commands are the commands that the help lists, and the hidden ones that programs call.
func (p *program) commands() []*cli.Command {
	return slices.Concat(
		read.Commands(p.Program), remember.Commands(p.Program), watch.Commands(p.Program), setup.Commands(p.Program),
		operate.Commands(p.Program),
		[]*cli.Command{
			command.Hidden(p.completionCommand()), p.completeCommand(), command.Hidden(p.versionCommand()),
			command.Hidden(p.helpCommand()),
		},
	)
}

// formerCommands are the commands of earlier releases under the names that they had: hidden, and with the same output.
// They go with the release after the next.
func (p *program) formerCommands() []*cli.Command {
	return slices.Concat(watch.Former(p.Program), operate.Former(p.Program), setup.Former(p.Program))
}
