package remember

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// listLabel is the label of the pages of a list, by which a refresh finds them.
const listLabel = "list"

// fillFromURLs creates a base and fills it with the pages of a list.
func (p *program) fillFromURLs(c *cli.Context, b *api.Client, n api.NewBase, urls []string) error {
	if _, err := b.CreateBase(c.Context, n); err != nil {
		return err
	}
	return p.readURLs(c, b, n.Name, urls, "created", api.FetchRequest{})
}

// listedURLs returns the URLs of the pages of a list that a base holds.
func listedURLs(c *cli.Context, b *api.Client, name string) (urls []string, err error) {
	for cursor := ""; ; {
		list, err := b.BaseDocuments(c.Context, name, cursor, 0)
		if err != nil {
			return nil, err
		}
		for _, d := range list.Documents {
			if d.Label == listLabel && d.URL != "" {
				urls = append(urls, d.URL)
			}
		}
		if cursor = list.Next; cursor == "" {
			slices.Sort(urls)
			return urls, nil
		}
	}
}

// readURLs adds the pages of a list to a base, in the place of what was read of them before. What fails is told, and
// does not keep the others back.
func (p *program) readURLs(c *cli.Context, b *api.Client, name string, urls []string, word string,
	how api.FetchRequest,
) error {
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
			Title: got.Page.Title, Label: listLabel, URL: got.Page.URL, Text: got.Page.Content, KB: name,
		})
		if err != nil {
			return fmt.Errorf("%s: %w", page.MaskString(urls[i]), err)
		}
		passages, documents = passages+done.Passages, documents+1
		return nil
	}
	failures, err := p.FetchEach(c.Context, b, urls, how, add)
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
		kb, err := b.Base(c.Context, name)
		if err != nil {
			return err
		}
		return p.PrintJSON(kb)
	}
	p.Note("%s %s: %s in %s", word, name, terminal.Count(int64(passages), "passage"),
		terminal.Count(int64(documents), "document"))
	return nil
}
