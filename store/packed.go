package store

import (
	"encoding/json"
	"time"

	"github.com/readthru/readthru/page"
)

// packedForm is the first byte of a record in the form of this file. Records of pages and renditions that an
// older program wrote are JSON, which begins otherwise: they are read all the same, and written in this form with the
// next change.
const packedForm = 1

// fields reads or writes the fields of a record, one after the other, so that both have the same order.
type fields struct {
	d *decoder // nil: write to e
	e *encoder
}

// packed is a record that has a binary form.
type packed interface{ fields(fields) }

func encodePacked(r packed) []byte {
	e := make(encoder, 1, 512)
	e[0] = packedForm
	r.fields(fields{e: &e})
	return e
}

// unmarshal reads a record into v, a pointer, and reports whether it could. The record may be in JSON, or a key alone.
func unmarshal(value []byte, v any) bool {
	if k, ok := v.(*page.Key); ok {
		return copy(k[:], value) == len(k) && len(value) == len(k)
	}
	r, ok := v.(packed)
	if !ok || len(value) == 0 || value[0] != packedForm {
		return json.Unmarshal(value, v) == nil
	}
	d := decoder{b: value[1:]}
	r.fields(fields{d: &d})
	return d.ok()
}

func (f fields) sum(s *Sum) {
	if f.d != nil {
		copy(s[:], f.d.raw(len(s)))
		return
	}
	f.e.raw(s[:])
}

func (f fields) text(s *string) {
	if f.d != nil {
		*s = f.d.text()
		return
	}
	f.e.text(*s)
}

func (f fields) list(list *[]string) {
	if f.d != nil {
		*list = f.d.list()
		return
	}
	f.e.list(*list)
}

// time reads or writes a time in seconds and nanoseconds: origins may claim any year.
func (f fields) time(t *time.Time) {
	if f.d == nil {
		f.e.int(t.Unix())
		f.e.int(int64(t.Nanosecond()))
		return
	}
	if u := time.Unix(f.d.int(), f.d.int()).UTC(); !f.d.bad {
		*t = u
	}
}

func (f fields) bool(b *bool) {
	if f.d != nil {
		*b = f.d.int() != 0
		return
	}
	n := int64(0)
	if *b {
		n = 1
	}
	f.e.int(n)
}

// integer reads or writes a number.
func integer[T ~int | ~int64 | ~uint64](f fields, n *T) {
	if f.d != nil {
		*n = T(f.d.int())
		return
	}
	f.e.int(int64(*n))
}

// word reads or writes a text of a type of its own.
func word[T ~string](f fields, s *T) {
	text := string(*s)
	f.text(&text)
	*s = T(text)
}

func (f fields) meta(m *page.Meta) {
	if f.d == nil {
		f.e.int(int64(len(*m)))
		for _, name := range sortedKeys(*m) {
			f.e.text(name)
			f.e.text((*m)[name])
		}
		return
	}
	n := f.d.count()
	if n == 0 {
		return
	}
	*m = make(page.Meta, min(n, 64))
	for range n {
		if f.d.bad {
			return
		}
		name := f.d.text()
		(*m)[name] = f.d.text()
	}
}

// rare reads or writes what few records have, as JSON.
func rare[T any](f fields, v **T) {
	if f.d == nil {
		if *v == nil {
			f.e.text("")
			return
		}
		f.e.text(string(encodeJSON(*v)))
		return
	}
	if text := f.d.text(); text != "" {
		*v = new(T)
		f.d.bad = json.Unmarshal([]byte(text), *v) != nil || f.d.bad
	}
}

func (r *pageRecord) fields(f fields) {
	p := &r.Page
	for _, s := range []*string{
		&p.Doc, &p.URL, &p.FinalURL, &p.CanonicalURL, &p.NormalizedURL, &p.Display, &p.Title, &p.Description,
		&p.ContentFormat, &p.Excerpt, &p.ContentHash, &p.ContentType,
	} {
		f.text(s)
	}
	word(f, &p.Type)
	word(f, &p.Source)
	f.meta(&p.Meta)
	rare(f, &p.GitHub)
	rare(f, &p.Error)
	for _, n := range []*int{&p.Tokens, &p.SizeBytes, &p.StatusCode} {
		integer(f, n)
	}
	integer(f, &p.Bytes)
	for _, t := range []*time.Time{&p.CreatedAt, &p.UpdatedAt, &p.FetchedAt} {
		f.time(t)
	}
	f.bool(&p.Stored)
	f.list(&p.Warnings)
	i := &p.Info
	for _, n := range []*int64{&i.FetchMS, &i.ConvertMS, &i.RenderMS, &i.LLMMS} {
		integer(f, n)
	}
	for _, n := range []*int{
		&i.LLMPromptTokens, &i.LLMCompletionTokens, &i.LLMTotalTokens, &i.HTMLChars, &i.MarkdownChars, &i.HTMLTokens,
	} {
		integer(f, n)
	}
	f.text(&i.RenderEnd)
	f.text(&i.LLMModel)
	f.sum(&r.Source)
	integer(f, &r.Job)
	integer(f, &r.Edition)
	// older programs do not know of what follows, and read what has none
	if f.d != nil && len(f.d.b) == 0 || f.d == nil && len(p.Preferences) == 0 && p.ReadAt.IsZero() {
		return
	}
	stated := &p.Preferences
	if f.d != nil {
		stated = nil
	}
	if rare(f, &stated); stated != nil {
		p.Preferences = *stated
	}
	if f.d != nil && len(f.d.b) == 0 || f.d == nil && p.ReadAt.IsZero() {
		return
	}
	f.time(&p.ReadAt)
}

func (r *renditionRecord) fields(f fields) {
	f.sum(&r.Source)
	f.sum(&r.Body)
	for _, s := range []*string{
		&r.Recipe, &r.Title, &r.Description, &r.CanonicalURL, &r.PageType, &r.FinalURL, &r.Validator, &r.ContentHash,
		&r.Excerpt,
	} {
		f.text(s)
	}
	word(f, &r.From)
	f.meta(&r.Meta)
	for _, n := range []*int{
		&r.Tokens, &r.HTMLTokens, &r.HTMLChars, &r.MarkdownChars, &r.Readme.From, &r.Readme.To, &r.SymbolMap.From,
		&r.SymbolMap.To,
	} {
		integer(f, n)
	}
	integer(f, &r.Bytes)
	f.list(&r.Warnings)
	for _, t := range []*time.Time{&r.Expires, &r.Fresh, &r.FetchedAt} {
		f.time(t)
	}
	f.bool(&r.Rendered)
	// older programs do not know of what follows, and read what has none
	if f.d != nil && len(f.d.b) == 0 || f.d == nil && r.SiteRecipe == "" && r.Links == nil {
		return
	}
	f.text(&r.SiteRecipe)
	f.text(&r.Next)
	if f.d != nil && len(f.d.b) == 0 || f.d == nil && r.Links == nil {
		return
	}
	if f.d != nil {
		r.Links = new(Links)
	}
	f.list(&r.Links.URLs)
	f.bool(&r.Links.Cut)
}
