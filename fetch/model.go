package fetch

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/prompt"
	"github.com/readthru/readthru/internal/llm"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Bounds of the step llm.
const (
	maxHTMLChars  = 40_000             // default limit of HTML sent to a model (rule E11)
	modelReserve  = 3 * time.Second    // time left for the following steps
	modelLifetime = 7 * 24 * time.Hour // of a model's rendition, so that the same bytes are not paid for again
	maxModelTries = 4                  // requests with ever shorter HTML
)

// model is the step llm: it has a language model convert the page (rule E12). It runs only if fetch.cascade lists it,
// and never for a page that is not stored. It rejects an answer that adds anything to the page.
type model struct{ f *Fetcher }

// Name implements [Step].
func (model) Name() string { return "llm" }

// Try gives the page's text to a model. It ends early enough for the steps behind it to answer; a page for which the
// model failed, or gave what is unfit, is not given to it again for a while.
func (s model) Try(ctx context.Context, a *attempt) result {
	if no := s.refusal(a); no != "" {
		return skipped(no)
	}
	key := modelKey(a)
	if s.f.failedRecently(key, a.started) {
		return skipped("it failed for this page recently")
	}
	// A model elsewhere learns the URL and the text: the same gate as for markdown.new.
	if !s.f.o.LLM.Local() {
		if err := s.f.mdnew.public(ctx, a.url); err != nil {
			return skipped("the host may not be public")
		}
	}
	if res, ok := s.f.ofPeer(ctx, a, true); ok {
		return res
	}
	caller := ctx
	if deadline, ok := ctx.Deadline(); ok {
		left := time.Until(deadline)
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, max(left-modelReserve, left/2))
		defer cancel()
	}
	r, err := s.convert(ctx, a)
	switch doubt, unfit := errors.AsType[unfit](err); {
	case err == nil:
		return result{rendition: r, good: !page.HasWarning(r.Warnings, weak...), reason: strings.Join(r.Warnings, ", ")}
	case unfit:
		s.f.noteFailedStep(caller, key)
		return rejected(doubt.Error())
	}
	s.f.noteFailedStep(caller, key)
	return failedWith(err)
}

// modelKey identifies the conversion of a page by a model among failed steps.
func modelKey(a *attempt) string { return "llm " + a.key.String() + " " + a.sum.String() }

// refusal returns why the page must not be sent to a model, or "" if it may be.
func (s model) refusal(a *attempt) string {
	switch {
	case s.f.o.LLM == nil:
		return "no model is configured"
	case a.kind != media.HTML || a.status != http.StatusOK:
		return "the page is not HTML"
	case a.wall != "":
		return "a bot wall is not converted"
	case a.credentials:
		return "the request carries credentials"
	case a.private:
		return "the page is private"
	case !a.memorable:
		return "the page is not stored, so it is not sent to a model"
	case s.f.o.LLM.Local():
		return ""
	}
	d := s.f.mdnew.disclosureOf(a)
	d.Mode = "fallback" // the mode of markdown_new does not apply to the model
	return d.Refusal()
}

// wouldAskModel reports whether a page with a stored local rendition would be sent to a model now, so that the
// rendition is no answer: no step before the model gives a good one.
func (f *Fetcher) wouldAskModel(a *attempt, r *store.Rendition) bool {
	for _, name := range a.cascade {
		switch {
		case name == "local" && !page.HasWarning(r.Warnings, weak...):
			return false
		case name == "llm":
			return model{f}.refusal(a) == "" && !f.failedRecently(modelKey(a), a.started)
		}
	}
	return false
}

// madeByThirdParty reports whether a third party made a rendition: markdown.new, or a model that is not on this
// machine.
func (f *Fetcher) madeByThirdParty(r *store.Rendition) bool {
	return r.From == page.MarkdownNew || r.From == page.LLM && (f.o.LLM == nil || !f.o.LLM.Local())
}

