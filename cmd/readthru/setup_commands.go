package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) setupCommands() []*cli.Command {
	return []*cli.Command{
		p.setupCommand(), p.envCommand(), p.serviceCommand(), p.caCommand(), p.configCommand(), p.doctorCommand(),
		p.demoCommand(), p.uninstallCommand(), hidden(p.hookCommand()),
	}
}

func (p *program) formerSetupCommands() []*cli.Command {
	return []*cli.Command{p.former(p.upgradeCommand(), "service upgrade")}
}
