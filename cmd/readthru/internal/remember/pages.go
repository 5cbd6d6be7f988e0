package remember

import (
	"fmt"
	"strconv"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// pagesCommand is the command pages: stored pages, their versions, their differences and what they were made of.
func (p *program) pagesCommand() *cli.Command {
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.StringFlag{Name: "host", Usage: "list only pages of `HOST`"},
			&cli.StringFlag{Name: "query", Usage: "list only pages with `TEXT` in title or URL"},
			&cli.StringFlag{Name: "kind", Usage: "list only pages of the `TYPE` (github, docs, …)"},
			&cli.StringFlag{Name: "source", Usage: "list only pages whose markdown came from `STEP`"},
			&cli.StringFlag{Name: "warning", Usage: "list only pages with a warning that begins with `TEXT`, or any"},
			&cli.StringFlag{Name: "since", Usage: "list only pages fetched since `TIME` (2026-01-31, 36h, 7d)"},
			&cli.StringFlag{Name: "sort", Value: "recent", Usage: "`ORDER`: recent, visits, url, tokens or saved"},
			command.LimitFlag(), command.CursorFlag(), command.JSONFlag(),
		}
	}
	return &cli.Command{
		Name:   "pages",
		Usage:  "list pages that were read, their versions and differences",
		Flags:  flags(),
		Action: p.listPages,
		Subcommands: []*cli.Command{
			command.Hidden(&cli.Command{Name: "list", Usage: "list pages", Flags: flags(), Action: p.listPages}),
			{
				Name: "show", Usage: "print a stored page", ArgsUsage: "URL|DOC", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "URL", (*api.Client).Page, p.showPage),
			},
			{
				Name: "versions", Usage: "list the versions of a page", ArgsUsage: "URL|DOC",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "URL", (*api.Client).Versions, p.pageVersions),
			},
			{
				Name: "diff", Usage: "print the difference between two versions of a page", ArgsUsage: "URL|DOC [A [B]]",
				Description: "A and B name versions by the first digits of a content hash, or by how many versions back they " +
					"are; B is the newest one. Without them, diff prints the last change.",
				Flags: []cli.Flag{command.JSONFlag()}, Action: p.diffPage,
			},
			{
				Name: "outline", Usage: "print the headings of a page, and where its tokens are", ArgsUsage: "URL|DOC",
				Flags: []cli.Flag{
					&cli.BoolFlag{Name: "tokens", Usage: "say what each section and each kind of block costs a model"},
					command.JSONFlag(),
				}, Action: p.outlinePage,
			},
			{
				Name: "section", Usage: "print the section under a heading, or around a passage that search found",
				ArgsUsage: "[URL|DOC] HEADING|PASSAGE",
				Flags:     []cli.Flag{command.JSONFlag()}, Action: p.sectionOfPage,
			},
			{
				Name: "verify", Usage: "print where a sentence is in a page; exit status 1 if it is not",
				ArgsUsage: "[URL|DOC] QUOTE", Flags: []cli.Flag{command.JSONFlag()}, Action: p.verifyQuote,
			},
			{
				Name: "original", Usage: "print what the origin answered for a page", ArgsUsage: "URL|DOC",
				Flags:  []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "URL", (*api.Client).Original, p.originalOfPage),
			},
			{
				Name: "convert", Usage: "convert a page again from what its origin answered, as it is stored",
				ArgsUsage: "URL|DOC", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.One(p.Program, "URL", (*api.Client).ConvertPage, p.convertedPage),
			},
			{
				Name: "rm", Usage: "delete a page, or all pages of a host, with versions and stored responses",
				ArgsUsage: "URL|DOC", Flags: []cli.Flag{
					&cli.StringFlag{Name: "host", Usage: "delete all pages of `HOST`, with its port unless that is the default"},
					&cli.BoolFlag{Name: "dry-run", Usage: "with --host, print the pages and delete none"},
					command.JSONFlag(),
				}, Action: p.removePage,
			},
		},
	}
}

// listPages lists the stored pages that the flags select. An argument is an unknown subcommand, not a page.
func (p *program) listPages(c *cli.Context) error {
	if c.Args().Present() {
		return command.UnknownCommand(c.Command.Subcommands, "pages ", c.Args().First())
	}
	if err := command.OneOf("sort", c.String("sort"), api.PageSorts...); err != nil {
		return err
	}
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	since, err := api.Since(c.String("since"), time.Now())
	if err != nil {
		return err
	}
	q := api.PageQuery{
		Host: c.String("host"), Text: c.String("query"), Sort: c.String("sort"), Limit: limit,
		Cursor: c.String("cursor"), Kind: c.String("kind"), Source: c.String("source"), Warning: c.String("warning"),
		Since: since,
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		list, err := b.Pages(c.Context, q)
		if err != nil {
			return err
		}
		heads := []string{"DOC", "LAST READ", "VISITS", "TOKENS", "TITLE", "URL"}
		if q.Sort == "saved" {
			heads[3] = "SAVED"
		}
		var rows [][]string
		for _, pg := range list.Pages {
			tokens := strconv.Itoa(pg.Tokens)
			if q.Sort == "saved" {
				tokens = strconv.FormatInt(pg.Saved(), 10)
			}
			rows = append(rows, []string{
				pg.Doc, terminal.Day(pg.LastVisitedAt), strconv.FormatInt(pg.VisitCount, 10), tokens, pg.Title, pg.URL,
			})
		}
		p.More(c, list.Next)
		return p.List(c, list, heads, rows)
	})
}

