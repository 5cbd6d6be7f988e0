package operate

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
		p.serveCommand(), p.stopCommand(), p.pauseCommand(), p.offlineCommand(), p.storeCommand(), p.userCommand(),
	}
}

func (p *program) former() []*cli.Command {
	return []*cli.Command{
		p.Former(p.backupCommand(), "store backup"),
		p.Former(p.restoreCommand(), "store restore"),
		p.Former(p.exportCommand(), "store export"),
		p.Former(p.cacheCommand(), "store cache"),
		p.Former(p.indexCommand(), "store index"),
		p.Former(p.usersCommand(), "user"),
		p.Former(p.passwordCommand(), "user password"),
		p.Former(p.tokenCommand(), "user admin-token"),
	}
}
