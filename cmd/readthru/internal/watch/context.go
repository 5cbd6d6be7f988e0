package watch

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// contextCommand is the command context: the set of pages that a session has fetched (rule B37), which agents get as
// one text.
func (p *program) contextCommand() *cli.Command {
	return &cli.Command{
		Name:  "context",
		Usage: "manage what a session has fetched, which is kept apart from the cache",
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list the pages, the oldest fetch first", Flags: []cli.Flag{setFlag(), command.JSONFlag()},
				Action: p.contextList,
			},
			{
				Name: "show", Usage: "print the pages as one text for a model", ArgsUsage: "[URL…]",
				Flags: []cli.Flag{
					setFlag(),
					&cli.StringSliceFlag{Name: "exclude", Usage: "leave out the page at `URL`"},
					&cli.IntFlag{Name: "max-chars", Usage: "cut each page after `N` characters", DefaultText: "4000"},
					command.JSONFlag(),
				},
				Action: p.contextShow,
			},
			{
				Name: "rm", Usage: "remove a page; the cache keeps it", ArgsUsage: "URL",
				Flags: []cli.Flag{setFlag(), command.JSONFlag()}, Action: p.contextRemove,
			},
			{
				Name: "clear", Usage: "remove all pages; the cache keeps them", Flags: []cli.Flag{setFlag(), command.JSONFlag()},
				Action: p.contextClear,
			},
		},
	}
}

func setFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "session", EnvVars: []string{"READTHRU_SESSION"}, Usage: "`NAME` of the session",
		DefaultText: api.DefaultSession,
	}
}

// contextList lists the pages of a session's set, and says how many were dropped to make room.
func (p *program) contextList(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Context, error) {
		return b.Context(c.Context, c.String("session"), "")
	}, func(set *api.Context) error {
		var rows [][]string
		for _, pg := range set.Pages {
			rows = append(rows, []string{terminal.Day(pg.LastVisitedAt), string(pg.Type), pg.Title, pg.URL})
		}
		if set.Dropped > 0 {
			p.Note("dropped %s for newer ones", terminal.Count(set.Dropped, "page"))
		}
		return p.Table([]string{"FETCHED", "TYPE", "TITLE", "URL"}, rows)
	})
}

// contextShow prints the pages of a session's set as one text for a model. URLs that are not in the set are named on
// standard error; if nothing is left, that is an error.
func (p *program) contextShow(c *cli.Context) error {
	q := api.ContextQuery{
		Session: c.String("session"), URLs: c.Args().Slice(), Exclude: c.StringSlice("exclude"),
		MaxChars: c.Int("max-chars"),
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.ContextText, error) {
		return b.ContextText(c.Context, q)
	}, func(t *api.ContextText) error {
		for _, raw := range t.LeftOut {
			p.Note("warning: left out, because it was not fetched: %s", page.MaskString(raw))
		}
		if len(t.URLs) == 0 {
			return fmt.Errorf("session %s has fetched no page to show", t.Session)
		}
		return p.Print(t.Text + "\n")
	})
}

// contextRemove takes one page out of a session's set. The cache and the stored page stay.
func (p *program) contextRemove(c *cli.Context) error {
	raw, err := command.OneArg(c.Args().Slice(), "URL")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Removed, error) {
		return b.Forget(c.Context, c.String("session"), raw)
	}, p.printForgotten)
}

func (p *program) contextClear(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Removed, error) {
		return b.ForgetAll(c.Context, c.String("session"))
	}, p.printForgotten)
}

func (p *program) printForgotten(gone *api.Removed) error {
	text := "removed " + terminal.Count(gone.Removed, "page")
	if gone.Removed == 0 {
		text = "nothing to remove"
	}
	_, err := fmt.Fprintln(p.Out, text)
	return err
}
