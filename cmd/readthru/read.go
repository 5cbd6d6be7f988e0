package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) readCommands() []*cli.Command {
	return []*cli.Command{
		p.runCommand(), p.fetchCommand(), p.convertCommand(), p.mcpCommand(), hidden(p.detectCommand()),
	}
}
