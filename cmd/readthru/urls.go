package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

// longestList is the most URLs that a list has.
const longestList = 100_000

// errNoList says that a text is no list of URLs.
var errNoList = errors.New("it is no list of URLs")

// readURLs reads a list of URLs, one in a line. Blank lines, and those that begin with #, are left out. An error names
// the first line that is no URL; it is errNoList if that is the first line with content.
func readURLs(r io.Reader, name string) (urls []string, err error) {
	lines := bufio.NewScanner(r)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\ufeff"))
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if _, err := page.Parse(line); err != nil {
			if len(urls) == 0 {
				err = fmt.Errorf("%w: %w", errNoList, err)
			}
			return nil, fmt.Errorf("%s, line %d: %w", name, n, err)
		}
		if urls = append(urls, line); len(urls) > longestList {
			return nil, fmt.Errorf("%s: the list has over %d URLs", name, longestList)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if len(urls) == 0 {
		return nil, fmt.Errorf("%s: %w: it is empty", name, errNoList)
	}
	return urls, nil
}

// listedIn returns the URLs of a file that is a list of them; ok is false for any other file.
func listedIn(name string) (urls []string, ok bool, err error) {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || !strings.HasSuffix(name, ".txt") {
		return nil, false, nil // whoever reads it tells
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, false, nil // as above
	}
	defer f.Close() //nolint:errcheck // it was read
	if urls, err = readURLs(f, name); errors.Is(err, errNoList) {
		return nil, false, nil
	}
	return urls, true, err
}

// tellFailures says how many of the URLs of a list failed.
func (p *program) tellFailures(failures int, urls []string) {
	if failures > 0 {
		p.note("%d of %s failed", failures, count(int64(len(urls)), "URL"))
	}
}

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
