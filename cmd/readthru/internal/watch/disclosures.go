package watch

import (
	"strconv"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// disclosuresCommand is the command disclosures: the ledger of what was sent to third parties, and the switches of
// these.
func (p *program) disclosuresCommand() *cli.Command {
	flags := func() []cli.Flag {
		return []cli.Flag{&cli.IntFlag{Name: "limit", Usage: "at most `N`", Value: 50}, command.JSONFlag()}
	}
	return &cli.Command{
		Name:  "disclosures",
		Usage: "list what was sent to third parties, and switch services off",
		Flags: flags(), Action: p.disclosuresList,
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list what was sent, the newest first", Flags: flags(), Action: p.disclosuresList,
			},
			{
				Name: "services", Usage: "list the services with what they were sent in the last 30 days",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).Leaving, p.printServices),
			},
			p.serviceSwitch("off", "send nothing to a service any more", true),
			p.serviceSwitch("on", "end that", false),
		},
	}
}

// disclosuresList prints the ledger of disclosures, the newest first.
func (p *program) disclosuresList(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.DisclosureList, error) {
		return b.Disclosures(c.Context, "", c.Int("limit"))
	}, func(list *api.DisclosureList) error {
		var rows [][]string
		for _, d := range list.Disclosures {
			rows = append(rows, []string{terminal.Day(d.Time), d.Service, strconv.FormatInt(d.Bytes, 10), d.Why, d.URL})
		}
		if len(rows) == 0 {
			return p.Print("Nothing has left this machine but requests to the sites themselves.\n")
		}
		if list.Next != "" {
			p.Note("older ones are left out: --limit says how many are listed")
		}
		return p.Table([]string{"TIME", "SERVICE", "BYTES", "WHY", "ABOUT"}, rows)
	})
}

// serviceSwitch is a command that switches a service off, or on again.
func (p *program) serviceSwitch(name, usage string, off bool) *cli.Command {
	return &cli.Command{
		Name: name, Usage: usage, ArgsUsage: "SERVICE", Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			service, err := command.OneArg(c.Args().Slice(), "SERVICE")
			if err != nil {
				return err
			}
			return command.Show(p.Program, c, func(b *api.Client) (*api.Leaving, error) {
				return b.SwitchService(c.Context, api.ServiceSwitch{Service: service, Off: off})
			}, p.printServices)
		},
	}
}

// printServices prints the third parties that could be sent something, whether each is on, and what it was sent in the
// last 30 days.
func (p *program) printServices(l *api.Leaving) error {
	var rows [][]string
	for _, s := range l.Services {
		state := "not configured"
		switch {
		case s.Off:
			state = "off"
		case s.Configured:
			state = "on"
		}
		last := "-"
		if !s.Last.IsZero() {
			last = terminal.Day(s.Last)
		}
		rows = append(rows, []string{s.Service, state, strconv.FormatInt(s.Sent, 10), strconv.FormatInt(s.Bytes, 10), last})
	}
	if len(rows) == 0 {
		return p.Print("No service is configured, and nothing has left this machine for one.\n")
	}
	if l.More {
		p.Note("there is more than was counted")
	}
	return p.Table([]string{"SERVICE", "STATE", "SENT", "BYTES", "LAST"}, rows)
}
