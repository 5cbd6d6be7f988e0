package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/urfave/cli/v2"

	"readthru/api"
	"readthru/convert"
	"readthru/page"
)

func (p *program) convertCommand() *cli.Command {
	return &cli.Command{
		Name:        "convert",
		Usage:       "convert bytes to markdown, without network and store",
		ArgsUsage:   "[FILE]",
		Description: "Reads FILE, or standard input when there is none or it is \"-\". Warnings go to standard error.",
		Flags: append([]cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "`URL` that the bytes came from: relative links are resolved against it"},
			&cli.StringFlag{
				Name:  "content-type",
				Usage: "media `TYPE` of the bytes; else guessed from the file's name and content",
			},
			&cli.StringFlag{Name: "format", Value: "markdown", Usage: "`FORM`: markdown, text, json or prompt"},
			&cli.BoolFlag{Name: "json", Usage: "the same as --format json"},
			&cli.BoolFlag{Name: "no-front-matter", Usage: "leave the YAML block at the top away"},
			&cli.IntFlag{Name: "max-tokens", Usage: "cut at about `N` tokens", DefaultText: "no limit"},
			&cli.StringFlag{Name: "section", Usage: "convert the section with this `ID` or heading alone"},
		}, contentFlags()...),
		Action: p.convertAction,
	}
}

func (p *program) convertAction(c *cli.Context) error {
	format := c.String("format")
	if c.Bool("json") {
		format = "json"
	}
	if err := oneOf("format", format, "markdown", "text", "json", "prompt"); err != nil {
		return err
	}
	if c.String("url") == "" {
		return withHint(usagef("--url is missing"), "relative links are resolved against it: --url https://example.com/page")
	}
	u, err := page.Parse(c.String("url"))
	if err != nil {
		return usagef("--url: %w", err)
	}
	if c.NArg() > 1 {
		return usagef("one FILE is enough: there is nothing to do with %q", c.Args().Get(1))
	}
	s, err := p.load()
	if err != nil {
		return err
	}
	content, err := p.readInput(c.Args().First(), int64(s.Fetch.MaxBody))
	if err != nil {
		return err
	}
	contentType := c.String("content-type")
	if contentType == "" {
		contentType = guessType(c.Args().First(), u, content)
	}
	doc, err := convert.Parse(c.Context, content, contentType, u)
	if err != nil {
		return fmt.Errorf("convert %s: %w", contentType, err)
	}
	o := convertOptions(c, s)
	res, err := doc.Convert(c.Context, o)
	if errors.Is(err, convert.ErrNoMatch) && o.Section != "" {
		p.note("warning: section-missing")
		o.Section = ""
		res, err = doc.Convert(c.Context, o)
	}
	if err != nil {
		return fmt.Errorf("convert %s: %w", contentType, err)
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
		p.note("warning: %s", w)
	}
	if c.Bool("receipts") && format != "json" {
		p.noteRemoved(&res.Removed)
	}
	pg := page.New(u)
	pg.Title, pg.Description, pg.Meta, pg.CanonicalURL = res.Title, res.Description, res.Meta, res.CanonicalURL
	pg.Source, pg.Tokens, pg.ContentType, pg.Warnings = page.Local, res.Tokens, contentType, res.Warnings
	pg.Content, pg.ContentFormat, pg.SizeBytes, pg.Bytes = markdown, "markdown", len(markdown), int64(len(content))
	pg.Excerpt, pg.Section, pg.Next = page.Excerpt(markdown, 300), o.Section, next
	if c.Bool("receipts") {
		pg.Removed = &res.Removed
	}
	pg.Info.HTMLChars, pg.Info.HTMLTokens = res.HTMLChars, res.HTMLTokens
	switch format {
	case "json":
		return p.printJSON(pg)
	case "text":
		return p.print(convert.Text(pg.Content))
	case "prompt":
		return p.print(api.Prompt(pg, len(pg.Content)+1))
	}
	if s.Convert.FrontMatter && !c.Bool("no-front-matter") {
		return p.print(withFrontMatter(pg))
	}
	return p.print(pg.Content)
}

// convertOptions returns what the flags say of a conversion, and the configuration where they are silent.
func convertOptions(c *cli.Context, s *settings) convert.Options {
	o := convert.Options{
		WholePage: c.Bool("whole-page"), Selector: c.String("selector"), Drop: c.String("drop"), Section: c.String("section"),
		Links: s.Convert.Links, Images: s.Convert.Images,
	}
	if c.IsSet("links") {
		o.Links = c.String("links")
	}
	if c.IsSet("images") {
		o.Images = c.String("images")
	}
	return o
}

// readInput reads a file, or standard input for "" and "-", up to limit bytes.
func (p *program) readInput(name string, limit int64) ([]byte, error) {
	in := p.in
	if name != "" && name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer f.Close() //nolint:errcheck // it was only read
		in = f
	}
	b, err := io.ReadAll(io.LimitReader(in, limit+1))
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", name, err)
	}
	if int64(len(b)) > limit {
		return nil, withHint(errors.New("the input is over "+size(limit).String()), "raise fetch.max_body")
	}
	return b, nil
}

// guessType names the media type of bytes whose origin did not say: by the name of the file or the URL, else by their
// beginning. What has tags is taken for HTML, for a fragment has no doctype. It is empty for what package convert tells
// by itself.
func guessType(name string, u *url.URL, content []byte) string {
	for _, n := range []string{name, u.Path} {
		if t := convert.TypeOf(n); t != "" {
			return t
		}
	}
	text := bytes.TrimLeft(content[:min(len(content), 64<<10)], "\ufeff \t\r\n")
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
