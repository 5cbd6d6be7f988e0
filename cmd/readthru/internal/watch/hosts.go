package watch

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/store"
)

// hostsCommand is the former command hosts: what was learnt about hosts from how they answer. Its description has a
// line for each trait of package store.
func (p *program) hostsCommand() *cli.Command {
	return &cli.Command{
		Name:  "hosts",
		Usage: "show and forget what was learnt about hosts",
		Description: "What is learnt holds for a while:\n" +
			"  rejects-ca      the client rejected our certificate there: it is tunnelled; 10 minutes, then twice as long " +
			"each time, at most a day\n" +
			"  markdown-off    the markdown of three pages was unusable: it is asked for HTML; a day, then twice as long, " +
			"at most 30 days, or until a page has good markdown\n" +
			"  strict-accept   it answered 406 to a request for markdown: it is asked without; a day, then twice as long, " +
			"at most 30 days\n" +
			"  negotiates      it answers markdown when asked for it; 30 days\n" +
			"  markdown-twins  its pages have markdown at their address with .md; 30 days\n" +
			"  needs-browser   three pages had far more text in a browser; 30 days, or until one has not\n" +
			"  loads-in-vain   a rendered page still showed only that it loads after all its time; an hour\n" +
			"  silent-events   the streams of events of a rendered page said nothing; an hour\n" +
			"  vain-workers    the workers of a rendered page computed for long and changed nothing; an hour",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list what was learnt about all hosts, and until when it holds",
				Flags: []cli.Flag{traitFlag("list only `TRAIT`, such as rejects-ca"), command.JSONFlag()}, Action: p.hostsList,
			},
			{
				Name: "show", Usage: "print what was learnt about a host", ArgsUsage: "HOST", Flags: []cli.Flag{command.JSONFlag()},
				Action: p.hostsShow,
			},
			{
				Name: "forget", Usage: "forget what was learnt about a host, or one trait of all", ArgsUsage: "HOST",
				Flags: []cli.Flag{
					traitFlag("forget `TRAIT` of all hosts"),
					&cli.BoolFlag{Name: "all", Usage: "forget everything about all hosts"}, command.JSONFlag(),
				},
				Action: p.hostsForget,
			},
		},
	}
}

func traitFlag(usage string) cli.Flag { return &cli.StringFlag{Name: "trait", Usage: usage} }

// hostsList lists what was learnt about all hosts, or one trait of all.
func (p *program) hostsList(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.HostFacts, error) {
		return b.HostFacts(c.Context, api.HostQuery{Trait: c.String("trait")})
	}, func(list *api.HostFacts) error {
		var rows [][]string
		for _, f := range list.Facts {
			rows = append(rows, []string{f.Host, string(f.Trait), terminal.Day(f.Since), terminal.Day(f.Until), f.Client})
		}
		return p.Table([]string{"HOST", "TRAIT", "SINCE", "UNTIL", "CLIENT"}, rows)
	})
}

// hostsShow prints what was learnt about one host as sentences; nothing learnt is an error, so that scripts can tell.
func (p *program) hostsShow(c *cli.Context) error {
	host, err := command.OneArg(c.Args().Slice(), "HOST")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.HostFacts, error) { return b.Host(c.Context, host) },
		func(list *api.HostFacts) error {
			if len(list.Facts) == 0 {
				return fmt.Errorf("nothing is known about %s", host)
			}
			for _, f := range list.Facts {
				if err := p.Print(explained(f) + "\n"); err != nil {
					return err
				}
			}
			return nil
		})
}

// explained says what a fact means, and until when it holds.
func explained(f api.HostFact) string {
	text := f.Trait.Means()
	if f.Client != "" {
		text = f.Client + " " + text
	}
	text = fmt.Sprintf("%-15s %s, until %s", f.Trait, text, terminal.Day(f.Until))
	if f.Times > 1 {
		text += fmt.Sprintf(" (learnt %d times)", f.Times)
	}
	return text
}

// hostsForget forgets what was learnt about one host, or one trait of all hosts, or everything: exactly one of these,
// because a command without arguments must not forget all.
func (p *program) hostsForget(c *cli.Context) error {
	host, trait := c.Args().First(), c.String("trait")
	chosen := 0
	for _, set := range []bool{host != "", trait != "", c.Bool("all")} {
		if set {
			chosen++
		}
	}
	if chosen != 1 || c.NArg() > 1 {
		return terminal.Usagef("name exactly one of HOST, --trait and --all")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Removed, error) {
		if host != "" {
			return b.ForgetHost(c.Context, host)
		}
		return b.ForgetHosts(c.Context, store.Trait(trait))
	}, func(gone *api.Removed) error {
		if gone.Removed == 0 {
			return p.Print("nothing was known\n")
		}
		return p.Print("forgot " + terminal.Count(gone.Removed, "fact") + "\n")
	})
}
