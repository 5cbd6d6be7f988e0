package watch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// rulesCommand is the command rules: what is done otherwise for a host or a path.
func (p *program) rulesCommand() *cli.Command {
	return &cli.Command{
		Name:  "rules",
		Usage: "list, make and remove rules for hosts and paths",
		Description: "Rules that are made here are kept in the store, take effect at once and come before those of the\n" +
			"configuration file: the first rule that matches a request applies, and of those of the store the one made last.",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the rules in the order in which they are tried", ArgsUsage: "[HOST]",
				Flags: []cli.Flag{command.JSONFlag()}, Action: p.rulesList,
			},
			{
				Name: "add", Usage: "make a rule for a host, such as a.example or *.a.example", ArgsUsage: "HOST",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "path", Usage: "only for paths like `PATTERN`, such as /docs/*"},
					&cli.StringFlag{Name: "action", Usage: "intercept, tunnel (leave alone, without TLS too) or block"},
					&cli.StringFlag{Name: "mode", Usage: "who gets markdown: auto, always, negotiate or never"},
					&cli.DurationFlag{Name: "ttl", Usage: "answers are fresh for `TIME`", DefaultText: "as the origin says"},
					&cli.BoolFlag{Name: "bypass", Usage: "pass the cache by"},
					&cli.StringFlag{Name: "render", Usage: "use of the browser: auto, always or never"},
					&cli.StringFlag{
						Name:  "preferences",
						Usage: "what is done about the preferences that origins state: auto, respect, tell or ignore",
					},
					&cli.StringFlag{Name: "log", Usage: "off: requests are neither listed nor in figures, as for favicons"},
					command.JSONFlag(),
				},
				Action: p.rulesAdd,
			},
			{
				Name: "rm", Usage: "remove a rule of the store, by its id or its host", ArgsUsage: "ID",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: p.rulesRemove,
			},
		},
	}
}

// rulesList lists the rules, of the store and of the file, in the order in which they are tried, with when each was
// used last.
func (p *program) rulesList(c *cli.Context) error {
	if c.NArg() > 1 {
		return terminal.Usagef("name one HOST, or none")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.RuleList, error) {
		return b.Rules(c.Context, api.RuleQuery{Host: c.Args().First()})
	}, func(list *api.RuleList) error {
		var rows [][]string
		for _, r := range list.Rules {
			used := "-"
			if !r.Used.IsZero() {
				used = r.Used.Local().Format(time.DateTime)
			}
			rows = append(rows, []string{
				terminal.OrDash(r.ID), r.Source, terminal.OrDash(r.Host), terminal.OrDash(r.Path), r.Says(), used,
			})
		}
		return p.Table([]string{"ID", "FROM", "HOST", "PATH", "RULE", "USED"}, rows)
	})
}

// rulesAdd makes a rule for a host in the store, before all others.
func (p *program) rulesAdd(c *cli.Context) error {
	host, err := command.OneArg(c.Args().Slice(), "HOST")
	if err != nil {
		return err
	}
	if name, path, ok := strings.Cut(host, "/"); ok && name != "" && !strings.Contains(host, "://") {
		return terminal.WithHint(terminal.Usagef("%q is not a host, but one with a path", host),
			fmt.Sprintf("name the path by an option: readthru site rule add %s --path '/%s'", name, path))
	}
	r := api.RuleFields{
		Host: host, Path: c.String("path"), Action: c.String("action"), Mode: c.String("mode"), Bypass: c.Bool("bypass"),
		Render: c.String("render"), Preferences: c.String("preferences"),
		Log: c.String("log"),
	}
	if c.IsSet("ttl") {
		r.TTL = c.Duration("ttl").String()
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Rule, error) { return b.AddRule(c.Context, r) },
		func(made *api.Rule) error {
			p.Note("undo it with: readthru site rule rm %s", made.ID)
			return p.Print("made rule " + made.ID + " for " + host + made.Path + ": " + made.Says() + "\n")
		})
}

// rulesRemove deletes a rule of the store, by its id or, if that is unambiguous, by its host.
func (p *program) rulesRemove(c *cli.Context) error {
	named, err := command.OneArg(c.Args().Slice(), "ID")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Gone, error) {
		id, err := ruleID(c.Context, b, named)
		if err != nil {
			return nil, err
		}
		return b.DeleteRule(c.Context, id)
	}, func(gone *api.Gone) error { return p.Print("removed rule " + gone.Deleted + "\n") })
}

// ruleID returns the id of the rule of the store that an argument names: itself, or that of the only rule for a host.
func ruleID(ctx context.Context, b *api.Client, named string) (string, error) {
	list, err := b.Rules(ctx, api.RuleQuery{})
	if err != nil {
		return "", err
	}
	var found []string
	for _, r := range list.Rules {
		if r.ID != "" && strings.EqualFold(r.Host, named) {
			found = append(found, r.ID)
		}
	}
	switch len(found) {
	case 0:
		return named, nil
	case 1:
		return found[0], nil
	}
	return "", fmt.Errorf("%s has %d rules in the store: name one by its id, which readthru site rule list has", named,
		len(found))
}
