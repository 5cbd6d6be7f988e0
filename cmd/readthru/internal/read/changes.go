package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

// printChanges fetches pages and prints the sections of each that changed since a time or a version.
func (p *program) printChanges(ctx context.Context, b *api.Client, urls []string, r api.FetchRequest,
	since string,
) error {
	var failed error
	for i, raw := range urls {
		r.URL = raw
		err := p.printChanged(ctx, b, r, since, i > 0)
		if err == nil {
			continue
		}
		if failed != nil {
			p.Tell(failed) // the caller prints the last one
		}
		failed = err
	}
	return failed
}

// printChanged fetches a page and prints what of it has changed since a time or a version, for fetch --since.
func (p *program) printChanged(ctx context.Context, b *api.Client, r api.FetchRequest, since string,
	follows bool,
) error {
	asJSON := r.Format == "json"
	r.Format = "none"
	if at, err := api.Since(since, time.Now()); err == nil { // before the fetch, which may add a version
		since = at.Format(time.RFC3339Nano)
	}
	pg, err := b.Fetch(ctx, r)
	if err != nil {
		return err
	}
	if pg.Error != nil {
		return command.PageError(pg.Error)
	}
	c, err := b.Changes(ctx, r.URL, since)
	if err != nil {
		return err
	}
	if asJSON {
		return p.PrintJSON(c)
	}
	url := page.MaskString(pg.URL)
	switch {
	case c.Since == nil:
		p.Note("no version of %s is that old: all sections are new", url)
	case !c.Changed:
		p.Note("nothing changed at %s since %s", url, terminal.Day(c.Since.Time))
		return nil
	}
	text := changesText(c.Changes)
	if follows {
		text = "\n" + text
	}
	return p.Print(text)
}

// changesText returns changes as markdown, each under a comment with its kind and heading.
func changesText(changes []outline.SectionChange) string {
	var b strings.Builder
	for i, c := range changes {
		if i > 0 {
			b.WriteString("\n")
		}
		where := cmp.Or(c.Heading, "before the first heading")
		fmt.Fprintf(&b, "<!-- %s: %s -->\n", c.Kind, strings.ReplaceAll(where, "--", "- -"))
		if c.Text != "" {
			b.WriteString(c.Text + "\n")
		}
	}
	return b.String()
}

// checkChangedSince returns an error for flags that do not go with --changed-since.
func checkChangedSince(r api.FetchRequest) error {
	switch {
	case r.Format != "markdown" && r.Format != "json":
		return terminal.Mistake(errors.New("--changed-since prints markdown or json"))
	case r.Persist != nil || r.WholePage || r.Selector != "" || r.Drop != "" || r.Section != "" || r.Start > 0 ||
		r.MaxChars > 0 || r.MaxTokens > 0:
		return terminal.Mistake(errors.New("--changed-since compares whole stored pages: it does not go with --no-store, " +
			"--whole-page, --selector, --drop, --section, --start and --max-…"))
	}
	return nil
}
