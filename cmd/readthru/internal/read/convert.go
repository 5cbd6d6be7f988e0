package read

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/page"
)

// convertCommand is the command convert: files or standard input as markdown, without network, daemon and store.
func (p *program) convertCommand() *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "convert a file to markdown, without network and store",
		ArgsUsage:   "[FILE…]",
		Description: "Reads FILE, or standard input if FILE is missing or \"-\". Warnings go to standard error.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{
				Name: "url", DefaultText: "none: they are left out",
				Usage: "`URL` of the content, against which relative links are resolved",
			},
			&cli.StringFlag{
				Name:  "content-type",
				Usage: "media `TYPE` of the content; default: guessed from the file's name and content",
			},
			&cli.StringFlag{Name: "format", Value: "markdown", Usage: "`FORM`: markdown, text, json or prompt"},
			&cli.BoolFlag{Name: "json", Usage: "the same as --format json"},
			&cli.BoolFlag{Name: "no-front-matter", Usage: "leave out the YAML block at the top"},
			&cli.IntFlag{Name: "max-tokens", Usage: "cut at about `N` tokens", DefaultText: "no limit"},
			&cli.StringFlag{Name: "section", Usage: "convert only the section with this `ID` or heading"},
			&cli.StringFlag{
				Name: "recipe", Usage: "use the recipes of `FILE`, whatever the URL, or none",
				DefaultText: "those shipped for --url",
			},
		}, command.ContentFlags()...),
		Action: p.convertAction,
	}
}

// convertAction checks the flags of convert, and converts each file in turn.
func (p *program) convertAction(c *cli.Context) error {
	format := c.String("format")
	if c.Bool("json") {
		format = "json"
	}
	if err := command.OneOf("format", format, "markdown", "text", "json", "prompt"); err != nil {
		return err
	}
	var u *url.URL
	if raw := c.String("url"); raw != "" {
		var err error
		if u, err = page.Parse(raw); err != nil {
			return terminal.Usagef("--url: %w", err)
		}
		if c.NArg() > 1 {
			return terminal.Usagef("--url is of one FILE: unexpected argument %q", c.Args().Get(1))
		}
	}
	s, err := p.Load()
	if err != nil {
		return err
	}
	var recipes recipe.Candidates
	named := c.String("recipe")
	switch {
	case named == "none":
	case named != "":
		if recipes, err = p.ReadRecipes(named); err != nil {
			return err
		}
	case u != nil:
		recipes = hostrule.RecipeSet(nil).For(u)
	}
	names := c.Args().Slice()
	if len(names) == 0 {
		names = []string{""}
	}
	var failed error
	for i, name := range names {
		err := c.Err()
		if err == nil && i > 0 && format != "json" {
			err = p.Print("\n")
		}
		if err == nil {
			err = p.convertOne(c, s, name, u, format, recipes)
		}
		if err != nil && failed != nil {
			p.Tell(failed) // the caller prints the last one
		}
		failed = cmp.Or(err, failed)
	}
	return failed
}

