package remember

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// fillFromURLs creates a base and fills it with the pages of a list. What fails is told, and does not keep the others
// back.
func (p *program) fillFromURLs(c *cli.Context, b *api.Client, n api.NewBase, urls []string) error {
	if _, err := b.CreateBase(c.Context, n); err != nil {
		return err
	}
	bar := terminal.NewBar(p.Err)
	passages, documents := 0, 0
	add := func(i int, got command.Fetched) error {
		bar.Draw(i+1, len(urls), page.MaskString(urls[i]))
		switch {
		case got.Err != nil:
			return got.Err
		case got.Page.Error != nil:
			return command.PageError(got.Page.Error)
		}
		done, err := b.Ingest(c.Context, api.Ingestion{
			Title: got.Page.Title, Label: "list", URL: got.Page.URL, Text: got.Page.Content, KB: n.Name,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", page.MaskString(urls[i]), err)
		}
		passages, documents = passages+done.Passages, documents+1
		return nil
	}
	failures, err := p.FetchEach(c.Context, b, urls, api.FetchRequest{}, add)
	bar.Clear()
	if err != nil && documents > 0 { // the base is there, with what could be read
		p.Tell(err)
		p.TellFailures(failures, urls)
		err = nil
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		kb, err := b.Base(c.Context, n.Name)
		if err != nil {
			return err
		}
		return p.PrintJSON(kb)
	}
	p.Note("created %s: %s in %s", n.Name, terminal.Count(int64(passages), "passage"),
		terminal.Count(int64(documents), "document"))
	return nil
}
