package watch

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/fetch/sitecheck"
)

// checkCommand is the command check: what agents get of a page, for the page's author. Its exit status fails a build
// when something is wrong.
func (p *program) checkCommand() *cli.Command {
	return &cli.Command{
		Name: "check", Usage: "say what agents get of a page of yours, and what would be better", ArgsUsage: "URL",
		Description: "It asks for the page some fifteen times, as agents do, past the cache. The status is 1 if something " +
			"is wrong.",
		Flags: []cli.Flag{command.JSONFlag()},
		Action: func(c *cli.Context) error {
			url, err := command.OneArg(c.Args().Slice(), "URL")
			if err != nil {
				return err
			}
			return p.WithClient(c.Context, func(b *api.Client) error {
				r, err := b.CheckSite(c.Context, url)
				if err != nil {
					return err
				}
				if c.Bool("json") {
					err = p.PrintJSON(r)
				} else {
					err = p.Print(checkText(r))
				}
				if n := r.Wrong(); err == nil && n > 0 {
					err = fmt.Errorf("%d of %d things are wrong", n, len(r.Findings))
				}
				return err
			})
		},
	}
}

// checkText returns a report as lines: state, name and detail of each finding, and below it what to do.
func checkText(r *sitecheck.Report) string {
	var b strings.Builder
	b.WriteString(terminal.Printable(r.FinalURL) + "\n\n")
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%-7s %-12s %s\n", f.State, f.Name, terminal.Printable(f.Detail))
		if f.Help != "" {
			b.WriteString(strings.Repeat(" ", 21) + f.Help + "\n")
		}
	}
	if r.HTMLTokens > 0 && r.MarkdownTokens > 0 {
		fmt.Fprintf(&b, "\n%d tokens as HTML, %d as markdown\n", r.HTMLTokens, r.MarkdownTokens)
	}
	return b.String()
}