// convert has the model convert the main content of the page, as much of it as the limit allows; what is beyond is
// converted here and put behind it. The metadata are those of the local conversion.
func (s model) convert(ctx context.Context, a *attempt) (*store.Rendition, error) {
	var res *convert.Result
	var trim *convert.Trim
	if err := s.parsed(ctx, a, func(doc *convert.Document) (err error) {
		if res, err = doc.Convert(ctx, a.convert); err != nil {
			return err
		}
		if page.HasWarning(res.Warnings, convert.WarnThin, convert.WarnShell, convert.WarnSoft404, convert.WarnError,
			convert.WarnLogin) {
			return unfit("the page has nothing to convert: " + strings.Join(res.Warnings, ", "))
		}
		trim, err = doc.Trimmed(ctx, a.convert, s.f.htmlLimit(a.req))
		return err
	}); err != nil {
		return nil, err
	}
	trim, answer, err := s.ask(ctx, a, trim)
	if err != nil {
		return nil, err
	}
	i := &a.page.Info
	i.LLMModel, i.LLMMS = s.f.o.LLM.Model(), answer.Took.Milliseconds()
	i.LLMPromptTokens, i.LLMCompletionTokens = answer.Usage.Prompt, answer.Usage.Completion
	i.LLMTotalTokens = i.LLMPromptTokens + i.LLMCompletionTokens
	c, no := prompt.Read(answer.Text, trim.HTML, a.url)
	if no != "" {
		return nil, unfit(no)
	}
	md, warnings := string(c.Text), res.Warnings
	for _, w := range c.Warnings {
		warnings = page.AddWarning(warnings, w)
	}
	if trim.Rest != "" {
		md += "\n\n" + trim.Rest
		warnings = page.AddWarning(warnings, "llm-part")
	}
	md += "\n"
	expires := time.Now().Add(modelLifetime)
	if a.seen != nil {
		expires = time.Now().Add(min(modelLifetime, s.f.lifetime(a, a.seen.Responses)))
	}
	return &store.Rendition{
		Source: a.sum, Recipe: a.pageRecipe(a.recipe()), Markdown: []byte(md), From: page.LLM,
		Expires: expires, Rendered: a.seen != nil,
		Title: res.Title, Description: res.Description, CanonicalURL: res.CanonicalURL, PageType: res.PageType,
		Meta:   res.Meta,
		Tokens: convert.Tokens(md), HTMLTokens: res.HTMLTokens, HTMLChars: res.HTMLChars, Warnings: warnings,
		FinalURL: a.url.String(),
	}, nil
}

// htmlLimit returns how many characters of a page's HTML a model may be sent for a request (rule E8).
func (f *Fetcher) htmlLimit(r Request) int {
	if f.lowersHTMLLimit(r) {
		return r.MaxHTMLChars
	}
	return f.o.MaxHTMLChars
}

// lowersHTMLLimit reports whether a request has a model see less of a page than others do. What is made so is not what
// other readers get.
func (f *Fetcher) lowersHTMLLimit(r Request) bool {
	return f.o.LLM != nil && r.MaxHTMLChars > 0 && r.MaxHTMLChars < f.o.MaxHTMLChars
}

// parsed calls use with the document to convert for a model: the rendered page, if any, else the fetched content.
func (s model) parsed(ctx context.Context, a *attempt, use func(*convert.Document) error) error {
	if a.seen != nil {
		return s.f.rendered(ctx, a.seen, use)
	}
	return s.f.parsed(ctx, a, use)
}

// ask has the model convert trim, which holds as much of the main content as the limit allows, or less if that is too
// long for the model. It returns what was sent at last, since the answer is judged by that.
func (s model) ask(ctx context.Context, a *attempt, trim *convert.Trim) (*convert.Trim, *llm.Answer, error) {
	client := s.f.o.LLM
	limit := s.f.htmlLimit(a.req)
	for try := 1; ; try++ {
		q := prompt.For(trim.HTML, page.Mask(a.url))
		size := len(q.System) + len(q.User)
		if room := client.Room(q.MaxTokens); room > 0 && size > room && try < maxModelTries {
			limit = min(limit, len(trim.HTML)) * room / size * 9 / 10
		} else {
			answer, err := client.Chat(ctx, q)
			if e, ours := errors.AsType[*llm.Error](err); !ours || !e.TooLong || try >= maxModelTries {
				return trim, answer, err
			}
			limit = min(limit, len(trim.HTML)) / 2
		}
		if err := s.parsed(ctx, a, func(doc *convert.Document) (err error) {
			trim, err = doc.Trimmed(ctx, a.convert, limit)
			return err
		}); err != nil {
			return nil, nil, err
		}
	}
}
