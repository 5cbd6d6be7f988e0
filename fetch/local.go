package fetch

import (
	"bytes"
	"context"
	"path"
	"strings"
	"time"
	"unicode/utf8"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

// convertBudget bounds the conversion of one page.
const convertBudget = 10 * time.Second

// local converts the content in hand (rule A8).
type local struct{ f *Fetcher }

func (local) Name() string { return "local" }

func (s local) Try(ctx context.Context, a *attempt) result {
	switch a.kind {
	case textKind:
		return result{rendition: plainText(a), good: true}
	case markdownKind:
		return skipped("the origin answered markdown")
	}
	ctx, cancel := context.WithTimeout(ctx, convertBudget)
	defer cancel()
	begun := time.Now()
	r, err := s.convert(ctx, a)
	a.page.Info.ConvertMS = time.Since(begun).Milliseconds()
	if err != nil {
		s.f.convertFailed.Add(1)
		a.failure = err
		return failedWith(err)
	}
	s.f.converted.Add(1)
	return result{rendition: r, good: !warns(r.Warnings, weak...), reason: strings.Join(r.Warnings, ", ")}
}

func (s local) convert(ctx context.Context, a *attempt) (*store.Rendition, error) {
	doc, err := s.f.document(ctx, a)
	if err != nil {
		return nil, err
	}
	if err := s.f.workers.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer s.f.workers.Release(1)
	res, err := doc.Convert(ctx, a.convert)
	if err != nil {
		return nil, err
	}
	return &store.Rendition{
		Source: a.sum, Recipe: a.recipe(), Markdown: []byte(res.Markdown), From: page.Local,
		Title: res.Title, Description: res.Description, CanonicalURL: res.CanonicalURL, PageType: res.PageType, Meta: res.Meta,
		Tokens: res.Tokens, HTMLTokens: res.HTMLTokens, HTMLChars: res.HTMLChars, Warnings: res.Warnings, FinalURL: a.url.String(),
	}, nil
}

// plainText keeps text as it is, in UTF-8, and fenced when its path says that it is code.
func plainText(a *attempt) *store.Rendition {
	md := a.content
	if !utf8.Valid(md) {
		md = inUTF8(a)
	}
	if lang, ok := codeLanguage(a.url.Path); ok {
		longest := 2
		for run := range bytes.FieldsFuncSeq(md, func(r rune) bool { return r != '`' }) {
			longest = max(longest, len(run))
		}
		fence := strings.Repeat("`", longest+1)
		md = []byte(fence + lang + "\n" + strings.TrimRight(string(md), "\n") + "\n" + fence + "\n")
	}
	return &store.Rendition{Source: a.sum, Recipe: a.recipe(), Markdown: md, From: page.Local, Title: strings.Trim(path.Base(a.url.Path), "/."), Tokens: convert.Tokens(md), FinalURL: a.url.String()}
}

// codeLanguage returns the language of a file by the ending of its path; false when that does not say code.
func codeLanguage(p string) (string, bool) {
	switch ext := strings.TrimPrefix(strings.ToLower(path.Ext(p)), "."); ext {
	case "go", "py", "js", "ts", "tsx", "jsx", "rs", "c", "h", "cc", "cpp", "hpp", "cs", "java", "kt", "rb", "php", "pl", "lua", "swift",
		"scala", "sh", "bash", "ps1", "sql", "css", "toml", "yaml", "yml", "ini", "json", "xml", "diff", "patch", "mod", "proto", "tf", "zig":
		return ext, true
	}
	return "", false
}
