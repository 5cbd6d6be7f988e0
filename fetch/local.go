package fetch

import (
	"context"
	"slices"
	"strings"
	"time"
	weakly "weak"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
)

// convertBudget limits the time to parse or convert one page of up to gate.LargePage; longer ones get as much for each
// further part of that length (withBudget). Only tests change it.
var convertBudget = 10 * time.Second

// withBudget returns a context for parsing or converting n bytes of content here, locally.
func withBudget(ctx context.Context, n int) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, convertBudget*time.Duration(1+n/gate.LargePage))
}

// local is the step that converts the fetched content on this machine (rule A8).
type local struct{ f *Fetcher }

// Name implements [Step].
func (local) Name() string { return "local" }

// Try joins the frames of the page, converts it and measures the time. Unless the rendition is good, the cascade goes
// on, and the rendition is what it falls back to.
func (s local) Try(ctx context.Context, a *attempt) result {
	if a.kind == media.Markdown {
		return skipped("the origin answered markdown")
	}
	s.f.joinFrames(ctx, a)
	begun := time.Now()
	r, err := s.convert(ctx, a)
	a.page.Info.ConvertMS = s.f.observe("convert", begun)
	if err != nil {
		s.f.convertFailed.Add(1)
		a.failure = err
		return failedWith(err)
	}
	s.f.converted.Add(1)
	return result{
		rendition: r, good: !page.HasWarning(r.Warnings, weak...) && !s.f.wantsMore(a),
		reason: reasonOf(r),
	}
}

// convert converts the fetched content, with its frames, and returns the rendition of it.
func (s local) convert(ctx context.Context, a *attempt) (*store.Rendition, error) {
	doc, err := s.f.document(ctx, a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := withBudget(ctx, len(a.content))
	defer cancel()
	res, err := doc.Convert(ctx, a.convert)
	if err != nil {
		return nil, err
	}
	r := &store.Rendition{
		Source: a.sum, Recipe: a.recipe(), Markdown: []byte(res.Markdown), From: page.Local,
		Title: res.Title, Description: res.Description, CanonicalURL: res.CanonicalURL, PageType: res.PageType,
		Meta:   res.Meta,
		Tokens: res.Tokens, HTMLTokens: res.HTMLTokens, HTMLChars: res.HTMLChars, Warnings: res.Warnings,
		FinalURL: a.url.String(),
	}
	noteRecipe(r, res.Recipe)
	s.f.noteFrames(a, r)
	return r, nil
}

// noteRecipe notes with a local rendition what a site recipe did for it; use is nil if there was none.
func noteRecipe(r *store.Rendition, use *convert.RecipeUse) {
	if use == nil {
		return
	}
	r.SiteRecipe = use.String()
	if use.Next != nil {
		r.Next = withoutFragment(use.Next)
	}
}

// reasonOf says why a local rendition is as it is, for page.Attempt: what the site recipe did, and its warnings.
func reasonOf(r *store.Rendition) string {
	reasons := slices.Clone(r.Warnings)
	if r.SiteRecipe != "" {
		reasons = slices.Insert(reasons, 0, r.SiteRecipe)
	}
	return strings.Join(reasons, ", ")
}

// Turn calls use when it is the turn of n bytes of content to be parsed and converted locally, elsewhere than in this
// package. The context of use ends after the time that a page may take for that.
func (f *Fetcher) Turn(ctx context.Context, n int, use func(context.Context) error) error {
	end, err := f.newest.Load().turns.Take(ctx, n)
	if err != nil {
		return err
	}
	defer end()
	ctx, cancel := withBudget(ctx, n)
	defer cancel()
	return use(ctx)
}

// tree is the parsed content of a response, which takes many times the memory of the bytes.
type tree struct {
	doc   *convert.Document                // while the page has its turn
	past  weakly.Pointer[convert.Document] // after it, until the memory is needed
	signs *convert.Signs                   // nil until the content was parsed
	end   func()                           // ends the turn; nil: the page has none
}

// document returns the content of an attempt, parsed to be converted locally. From then until rest the page has its
// turn (package turns).
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
	ctx, cancel := withBudget(ctx, len(a.content))
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

// rest ends the page's turn of being parsed, if it has one. That is due before anything is waited for, or pages would
// wait for each other's origins.
func (t *tree) rest() {
	if t.end != nil {
		t.end()
	}
	t.doc, t.end = nil, nil
}

// parsed calls use with the content of an attempt, parsed to be converted locally, in the page's turn.
func (f *Fetcher) parsed(ctx context.Context, a *attempt, use func(*convert.Document) error) error {
	defer a.rest()
	doc, err := f.document(ctx, a)
	if err != nil {
		return err
	}
	return use(doc)
}

// rendered calls use with a page that a browser saw, parsed to be converted locally, in a turn of its own. The caller
// must not be in one.
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
