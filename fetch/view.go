package fetch

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// View selects parts of a page and their form. The zero value selects the page as configured. A view affects the answer
// but never the stored page.
type View struct {
	WholePage bool   // the whole page instead of its main content
	Selector  string // only elements that match this CSS selector
	Drop      string // without elements that match this CSS selector
	Links     string // inline, compact, reference, text or none; empty: as configured
	Images    string // keep, alt or none; empty: as configured
	Section   string // only the section with this id or heading; if empty, that of the URL's fragment, if any
	Start     int    // code points of the content to skip; a truncated answer says where to continue (page.Answer.Next)
	Receipts  bool   // report removed hidden text (page.Answer.Removed)
}

// Check returns an error for a malformed view, such as a selector that is none.
func (v View) Check() error {
	if v.Start < 0 {
		return errors.New("start is negative")
	}
	return v.options(convert.Options{}).Check()
}

// options returns the configured conversion options o, modified by the view. Where the view says nothing, they stay.
func (v View) options(o convert.Options) convert.Options {
	o.WholePage, o.Selector, o.Drop = o.WholePage || v.WholePage, v.Selector, v.Drop
	if v.Links != "" {
		o.Links = v.Links
	}
	if v.Images != "" {
		o.Images = v.Images
	}
	return o
}

// chooses reports whether a view selects elements of the HTML, which markdown no longer has.
func (v View) chooses() bool { return v.WholePage || v.Selector != "" || v.Drop != "" }

// section returns the name of the section that a view selects, or "" for the whole page; else that of the URL's
// fragment.
func (v View) section(u *url.URL) string {
	if v.Section != "" {
		return strings.TrimPrefix(v.Section, "#")
	}
	return page.Place(u)
}

// compacts reports whether the view asks for compact links where pages are stored with others. Their markdown is not
// made anew for that: what is shown is shortened, whoever made it.
func (a *attempt) compacts() bool {
	return a.req.View.Links == "compact" && a.convert.Links != "compact"
}

// narrow sets a.shown to the part of a page that the view selects, unless that is the page as stored. It takes a stored
// rendition of that part if there is one.
func (f *Fetcher) narrow(ctx context.Context, a *attempt) error {
	v := a.req.View
	o := v.options(a.convert)
	if a.req.Own || v.Section != "" {
		o.Section = v.section(a.req.URL)
	}
	if a.compacts() {
		o.Links = "inline"
	}
	switch {
	case a.best == nil || o == a.convert && !v.Receipts:
		return nil
	case a.best.From != page.Local || !a.kind.Converted():
		a.narrowMarkdown(o)
		return nil
	}
	if o.Section == "" && !v.Receipts && !withFramesIn(a.best) {
		if r, err := f.o.Store.Rendition(a.sum, a.recipeOf(wanted(o))); err == nil {
			a.shown = r
			return nil
		}
	}
	if a.content == nil {
		if err := a.read(f.o.MaxBody); err != nil {
			return err
		}
	}
	if withFramesIn(a.best) {
		f.joinFrames(ctx, a)
	}
	return f.narrowPage(ctx, a, o)
}

// narrowPage converts the fetched content with the options of the view. If a selector or section is not on the page, it
// adds a warning and ignores the selector or section.
func (f *Fetcher) narrowPage(ctx context.Context, a *attempt, o convert.Options) error {
	var res *convert.Result
	if err := f.parsed(ctx, a, func(doc *convert.Document) (err error) {
		ctx, cancel := withBudget(ctx, len(a.content))
		defer cancel()
		res, err = doc.Convert(ctx, o)
		if errors.Is(err, convert.ErrNoMatch) && o.Section != "" {
			a.warn("section-missing")
			o.Section = ""
			res, err = doc.Convert(ctx, o)
		}
		if errors.Is(err, convert.ErrNoMatch) {
			a.warn("selector-missing")
			o.Selector = ""
			res, err = doc.Convert(ctx, o)
		}
		return err
	}); err != nil {
		return err
	}
	a.page.Section = o.Section
	if a.req.View.Receipts {
		if a.removed = &res.Removed; a.best.From == page.Browser {
			a.removed = res.Removed.AfterScripts()
		}
	}
	shown := *a.best
	shown.Recipe, shown.Markdown, shown.Tokens, shown.Warnings, shown.ContentHash = a.recipeOf(wanted(o)),
		[]byte(res.Markdown), res.Tokens, res.Warnings, ""
	a.shown = &shown
	if o.Section != "" || !a.memorable || a.status != http.StatusOK || o == a.convert || withFramesIn(a.best) {
		return nil
	}
	if err := f.o.Store.PutRendition(&shown); err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("rendition not stored", "url", page.Mask(a.url), "err", err)
	}
	return nil
}

// narrowMarkdown selects the view, a section, of markdown made by others. Other options of a view need elements, which
// markdown no longer has; it ignores them with a warning.
func (a *attempt) narrowMarkdown(o convert.Options) {
	section := o.Section
	if o.Section = ""; o != a.convert {
		a.warn("options-ignored")
	}
	if section == "" {
		return
	}
	_, content := page.SplitFrontMatter(a.best.Markdown)
	begin, end, found := markdown.Section(content, section)
	if !found {
		a.warn("section-missing")
		return
	}
	shown := *a.best
	shown.Markdown, shown.ContentHash = content[begin:end], ""
	shown.Tokens = convert.Tokens(shown.Markdown)
	a.shown, a.page.Section = &shown, section
}

// origins reports whether the view of the request needs the origin's content beside the page, which a rendition does
// not have.
func (r *Request) origins() bool { return r.Links || r.Source || r.Trimmed }

// applyView applies the view to a page and adds the HTML that the request wants beside it.
func (f *Fetcher) applyView(ctx context.Context, a *attempt) error {
	if err := f.narrow(ctx, a); err != nil {
		return err
	}
	f.joinNext(ctx, a)
	return f.addHTML(ctx, a)
}

// addHTML sets, as far as the view selects it, the HTML that the request wants beside the page.
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

// trimHTML sets the part of the document's HTML that the view selects (Answer.Trimmed). As for markdown, a selector
// that matches nothing selects the whole page.
func (a *attempt) trimHTML(ctx context.Context, doc *convert.Document) error {
	ctx, cancel := withBudget(ctx, len(a.content))
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
