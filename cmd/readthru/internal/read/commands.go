package read

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
)

// program is the program whose commands these are.
type program struct{ *command.Program }

// Commands returns the commands of the group.
func Commands(p *command.Program) []*cli.Command { return (&program{p}).commands() }

func (p *program) commands() []*cli.Command {
	return []*cli.Command{
		p.runCommand(), p.fetchCommand(), p.convertCommand(), p.mcpCommand(), command.Hidden(p.detectCommand()),
	}
}
