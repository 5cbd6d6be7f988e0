package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"

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
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "url", Usage: "`URL` that the bytes came from: relative links are resolved against it"},
			&cli.StringFlag{Name: "content-type", Usage: "media `TYPE` of the bytes; else guessed from the file's name and content"},
			&cli.StringFlag{Name: "format", Value: "markdown", Usage: "`FORM`: markdown, text, json or prompt"},
			&cli.BoolFlag{Name: "json", Usage: "the same as --format json"},
			&cli.BoolFlag{Name: "no-front-matter", Usage: "leave the YAML block at the top away"},
			&cli.BoolFlag{Name: "whole-page", Usage: "keep navigation, footer and the like"},
			&cli.StringFlag{Name: "selector", Usage: "`CSS` selector of what to convert"},
		},
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
	res, err := doc.Convert(c.Context, convert.Options{WholePage: c.Bool("whole-page"), Selector: c.String("selector"), Links: s.Convert.Links, Images: s.Convert.Images})
	if err != nil {
		return fmt.Errorf("convert %s: %w", contentType, err)
	}
	for _, w := range res.Warnings {
		p.note("warning: %s", w)
	}
	pg := page.New(u)
	pg.Title, pg.Description, pg.Meta, pg.CanonicalURL = res.Title, res.Description, res.Meta, res.CanonicalURL
	pg.Source, pg.Tokens, pg.ContentType, pg.Warnings = page.Local, res.Tokens, contentType, res.Warnings
	pg.Content, pg.ContentFormat, pg.SizeBytes, pg.Bytes = res.Markdown, "markdown", len(res.Markdown), int64(len(content))
	pg.Excerpt = page.Excerpt(res.Markdown, 300)
	pg.Info.HTMLChars, pg.Info.HTMLTokens = res.HTMLChars, res.HTMLTokens
	switch format {
	case "json":
		return p.printJSON(pg)
	case "text":
		return p.print(convert.Text(pg.Content))
	case "prompt":
		return p.print(api.Prompt(pg, pg.Content, false))
	}
	if s.Convert.FrontMatter && !c.Bool("no-front-matter") {
		return p.print(withFrontMatter(pg))
	}
	return p.print(pg.Content)
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

// guessType names the media type of bytes whose origin did not say: by the ending of the file's or the URL's name, else by
// their beginning.
func guessType(name string, u *url.URL, content []byte) string {
	for _, n := range []string{name, u.Path} {
		switch strings.ToLower(filepath.Ext(n)) {
		case ".html", ".htm":
			return "text/html"
		case ".xhtml":
			return "application/xhtml+xml"
		case ".md", ".markdown":
			return "text/markdown"
		case ".pdf":
			return "application/pdf"
		case ".json":
			return "application/json"
		case ".rss", ".atom":
			return "application/" + strings.ToLower(filepath.Ext(n))[1:] + "+xml"
		}
	}
	t := http.DetectContentType(content)
	if strings.HasPrefix(t, "text/plain") {
		return "text/html" // a fragment without a doctype looks plain
	}
	return strings.TrimSuffix(t, "; charset=utf-8") // a guess of the sniffer, which would override the page's own
}
