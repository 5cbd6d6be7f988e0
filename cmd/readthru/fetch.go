package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/page"
)

// fetchAtOnce is how many of the pages named in one command are fetched at the same time.
const fetchAtOnce = 4

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
		}, append(contentFlags(),
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
			sessionFlag(),
		)...),
		Action: func(c *cli.Context) error {
			urls := c.Args().Slice()
			if len(urls) == 0 {
				return withHint(usagef("URL is missing"), "readthru fetch https://go.dev/doc/")
			}
			urls, listed, err := p.withList(urls)
			if err != nil {
				return usageError{err}
			}
			format := c.String("format")
			if c.Bool("json") {
				format = "json"
			}
			if c.String("hint") != "" && c.String("summary") != "auto" {
				return usagef("--hint needs --summary auto, whose kind it chooses")
			}
			r := api.FetchRequest{
				Summary: c.String("summary"), Hint: c.String("hint"),
				Format: format, Force: c.Bool("force"), MaxChars: c.Int("max-chars"), MaxTokens: c.Int("max-tokens"),
				Start: c.Int("start"), Section: c.String("section"), WholePage: c.Bool("whole-page"),
				Selector: c.String("selector"), Drop: c.String("drop"),
				Links: c.String("links"), Images: c.String("images"), Receipts: c.Bool("receipts"),
				Render: c.String("render"), WaitFor: c.String("wait-for"), Console: c.Bool("console"), Session: c.String("session"),
				Agent: "readthru/" + version,
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
				return p.withClient(c.Context, func(b *api.Client) error { return p.printChanges(c.Context, b, urls, r, since) })
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			front := s.Convert.FrontMatter && !c.Bool("no-front-matter")
			return p.withClient(c.Context, func(b *api.Client) error {
				return p.fetchAll(c.Context, b, urls, r, front, listed)
			})
		},
	}
}

