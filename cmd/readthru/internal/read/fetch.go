package read

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/page"
)

// fetchCommand is the command fetch: pages as markdown or in another form, on standard output.
func (p *program) fetchCommand() *cli.Command {
	return &cli.Command{
		Name:        "fetch",
		Usage:       "print pages as markdown",
		ArgsUsage:   "URL…",
		Description: "A URL of - stands for a list of URLs on standard input, one in a line, where # begins a comment.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{
				Name: "format", Value: "markdown",
				Usage: "`FORM`: markdown, text, html, json, prompt or screenshot (a PNG)",
			},
			&cli.BoolFlag{Name: "json", Usage: "the same as --format json: one page object per line"},
			&cli.BoolFlag{Name: "force", Usage: "ask the origin even if the cache could answer"},
			&cli.IntFlag{Name: "max-chars", Usage: "cut after `N` characters", DefaultText: "no limit"},
			&cli.IntFlag{Name: "max-tokens", Usage: "cut at about `N` tokens", DefaultText: "no limit"},
			&cli.IntFlag{
				Name: "start", Usage: "skip the first `N` characters: the place where an earlier answer was cut",
				DefaultText: "none",
			},
			&cli.StringFlag{
				Name:  "section",
				Usage: "print only the section with this `ID` or heading; a #fragment in the URL does the same",
			},
		}, append(command.ContentFlags(),
			&cli.StringFlag{
				Name:  "summary",
				Usage: "print a summary instead of the page: `KIND` is auto, brief, usage, api, architecture or evaluation",
			},
			&cli.StringFlag{
				Name:  "hint",
				Usage: "`TEXT` that says what the page is read for; it chooses the kind of an auto summary",
			},
			&cli.StringFlag{Name: "render", Usage: "`WHEN` to use a browser: auto, always or never", DefaultText: "render.mode"},
			&cli.StringFlag{Name: "wait-for", Usage: "wait in the browser until this `CSS` selector matches"},
			&cli.BoolFlag{
				Name:  "console",
				Usage: "render the page and print its errors on standard error; with json in the page object",
			},
			&cli.BoolFlag{Name: "no-remote", Usage: "send nothing to third parties"},
			&cli.BoolFlag{Name: "no-store", Usage: "store nothing"},
			&cli.BoolFlag{Name: "no-front-matter", Usage: "leave out the YAML block at the top"},
			&cli.StringFlag{
				Name: "changed-since",
				Usage: "print only the sections that changed since `TIME`: a day, a time, an age (36h, 7d), or a version's " +
					"content_hash",
			},
			command.SessionFlag(),
		)...),
		Action: func(c *cli.Context) error {
			urls := c.Args().Slice()
			if len(urls) == 0 {
				return terminal.WithHint(terminal.Usagef("URL is missing"), "readthru fetch https://go.dev/doc/")
			}
			urls, listed, err := p.withList(urls)
			if err != nil {
				return terminal.Mistake(err)
			}
			format := c.String("format")
			if c.Bool("json") {
				format = "json"
			}
			if c.String("hint") != "" && c.String("summary") != "auto" {
				return terminal.Usagef("--hint needs --summary auto, whose kind it chooses")
			}
			r := api.FetchRequest{
				Summary: c.String("summary"), Hint: c.String("hint"),
				Format: format, Force: c.Bool("force"), MaxChars: c.Int("max-chars"), MaxTokens: c.Int("max-tokens"),
				Start: c.Int("start"), Section: c.String("section"), WholePage: c.Bool("whole-page"),
				Selector: c.String("selector"), Drop: c.String("drop"),
				Links: c.String("links"), Images: c.String("images"), Receipts: c.Bool("receipts"),
				Render: c.String("render"), WaitFor: c.String("wait-for"), Console: c.Bool("console"), Session: c.String("session"),
				Agent: "readthru/" + releases.Version,
			}
			if c.Bool("no-remote") {
				r.Remote = new(false)
			}
			if c.Bool("no-store") {
				r.Persist = new(false)
			}
			if since := c.String("changed-since"); since != "" {
				if err := checkChangedSince(r); err != nil {
					return err
				}
				return p.WithClient(c.Context, func(b *api.Client) error { return p.printChanges(c.Context, b, urls, r, since) })
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			if r.Summary != "" && (format == "markdown" || format == "text") {
				r.Format = "summary" // the reader gets nothing else, and the log says so
			}
			front := s.Convert.FrontMatter && !c.Bool("no-front-matter")
			return p.WithClient(c.Context, func(b *api.Client) error {
				return p.fetchAll(c.Context, b, urls, r, format, front, listed)
			})
		},
	}
}