// showPage prints a stored page with its front matter, as fetch would; no origin is asked.
func (p *program) showPage(pg *page.Page) error {
	return p.Print(command.WithFrontMatter(pg))
}

// pageVersions lists the versions of a page, with how many versions back each is, as diff takes them.
func (p *program) pageVersions(list *api.VersionList) error {
	var rows [][]string
	for i, v := range list.Versions {
		rows = append(rows, []string{
			strconv.Itoa(i), terminal.Day(v.Time), short(v.ContentHash), strconv.Itoa(v.Tokens),
			string(v.Source), v.Title,
		})
	}
	return p.Table([]string{"BACK", "TIME", "HASH", "TOKENS", "SOURCE", "TITLE"}, rows)
}

// diffPage prints the difference between two versions of a page, or its last change, as a unified diff.
func (p *program) diffPage(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) < 1 || len(args) > 3 {
		return terminal.Usagef("want URL, and at most two versions")
	}
	args = append(args, "", "")
	return command.Show(p.Program, c, func(b *api.Client) (*api.Diff, error) {
		return b.Diff(c.Context, args[0], args[1], args[2])
	}, func(d *api.Diff) error {
		switch same := d.A.ContentHash == d.B.ContentHash; {
		case same && args[1] == "":
			p.Note("there is one version only, of %s: nothing to compare it with", terminal.Day(d.B.Time))
		case same:
			p.Note("both name one version, of %s", terminal.Day(d.B.Time))
		case !d.Changed:
			p.Note("no difference")
		}
		if older := d.Versions - 2; older > 0 && args[1] == "" {
			p.Note("%s: readthru pages versions %s lists them, pages diff %s 2 compares with the one 2 back",
				terminal.Count(older, "older version"), args[0], args[0])
		}
		return p.Print(d.Unified)
	})
}

// originalOfPage prints the stored response that a page was made of, as the origin sent it.
func (p *program) originalOfPage(o *api.Original) error {
	return p.Print(o.Content)
}

// convertedPage says that the markdown of a page was made again from the stored response, by the rules of this version.
func (p *program) convertedPage(*page.Page) error {
	p.Note("converted")
	return nil
}

// removePage deletes a stored page, or with --host all pages of a host. The log and the counts of visits stay.
func (p *program) removePage(c *cli.Context) error {
	if host := c.String("host"); host != "" {
		if c.Args().Present() {
			return terminal.Usagef("name a page or --host, not both")
		}
		return p.WithClient(c.Context, func(b *api.Client) error { return p.removeHost(c, b, host) })
	}
	if c.Bool("dry-run") {
		return terminal.Usagef("--dry-run goes with --host")
	}
	ref, err := command.OneArg(c.Args().Slice(), "URL")
	if err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		if err := b.DeletePage(c.Context, ref); err != nil {
			return err
		}
		return p.Done(c, command.IsDeleted{Deleted: true}, "removed")
	})
}

// removeHost deletes all pages of a host.
func (p *program) removeHost(c *cli.Context, b *api.Client, host string) error {
	var pages []*page.Page
	for q := (api.PageQuery{Host: host, Sort: "url", Limit: 500}); ; {
		list, err := b.Pages(c.Context, q)
		if err != nil {
			return err
		}
		pages = append(pages, list.Pages...)
		if q.Cursor = list.Next; list.Next == "" {
			break
		}
	}
	for i, pg := range pages {
		if c.Bool("dry-run") {
			if err := p.Print(pg.URL + "\n"); err != nil {
				return err
			}
		} else if err := b.DeletePage(c.Context, pg.Doc); err != nil {
			return fmt.Errorf("%w, after %s", err, terminal.Count(i, "page"))
		}
	}
	if c.Bool("dry-run") {
		p.Note("would remove %s", terminal.Count(len(pages), "page"))
		return nil
	}
	p.Note("the log and the counts of visits keep its addresses: readthru site rm %s removes them, too", host)
	return p.Done(c, api.Removed{Removed: len(pages)}, "removed %s", terminal.Count(len(pages), "page"))
}

func short(hash string) string { return hash[:min(12, len(hash))] }
