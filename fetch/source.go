package fetch

import (
	"context"
	"errors"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
)

// origins reports whether the request needs the origin's content beside the page.
func (r *Request) origins() bool { return r.Links || r.Source || r.Trimmed }

// applyView applies the view to a page and adds the HTML that the request wants beside it.
func (f *Fetcher) applyView(ctx context.Context, a *attempt) error {
	if err := f.narrow(ctx, a); err != nil {
		return err
	}
	f.joinNext(ctx, a)
	return f.addHTML(ctx, a)
}

// addHTML sets the HTML that the request wants beside the page.
func (f *Fetcher) addHTML(ctx context.Context, a *attempt) error {
	rendered := a.best != nil && a.best.From == page.Browser && a.seen != nil
	if !a.req.Source && !a.req.Trimmed || a.best == nil || !rendered && (a.kind != media.HTML || a.content == nil) {
		return nil
	}
	if a.req.Source {
		if a.source = inUTF8(a); rendered {
			a.source = a.seen.HTML
		}
	}
	if !a.req.Trimmed {
		return nil
	}
	trim := func(doc *convert.Document) error { return a.trimHTML(ctx, doc) }
	if rendered {
		return f.rendered(ctx, a.seen, trim)
	}
	return f.parsed(ctx, a, trim)
}

// trimHTML sets the part of the document's HTML that the view selects. As for markdown, a selector that matches nothing
// selects the whole page.
func (a *attempt) trimHTML(ctx context.Context, doc *convert.Document) error {
	ctx, cancel := context.WithTimeout(ctx, convertBudget)
	defer cancel()
	o, limit := a.req.View.options(a.convert), 8*len(a.content)+64<<10 // absolute links are longer
	t, err := doc.Trimmed(ctx, o, limit)
	if errors.Is(err, convert.ErrNoMatch) {
		o.Selector = ""
		t, err = doc.Trimmed(ctx, o, limit)
	}
	switch {
	case errors.Is(err, convert.ErrNoTree):
		return nil
	case err != nil:
		return err
	case t.Rest != "":
		a.warn("html-cut")
	}
	a.trimmed = []byte(t.HTML)
	return nil
}
