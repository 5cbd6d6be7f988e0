package fetch

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// convertBudget limits the time to convert one page of up to largePage.
const convertBudget = 10 * time.Second

// local converts the fetched content (rule A8).
type local struct{ f *Fetcher }

func (local) Name() string { return "local" }

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

func (s local) convert(ctx context.Context, a *attempt) (*store.Rendition, error) {
	doc, err := s.f.document(ctx, a)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, convertBudget*time.Duration(1+len(a.content)/gate.LargePage))
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

// noteRecipe notes with a rendition what a site recipe did for it; use is nil if there was none.
func noteRecipe(r *store.Rendition, use *convert.RecipeUse) {
	if use == nil {
		return
	}
	r.SiteRecipe = use.String()
	if use.Next != nil {
		r.Next = withoutFragment(use.Next)
	}
}

// reasonOf says why a rendition is as it is, for page.Attempt.
func reasonOf(r *store.Rendition) string {
	reasons := slices.Clone(r.Warnings)
	if r.SiteRecipe != "" {
		reasons = slices.Insert(reasons, 0, r.SiteRecipe)
	}
	return strings.Join(reasons, ", ")
}