// withList puts the URLs of standard input in the place of -, and reports whether there was one. The error names the
// first that is no URL.
func (p *program) withList(args []string) (urls []string, listed bool, err error) {
	for _, raw := range args {
		if raw == "-" && !listed {
			list, err := command.ReadURLs(p.In, "standard input")
			if err != nil {
				return nil, false, err
			}
			urls, listed = append(urls, list...), true
			continue
		}
		if _, err := page.Parse(raw); err != nil {
			return nil, false, err
		}
		urls = append(urls, raw)
	}
	return urls, listed, nil
}

// fetchAll prints the pages in the given order. A page that fails does not stop the others.
func (p *program) fetchAll(ctx context.Context, b *api.Client, urls []string, r api.FetchRequest,
	format string, front, listed bool,
) error {
	failures, last := p.FetchEach(ctx, b, urls, r, func(i int, got command.Fetched) error {
		if got.Err != nil {
			return got.Err
		}
		return p.printPage(got.Page, r, format, front, i > 0)
	})
	if listed {
		p.TellFailures(failures, urls)
	}
	return last
}

// printPage prints a page in its format, with its warnings on standard error. A page that could not be fetched is an
// error; with json it is printed nevertheless.
func (p *program) printPage(pg *page.Page, r api.FetchRequest, format string, front, follows bool) error {
	if format == "json" {
		enc := json.NewEncoder(p.Out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(pg); err != nil {
			return err
		}
	}
	if pg.Error != nil {
		return command.PageError(pg.Error)
	}
	if err := partMissing(pg.Warnings, r.Section, r.Selector, page.MaskString(pg.URL)); err != nil {
		return err
	}
	wall := pageWall(pg)
	if format == "json" {
		return wall
	}
	summarised := pg.Summary != "" && r.Summary != "" // a stored summary comes with every hit, asked for or not
	for _, w := range pg.Warnings {
		if summarised || format == "prompt" || !summary.Warns(w) {
			p.Note("warning: %s: %s", w, page.MaskString(pg.URL))
		}
	}
	if slices.Contains(pg.Warnings, "no-browser") {
		p.Note("[⚠️ No browser: fetched without JavaScript]")
		p.Note("hint: %s", api.BrowserRemedy)
	}
	p.NoteRemoved(pg.Removed)
	for _, line := range pg.Console {
		p.Note("console: %s", terminal.Printable(line))
	}
	if format == "screenshot" {
		return p.printImage(pg.Screenshot)
	}
	if r.Format == "summary" && format == "text" {
		pg = asText(pg)
	}
	if pg.Next > 0 {
		p.Note("hint: the page was cut: continue with --start %d", pg.Next)
	}
	text := pg.Content
	if front && pg.ContentFormat == "markdown" && r.Start == 0 {
		text = command.WithFrontMatter(pg)
	}
	if follows {
		text = "\n" + text
	}
	if slices.Contains(pg.Warnings, "truncated") && !strings.HasSuffix(text, "\n") {
		text += "\n" // the cut removed the end of the line
	}
	return errors.Join(p.Print(text), wall)
}

// partMissing returns an error for a part that a command names and the page does not have. The whole page is not given
// in its place: it may cost an agent a hundred times as many tokens. A fragment of a URL may be one of the page's own
// that is no section, so that it is not asked here.
func partMissing(warnings []string, section, selector, of string) error {
	switch {
	case section != "" && slices.Contains(warnings, "section-missing"):
		return terminal.WithHint(fmt.Errorf("%s has no section %q", of, section),
			"readthru pages outline URL lists the sections of a page that is stored")
	case selector != "" && slices.Contains(warnings, "selector-missing"):
		return terminal.WithHint(fmt.Errorf("nothing on %s matches %q", of, selector),
			"readthru fetch --format html URL prints the page's HTML")
	}
	return nil
}

// pageWall returns an error for what stands in the place of a page that its origin shows to humans alone (a bot wall),
// with what may help.
func pageWall(pg *page.Page) error {
	if !slices.Contains(pg.Warnings, page.WarnWall) {
		return nil
	}
	what, help := "a bot wall", "readthru gets round no wall: "+page.WallHelp
	if w := pg.Wall; w != nil {
		if w.By != "" {
			what += " of " + w.By
		}
		if !w.Copy.IsZero() {
			help += fmt.Sprintf("; readthru pages show %s prints the copy of %s", pg.Doc, w.Copy.Format(time.DateOnly))
		}
	}
	return terminal.WithHint(fmt.Errorf("%s is %s and not the page", page.MaskString(pg.URL), what), help)
}

// asText returns a page whose markdown is text.
func asText(pg *page.Page) *page.Page {
	text := *pg
	text.Content, text.ContentFormat = convert.Text(pg.Content), "text"
	return &text
}

// printImage writes an image, unless standard output is a terminal.
func (p *program) printImage(png []byte) error {
	if terminal.Is(p.Out) {
		return terminal.WithHint(terminal.Usagef("a screenshot cannot be printed on a terminal"),
			"write it to a file: readthru fetch --format screenshot URL >page.png")
	}
	_, err := p.Out.Write(png)
	return err
}