// withList puts the URLs of standard input in the place of -, and reports whether there was one. The error names the
// first that is no URL.
func (p *program) withList(args []string) (urls []string, listed bool, err error) {
	for _, raw := range args {
		if raw == "-" && !listed {
			list, err := readURLs(p.in, "standard input")
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
	front, listed bool,
) error {
	failures, last := p.fetchEach(ctx, b, urls, r, func(i int, got fetched) error {
		if got.err != nil {
			return got.err
		}
		return p.printPage(got.page, r, front, i > 0)
	})
	if listed {
		p.tellFailures(failures, urls)
	}
	return last
}

// fetched is what came of one of several URLs.
type fetched struct {
	page *page.Page
	err  error
}

// fetchEach fetches pages, some at the same time, and calls do with each in the given order. It tells how far it is.
// A page that could not be fetched is an error of do.
func (p *program) fetchEach(ctx context.Context, b *api.Client, urls []string, r api.FetchRequest,
	do func(i int, got fetched) error,
) (failures int, last error) {
	results := make([]chan fetched, len(urls))
	places := make(chan struct{}, fetchAtOnce)
	for i := range urls {
		results[i] = make(chan fetched, 1)
	}
	go func() {
		for i, raw := range urls {
			places <- struct{}{}
			go func() {
				defer func() { <-places }()
				one := r
				one.URL = raw
				got, err := b.Fetch(ctx, one)
				results[i] <- fetched{got, err}
			}()
		}
	}()
	waiting := newWait(p.err)
	for i, ch := range results {
		got := await(waiting, ch, i, urls)
		err := do(i, got)
		if err == nil {
			continue
		}
		failures++
		if last != nil {
			p.tell(last) // the caller prints the last one
		}
		last = err
	}
	return failures, last
}

// printPage prints a page in its format, with its warnings on standard error. A page that could not be fetched is an
// error; with json it is printed nevertheless.
func (p *program) printPage(pg *page.Page, r api.FetchRequest, front, follows bool) error {
	format := r.Format
	if format == "json" {
		enc := json.NewEncoder(p.out)
		enc.SetEscapeHTML(false)
		if err := enc.Encode(pg); err != nil {
			return err
		}
	}
	if pg.Error != nil {
		return pageError(pg.Error)
	}
	wall := pageWall(pg)
	if format == "json" {
		return wall
	}
	summarised := pg.Summary != "" && r.Summary != "" // a stored summary comes with every hit, asked for or not
	for _, w := range pg.Warnings {
		if summarised || format == "prompt" || !summary.Warns(w) {
			p.note("warning: %s: %s", w, page.MaskString(pg.URL))
		}
	}
	if slices.Contains(pg.Warnings, "no-browser") {
		p.note("[⚠️ No browser: fetched without JavaScript]")
		p.note("hint: %s", api.BrowserRemedy)
	}
	p.noteRemoved(pg.Removed)
	for _, line := range pg.Console {
		p.note("console: %s", printable(line))
	}
	if format == "screenshot" {
		return p.printImage(pg.Screenshot)
	}
	if summarised && format != "prompt" {
		pg = summaryOf(pg)
	}
	if pg.Next > 0 {
		p.note("hint: the page was cut: continue with --start %d", pg.Next)
	}
	text := pg.Content
	if front && pg.ContentFormat == "markdown" && r.Start == 0 {
		text = withFrontMatter(pg)
	}
	if follows {
		text = "\n" + text
	}
	if slices.Contains(pg.Warnings, "truncated") && !strings.HasSuffix(text, "\n") {
		text += "\n" // the cut removed the end of the line
	}
	return errors.Join(p.print(text), wall)
}

// pageWall returns an error for what stands in the place of a page that its origin shows to humans alone.
func pageWall(pg *page.Page) error {
	if !slices.Contains(pg.Warnings, page.WarnWall) {
		return nil
	}
	what, help := "a bot wall", "readthru gets round no wall: open the page in a browser, or ask its owner"
	if w := pg.Wall; w != nil {
		if w.By != "" {
			what += " of " + w.By
		}
		if !w.Copy.IsZero() {
			help += fmt.Sprintf("; readthru pages show %s prints the copy of %s", pg.Doc, w.Copy.Format(time.DateOnly))
		}
	}
	return withHint(fmt.Errorf("%s is %s and not the page", page.MaskString(pg.URL), what), help)
}

// summaryOf returns a page whose content is its summary.
func summaryOf(pg *page.Page) *page.Page {
	short := *pg
	short.Content, short.Next = pg.Summary+"\n", 0
	if pg.ContentFormat == "text" {
		short.Content = convert.Text(short.Content)
	}
	return &short
}

// printImage writes an image, unless standard output is a terminal.
func (p *program) printImage(png []byte) error {
	if terminal(p.out) {
		return withHint(usagef("a screenshot cannot be printed on a terminal"),
			"write it to a file: readthru fetch --format screenshot URL >page.png")
	}
	_, err := p.out.Write(png)
	return err
}

// pageError returns the failure to fetch a page, with the remedy if there is one.
func pageError(e *page.Error) error {
	err := errors.New(e.Message)
	switch {
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "private or special-purpose address"):
		return withHint(err,
			"set fetch.allow_private: true to fetch private addresses; then restart the daemon")
	case e.Kind == "blocked" && strings.HasSuffix(e.Message, "list of blocked domains"):
		return withHint(err, "blocked_domains in the configuration has the list")
	case e.Kind == fetch.KindOffline:
		return withHint(err, "\"readthru offline off\" has the daemon ask origins")
	case e.Kind == "too_large":
		return withHint(err, "raise fetch.max_body")
	}
	return err
}

// withFrontMatter returns a page's markdown under its YAML block. Markdown from the origin is returned unchanged.
func withFrontMatter(pg *page.Page) string {
	if pg.Source == page.Negotiated || pg.Source == page.Alternate {
		return pg.Content
	}
	return pg.FrontMatter() + pg.Content
}

// contentFlags select a part of a page and its form.
func contentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "whole-page", Usage: "keep navigation, footer and the like"},
		&cli.StringFlag{Name: "selector", Usage: "`CSS` selector of what to keep"},
		&cli.StringFlag{Name: "drop", Usage: "`CSS` selector of what to leave out"},
		&cli.StringFlag{
			Name: "links", Usage: "`FORM` of links: inline, compact, reference, text or none",
			DefaultText: "convert.links",
		},
		&cli.StringFlag{Name: "images", Usage: "`FORM` of images: keep, alt or none", DefaultText: "convert.images"},
		&cli.BoolFlag{
			Name:  "receipts",
			Usage: "print on standard error what was removed because no reader sees it; with json in the page object",
		},
	}
}

// noteRemoved prints what was removed from a page: a line per piece, and the number of further pieces of a kind.
func (p *program) noteRemoved(r *page.Removed) {
	if r == nil {
		return
	}
	shown := map[string]int{}
	for _, piece := range r.Pieces {
		shown[piece.Kind]++
		p.note("removed: %s: %q", piece.Kind, piece.Text)
	}
	for _, kind := range slices.Sorted(maps.Keys(r.Counts)) {
		if n := r.Counts[kind]; n > shown[kind] {
			p.note("removed: %s: %d more", kind, n-shown[kind])
		}
	}
}

func sessionFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "session", EnvVars: []string{"READTHRU_SESSION"},
		Usage: "`NAME` of the session, stored with visits",
	}
}

// oneOf returns an error if the value of a flag is not one of some words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return usagef("--%s: %q is not one of %v", flag, value, fmt.Sprint(words))
}
