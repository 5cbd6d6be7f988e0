package store

import (
	"time"

	"github.com/readthru/readthru/store/wire"
)

func (r *pageRecord) Fields(f wire.Fields) {
	p := &r.Page
	for _, s := range []*string{
		&p.Doc, &p.URL, &p.FinalURL, &p.CanonicalURL, &p.NormalizedURL, &p.Display, &p.Title, &p.Description,
		&p.ContentFormat, &p.Excerpt, &p.ContentHash, &p.ContentType,
	} {
		f.Text(s)
	}
	wire.Word(f, &p.Type)
	wire.Word(f, &p.Source)
	f.Meta(&p.Meta)
	wire.Rare(f, &p.GitHub)
	wire.Rare(f, &p.Error)
	for _, n := range []*int{&p.Tokens, &p.SizeBytes, &p.StatusCode} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &p.Bytes)
	for _, t := range []*time.Time{&p.CreatedAt, &p.UpdatedAt, &p.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&p.Stored)
	f.List(&p.Warnings)
	i := &p.Info
	for _, n := range []*int64{&i.FetchMS, &i.ConvertMS, &i.RenderMS, &i.LLMMS} {
		wire.Integer(f, n)
	}
	for _, n := range []*int{
		&i.LLMPromptTokens, &i.LLMCompletionTokens, &i.LLMTotalTokens, &i.HTMLChars, &i.MarkdownChars, &i.HTMLTokens,
	} {
		wire.Integer(f, n)
	}
	f.Text(&i.RenderEnd)
	f.Text(&i.LLMModel)
	f.Hash((*[32]byte)(&r.Source))
	wire.Integer(f, &r.Job)
	wire.Integer(f, &r.Edition)
	// older programs do not know of what follows, and read what has none
	if f.Ends(len(p.Preferences) == 0 && p.ReadAt.IsZero()) {
		return
	}
	stated := &p.Preferences
	if f.Reading() {
		stated = nil
	}
	if wire.Rare(f, &stated); stated != nil {
		p.Preferences = *stated
	}
	if f.Ends(p.ReadAt.IsZero()) {
		return
	}
	f.Time(&p.ReadAt)
}

func (r *renditionRecord) Fields(f wire.Fields) {
	f.Hash((*[32]byte)(&r.Source))
	f.Hash((*[32]byte)(&r.Body))
	for _, s := range []*string{
		&r.Recipe, &r.Title, &r.Description, &r.CanonicalURL, &r.PageType, &r.FinalURL, &r.Validator, &r.ContentHash,
		&r.Excerpt,
	} {
		f.Text(s)
	}
	wire.Word(f, &r.From)
	f.Meta(&r.Meta)
	for _, n := range []*int{
		&r.Tokens, &r.HTMLTokens, &r.HTMLChars, &r.MarkdownChars, &r.Readme.From, &r.Readme.To, &r.SymbolMap.From,
		&r.SymbolMap.To,
	} {
		wire.Integer(f, n)
	}
	wire.Integer(f, &r.Bytes)
	f.List(&r.Warnings)
	for _, t := range []*time.Time{&r.Expires, &r.Fresh, &r.FetchedAt} {
		f.Time(t)
	}
	f.Bool(&r.Rendered)
	// older programs do not know of what follows, and read what has none
	if f.Ends(r.SiteRecipe == "" && r.Links == nil) {
		return
	}
	f.Text(&r.SiteRecipe)
	f.Text(&r.Next)
	if f.Ends(r.Links == nil) {
		return
	}
	if f.Reading() {
		r.Links = new(Links)
	}
	f.List(&r.Links.URLs)
	f.Bool(&r.Links.Cut)
}
