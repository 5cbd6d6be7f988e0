package fetch

import (
	"context"
	weakly "weak"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
)

// Turn calls use when it is the turn of n bytes of content to be parsed and converted, elsewhere than here. The context
// of use ends after the time that a page may take for that.
func (f *Fetcher) Turn(ctx context.Context, n int, use func(context.Context) error) error {
	end, err := f.newest.Load().turns.Take(ctx, n)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := context.WithTimeout(ctx, convertBudget)
	defer cancel()
	return use(ctx)
}

// tree is the parsed content of a response.
type tree struct {
	doc   *convert.Document                // while the page has its turn
	past  weakly.Pointer[convert.Document] // after it, until the memory is needed
	signs *convert.Signs                   // nil until the content was parsed
	end   func()                           // ends the turn; nil: the page has none
}

// document returns the parsed content. From then until rest the page has its turn.
func (f *Fetcher) document(ctx context.Context, a *attempt) (*convert.Document, error) {
	t := &a.tree
	if t.doc != nil {
		return t.doc, nil
	}
	end, err := f.turns.Take(ctx, len(a.content))
	if err != nil {
		return nil, err
	}
	t.end = end
	if t.doc = t.past.Value(); t.doc != nil {
		return t.doc, nil
	}
	contentType := a.resp.Header.Get("Content-Type")
	if a.kind == media.Markdown || a.kind == media.HTML && page.KindOf(contentType) != page.HTML {
		contentType = "text/html" // labelled as something else
	}
	ctx, cancel := context.WithTimeout(ctx, convertBudget)
	defer cancel()
	content := a.content
	if a.framed != nil && a.framed.html != nil {
		content, contentType = a.framed.html, "text/html; charset=utf-8"
	}
	doc, err := convert.Parse(ctx, content, contentType, a.url, a.at.recipes.Convert()...)
	if err != nil {
		t.rest()
		return nil, err
	}
	t.doc, t.past, t.signs = doc, weakly.Make(doc), new(doc.Signs())
	return doc, nil
}

// rest ends the page's turn, if it has one. That is due before anything is waited for.
func (t *tree) rest() {
	if t.end != nil {
		t.end()
	}
	t.doc, t.end = nil, nil
}

// parsed calls use with the parsed content, in the page's turn.
func (f *Fetcher) parsed(ctx context.Context, a *attempt, use func(*convert.Document) error) error {
	defer a.rest()
	doc, err := f.document(ctx, a)
	if err != nil {
		return err
	}
	return use(doc)
}

// rendered calls use with a page that a browser saw, parsed, in a turn of its own.
func (f *Fetcher) rendered(ctx context.Context, seen *render.Page, use func(*convert.Document) error) error {
	end, err := f.turns.Take(ctx, len(seen.HTML))
	if err != nil {
		return err
	}
	defer end()
	doc, err := convert.Parse(ctx, seen.HTML, "text/html; charset=utf-8", seen.URL,
		f.o.Recipes.For(seen.URL).Convert()...)
	if err != nil {
		return err
	}
	return use(doc)
}