// convertOne prints one file as markdown, or standard input if name is empty. u is nil if its URL is not known.
func (p *program) convertOne(c *cli.Context, s *settings.Settings, name string, u *url.URL, format string,
	recipes recipe.Candidates,
) error {
	content, err := p.ReadInput(name, int64(s.Fetch.MaxBody))
	if err != nil {
		return err
	}
	contentType := c.String("content-type")
	if contentType == "" {
		contentType = guessType(name, u, content)
	}
	if u == nil {
		u = page.SavedFrom(content)
	}
	doc, err := convert.Parse(c.Context, content, contentType, u, recipes.Convert()...)
	if err != nil {
		return fmt.Errorf("convert %s: %w", contentType, err)
	}
	o := convertOptions(c, s)
	res, err := doc.Convert(c.Context, o)
	if errors.Is(err, convert.ErrNoMatch) && o.Section != "" {
		return fmt.Errorf("%s has no section %q", cmp.Or(name, "standard input"), o.Section)
	}
	if err != nil {
		return fmt.Errorf("convert %s: %w", contentType, err)
	}
	if bad := convert.Unreadable(res.Markdown, res.Warnings); bad != nil {
		return fmt.Errorf("convert %s: %w", cmp.Or(name, "standard input"), bad)
	}
	if res.Recipe != nil {
		p.Note("%s", res.Recipe)
	} else if c.IsSet("recipe") && recipes != nil {
		p.Note("warning: the page has no element that a recipe asks for")
	}
	markdown, next := res.Markdown, 0
	if limit := c.Int("max-tokens"); limit > 0 {
		kept, at := convert.Cut([]byte(markdown), limit)
		if at > 0 {
			markdown, next = string(kept), utf8.RuneCountInString(markdown[:at])
			res.Warnings, res.Tokens = append(res.Warnings, "truncated"), convert.Tokens(kept)
		}
	}
	for _, w := range res.Warnings {
		p.Note("warning: %s", w)
	}
	if c.Bool("receipts") && format != "json" {
		p.NoteRemoved(&res.Removed)
	}
	pg := &page.Page{Record: page.Record{Display: name}}
	if u != nil {
		pg = page.New(u)
	}
	pg.Title, pg.Description, pg.Meta, pg.CanonicalURL = res.Title, res.Description, res.Meta, res.CanonicalURL
	pg.Source, pg.Tokens, pg.ContentType, pg.Warnings = page.Local, res.Tokens, contentType, res.Warnings
	pg.Content, pg.ContentFormat, pg.SizeBytes, pg.Bytes = markdown, "markdown", len(markdown), int64(len(content))
	pg.Excerpt, pg.Section, pg.Next = page.Excerpt([]byte(markdown), page.ExcerptLength), o.Section, next
	if c.Bool("receipts") {
		pg.Removed = &res.Removed
	}
	pg.Info.HTMLChars, pg.Info.HTMLTokens = res.HTMLChars, res.HTMLTokens
	switch format {
	case "json":
		return p.PrintJSON(pg)
	case "text":
		return p.Print(convert.Text(pg.Content))
	case "prompt":
		return p.Print(api.Prompt(pg, len(pg.Content)+1))
	}
	if s.Convert.FrontMatter && !c.Bool("no-front-matter") {
		return p.Print(command.WithFrontMatter(pg))
	}
	return p.Print(pg.Content)
}

// convertOptions returns the options of a conversion: those of the flags, else those of the configuration.
func convertOptions(c *cli.Context, s *settings.Settings) convert.Options {
	o := convert.Options{
		WholePage: c.Bool("whole-page"), Selector: c.String("selector"), Drop: c.String("drop"),
		Section: c.String("section"),
		Links:   s.Convert.Links, Images: s.Convert.Images,
	}
	if c.IsSet("links") {
		o.Links = c.String("links")
	}
	if c.IsSet("images") {
		o.Images = c.String("images")
	}
	return o
}

// makesPages are endings of URLs, and of what was saved from there, that name what makes a page, not what the page is.
var makesPages = map[string]bool{
	".php": true, ".php5": true, ".phtml": true, ".asp": true, ".aspx": true, ".ashx": true, ".jsp": true,
	".jspx": true,
	".pl":   true, ".cgi": true, ".cfm": true, ".py": true, ".rb": true, ".lua": true, ".do": true,
}

// markupStart matches text that begins with a tag or a doctype; "<?php" and "<%@" begin a program.
var markupStart = lazy.Pattern(`^<[!A-Za-z]`)

// guessType guesses the media type of content from the name of the file or the URL, else from its beginning. Text with
// tags counts as HTML, since a fragment has no doctype. It returns "" for types that package convert recognises.
func guessType(name string, u *url.URL, content []byte) string {
	text := bytes.TrimLeft(content[:min(len(content), 64<<10)], "\ufeff \t\r\n")
	names := []string{name}
	if u != nil {
		names = append(names, u.Path)
	}
	for _, name := range names {
		if makesPages[strings.ToLower(path.Ext(name))] && markupStart().Match(text) {
			continue
		}
		if t := convert.TypeOf(name); t != "" {
			return t
		}
	}
	switch {
	case !strings.HasPrefix(http.DetectContentType(content), "text/plain"):
		return ""
	case len(text) > 0 && (text[0] == '{' || text[0] == '['):
		return ""
	case len(text) > 0 && text[0] == '<':
		return "text/html"
	case convert.LooksLikeMarkdown(content):
		return "text/markdown"
	case bytes.Contains(text, []byte("</")), bytes.Contains(text, []byte("<p>")):
		return "text/html"
	}
	return "text/plain"
}
