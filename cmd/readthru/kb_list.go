package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

// fillFromURLs creates a base and fills it with the pages of a list. What fails is told, and does not keep the others
// back.
func (p *program) fillFromURLs(c *cli.Context, b *api.Client, n api.NewBase, urls []string) error {
	if _, err := b.CreateBase(c.Context, n); err != nil {
		return err
	}
	bar := newBar(p.err)
	passages, documents := 0, 0
	add := func(i int, got fetched) error {
		bar.draw(i+1, len(urls), page.MaskString(urls[i]))
		switch {
		case got.err != nil:
			return got.err
		case got.page.Error != nil:
			return pageError(got.page.Error)
		}
		done, err := b.Ingest(c.Context, api.Ingestion{
			Title: got.page.Title, Label: "list", URL: got.page.URL, Text: got.page.Content, KB: n.Name,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", page.MaskString(urls[i]), err)
		}
		passages, documents = passages+done.Passages, documents+1
		return nil
	}
	failures, err := p.fetchEach(c.Context, b, urls, api.FetchRequest{}, add)
	bar.clear()
	if err != nil && documents > 0 { // the base is there, with what could be read
		p.tell(err)
		p.tellFailures(failures, urls)
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
		return p.printJSON(kb)
	}
	p.note("created %s: %s in %s", n.Name, count(int64(passages), "passage"), count(int64(documents), "document"))
	return nil
}
