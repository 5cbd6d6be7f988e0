package setup

import (
	"context"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// program is the program whose commands these are.
type program struct{ *command.Program }

// Commands returns the commands of the group.
func Commands(p *command.Program) []*cli.Command { return (&program{p}).commands() }

// Overview prints what runs, what is set up, and what to do next. It is what "readthru" alone prints, and changes
// nothing.
func Overview(ctx context.Context, p *command.Program) error { return (&program{p}).overview(ctx) }

// Former returns commands of the group under the names that they had in earlier releases.
func Former(p *command.Program) []*cli.Command { return (&program{p}).former() }

func (p *program) commands() []*cli.Command {
	return []*cli.Command{
		p.setupCommand(), p.envCommand(), p.serviceCommand(), p.caCommand(), p.configCommand(),
		p.doctorCommand(), p.demoCommand(), p.uninstallCommand(), command.Hidden(p.hookCommand()),
		command.Hidden(p.signCommand()), // for the few that publish a key
	}
}

func (p *program) former() []*cli.Command {
	return []*cli.Command{p.Former(p.upgradeCommand(), "service upgrade")}
}
