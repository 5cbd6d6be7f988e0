package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) operateCommands() []*cli.Command {
	return []*cli.Command{
		p.serveCommand(), p.stopCommand(), p.pauseCommand(), p.offlineCommand(), p.storeCommand(), p.userCommand(),
	}
}

func (p *program) formerOperateCommands() []*cli.Command {
	return []*cli.Command{
		p.former(p.backupCommand(), "store backup"),
		p.former(p.restoreCommand(), "store restore"),
		p.former(p.exportCommand(), "store export"),
		p.former(p.cacheCommand(), "store cache"),
		p.former(p.indexCommand(), "store index"),
		p.former(p.usersCommand(), "user"),
		p.former(p.passwordCommand(), "user password"),
		p.former(p.tokenCommand(), "user admin-token"),
	}
}
