package watch

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// sitesCommand is the command sites: how each host is treated (intercepted, tunnelled, blocked), and because of what.
func (p *program) sitesCommand() *cli.Command {
	return &cli.Command{
		Name: "sites", ArgsUsage: "[HOST]",
		Usage: "list hosts, those treated differently first, with what is done and why",
		Flags: []cli.Flag{
			&cli.IntFlag{
				Name: "limit", Usage: "at most `N` hosts treated like all others, those with the most visits", Value: 100,
			},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return terminal.Usagef("name one HOST, or none")
			}
			return p.WithClient(c.Context, func(b *api.Client) error {
				list := &api.SiteList{}
				var err error
				if host := c.Args().First(); host != "" {
					var site *api.Site
					if site, err = b.Site(c.Context, host); err == nil {
						list.Sites = []api.Site{*site}
					}
				} else {
					list, err = b.Sites(c.Context, api.SiteQuery{Limit: c.Int("limit")})
				}
				if err != nil {
					return err
				}
				if c.Bool("json") {
					return p.PrintJSON(list)
				}
				var rows [][]string
				for _, s := range list.Sites {
					rule, learnt := "-", []string{}
					if len(s.Rules) > 0 {
						rule = s.Rules[0].Says() + " (" + s.Rules[0].Source + ")"
						if path := s.Rules[0].Path; path != "" {
							rule = path + ": " + rule
						}
					}
					for _, f := range s.Facts {
						learnt = append(learnt, string(f.Trait))
					}
					rows = append(rows, []string{
						s.Host, terminal.OrDash(s.Treatment), terminal.OrDash(s.Why), rule, terminal.OrDash(strings.Join(learnt, " ")),
						strconv.FormatInt(s.Visits, 10), strconv.FormatInt(s.Hits, 10), terminal.OrDash(s.Exception),
					})
				}
				if list.More {
					p.Note("hosts are left out: --limit says how many are listed")
				}
				apart := "DIFFERS BY"
				if c.Command.Name == "sites" { // the former name, whose columns scripts read
					apart = "APART"
				}
				return p.Table([]string{"HOST", "TREATMENT", "WHY", "RULE", "LEARNT", "VISITS", "HITS", apart}, rows)
			})
		},
	}
}

// siteShowCommand is the command site show: all that is known of one host.
func (p *program) siteShowCommand() *cli.Command {
	return &cli.Command{
		Name: "show", ArgsUsage: "HOST",
		Usage:  "print how a host is treated and why, its rules, and what was learnt about it",
		Flags:  []cli.Flag{command.JSONFlag()},
		Action: command.One(p.Program, "HOST", (*api.Client).Site, p.printSite),
	}
}

// siteRemoveCommand is for people who want a host forgotten whole.
func (p *program) siteRemoveCommand() *cli.Command {
	return &cli.Command{
		Name: "rm", ArgsUsage: "HOST",
		Usage: "remove all that is kept of a host, at all its ports",
		Description: "Its pages go with their versions and visits, its stored responses, what was learnt about it, its " +
			"counts, and the requests in the log that name it, in files too. Rules, notes, imported documents of knowledge " +
			"bases, the list of what left this machine, backups, exports and recordings stay. readthru store compact then " +
			"removes the bytes.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "dry-run", Usage: "say how much would be removed, and remove nothing"}, command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			host, err := command.OneArg(c.Args().Slice(), "HOST")
			if err != nil {
				return err
			}
			return p.WithClient(c.Context, func(b *api.Client) error {
				gone, err := b.RemoveSite(c.Context, host, c.Bool("dry-run"))
				if err != nil {
					return err
				}
				text := fmt.Sprintf("%s, %s, %s", terminal.Count(gone.Pages, "page"), terminal.Count(gone.Visits, "visit"),
					terminal.Count(gone.Requests, "request"))
				if gone.Facts > 0 {
					text += ", " + terminal.Count(gone.Facts, "thing") + " learnt of it"
				}
				if c.Bool("dry-run") {
					text = "would remove " + text + ", and its stored responses"
				} else {
					text = "removed " + text + ", " + terminal.Count(gone.Responses, "other stored response")
				}
				kept := gone.Visits > 0 || gone.Pages+gone.Requests+gone.Facts+gone.Responses > 0
				if !kept && !c.Bool("dry-run") {
					text = "nothing was kept of " + host
				}
				if gone.Rules > 0 {
					p.Note("what stays for it: %s, see readthru site rule list", terminal.Count(gone.Rules, "rule"))
				}
				if err := p.Done(c, gone, "%s", text); err != nil || !kept || c.Bool("dry-run") {
					return err
				}
				p.Note("its text stays in the files until they are tidied; to remove it at once: readthru store compact")
				return nil
			})
		},
	}
}

// printSite prints how a host is treated, its rules and what was learnt about it, one fact to a line.
func (p *program) printSite(s *api.Site) error {
	treatment := "unknown: no daemon runs"
	if s.Treatment != "" {
		treatment = s.Treatment + ", because of: " + s.Why
	}
	lines := [][2]string{{"host", s.Host}, {"treatment", treatment}}
	add := func(name, text string) { lines = append(lines, [2]string{name, text}) }
	if s.Exception != "" {
		add("differs by", s.Exception)
	}
	add("visits", fmt.Sprintf("%d, %d from the cache", s.Visits, s.Hits))
	if s.Tunnels+s.Failed > 0 {
		add("lately", fmt.Sprintf("%d tunnelled, %d failed", s.Tunnels, s.Failed))
	}
	for _, r := range s.Rules {
		from := "of the file"
		if r.ID != "" {
			from = "of the store, " + r.ID
		}
		add("rule", fmt.Sprintf("%s%s: %s (%s)", r.Host, r.Path, r.Says(), from))
	}
	for _, stated := range s.Preferences {
		add("states", stated.String())
	}
	for _, l := range lines {
		if err := p.Print(fmt.Sprintf("%-15s %s\n", l[0], terminal.Printable(l[1]))); err != nil {
			return err
		}
	}
	for _, f := range s.Facts {
		if err := p.Print(explained(api.HostFact{Host: s.Host, Fact: f}) + "\n"); err != nil {
			return err
		}
	}
	return nil
}
