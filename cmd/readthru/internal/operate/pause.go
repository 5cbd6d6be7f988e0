package operate

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

func (p *program) pauseCommand() *cli.Command {
	return p.switchCommand("pause", "have the daemon pass everything on untouched, or end that",
		func(s *api.SwitchChange) **bool { return &s.Paused }, func(s *api.Switches) bool { return s.Paused })
}

func (p *program) offlineCommand() *cli.Command {
	return p.switchCommand("offline", "have the daemon answer from what is stored and ask nobody, or end that",
		func(s *api.SwitchChange) **bool { return &s.Offline }, func(s *api.Switches) bool { return s.Offline })
}

// switchCommand is a command that switches something of a daemon that runs.
func (p *program) switchCommand(name, usage string, of func(*api.SwitchChange) **bool,
	is func(*api.Switches) bool,
) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "[on|off]", Flags: []cli.Flag{command.JSONFlag()},
		Description: "Without on or off it prints how it is. A daemon that is started again is as it was configured.",
		Action: func(c *cli.Context) error {
			var change api.SwitchChange
			switch c.Args().First() {
			case "on":
				*of(&change) = new(true)
			case "off":
				*of(&change) = new(false)
			case "":
			default:
				return terminal.Usagef("%s takes on or off, not %q", name, c.Args().First())
			}
			return p.WithClient(c.Context, func(b *api.Client) error {
				var now *api.Switches
				var err error
				if change == (api.SwitchChange{}) {
					now, err = b.Switches(c.Context)
				} else {
					now, err = b.Switch(c.Context, change)
				}
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.PrintJSON(now)
				}
				if is(now) {
					return p.Print(name + " is on\n")
				}
				return p.Print(name + " is off\n")
			})
		},
	}
}
