package fetch

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

// negotiate accepts markdown sent by the origin (rules A2 to A4). It changes no byte but where a reader would not see
// something of it.
type negotiate struct{ f *Fetcher }

func (negotiate) Name() string { return "negotiate" }

func (s negotiate) Try(ctx context.Context, a *attempt) result {
	switch {
	case a.kind == htmlKind:
		return skipped("the origin answered HTML")
	case a.kind == documentKind, a.kind == textKind && noText(a.content):
		return skipped("the origin answered another format")
	case disguised(a.content):
		labelled := a.kind == markdownKind
		a.kind = htmlKind
		if labelled {
			s.f.preferHTML(a)
			return rejected("HTML labelled as markdown")
		}
		return skipped("the origin answered HTML")
	case a.kind == textKind && !markdownPath(a.url.Path) &&
		!convert.LooksLikeMarkdown(a.content[:min(len(a.content), 16<<10)]):
		return skipped("plain text that does not look like markdown")
	}
	c := convert.CleanMarkdown(a.content, a.resp.Header.Get("Content-Type"), a.url)
	r := foreign(c, a.resp.Header.Get("X-Markdown-Tokens"), page.Negotiated)
	r.FinalURL = a.url.String()
	if doubt := s.doubt(a, c.Text); doubt != convert.NoDoubt {
		return s.reject(ctx, a, r, c, doubt)
	}
	if a.kind == markdownKind && a.status == http.StatusOK && a.memorable {
		s.f.learn(a, store.Negotiates)
	}
	a.take(c)
	return result{rendition: r, good: true}
}

// doubt judges whether the origin's markdown can be the page. It accepts markdown files and error pages unless they are
// empty.
func (negotiate) doubt(a *attempt, markdown []byte) convert.Doubt {
	if len(bytes.TrimSpace(markdown)) == 0 {
		return convert.DoubtEmpty
	}
	if a.kind != markdownKind || a.status != http.StatusOK || markdownPath(a.url.Path) {
		return convert.NoDoubt
	}
	return convert.DoubtMarkdown(markdown)
}

// reject records that the host's markdown is unusable, so that later requests prefer HTML, and requests the HTML once.
// If there is no HTML, it serves the markdown with a warning.
func (s negotiate) reject(ctx context.Context, a *attempt, r *store.Rendition, c convert.Cleaned,
	doubt convert.Doubt,
) result {
	h, _ := s.f.o.Store.Host(a.url.Hostname()) // nothing, where nothing is known
	asked := h.Knows(store.MarkdownOff, a.started)
	s.f.preferHTML(a)
	a.warn("markdown-rejected")
	if !asked && a.status == http.StatusOK && a.req.Method != http.MethodHead && s.f.askHTML(ctx, a) {
		return rejected(string(doubt))
	}
	if doubt == convert.DoubtEmpty || doubt == convert.DoubtThin {
		r.Warnings = addWarning(r.Warnings, convert.WarnThin)
	}
	a.take(c)
	return result{rendition: r, reason: string(doubt)}
}

// preferHTML makes later requests to the host prefer HTML, because its markdown is unusable, and removes the stored
// response.
func (f *Fetcher) preferHTML(a *attempt) {
	if a.status != http.StatusOK {
		return // an error page says nothing about the host's markdown
	}
	f.learn(a, store.MarkdownOff)
	f.forget(a)
}

// learn notes a trait of the page's host.
func (f *Fetcher) learn(a *attempt, t store.Trait) {
	if _, _, err := f.o.Store.Learn(a.url.Hostname(), t, "", a.key.String()[:16], a.started); err != nil {
		f.o.Log.Debug("host not noted", "host", a.url.Hostname(), "error", err)
	}
}

// take notes what was taken out of the markdown that is answered.
func (a *attempt) take(c convert.Cleaned) {
	a.recoded = c.Changed
	if a.req.View.Receipts {
		a.removed = &c.Removed
	}
}

// foreign returns a rendition for markdown made by others. It uses their token count if it is a number and nothing was
// taken out (rule A4).
func foreign(c convert.Cleaned, tokens string, from page.Source) *store.Rendition {
	r := &store.Rendition{Markdown: c.Text, From: from, Title: titleOf(c.Text), Warnings: c.Warnings}
	if n, err := strconv.ParseUint(strings.TrimSpace(tokens), 10, 31); err == nil && !c.Changed {
		r.Tokens = int(n)
	} else {
		r.Tokens = convert.Tokens(c.Text)
	}
	return r
}

// titleOf returns the title in markdown's front matter, else its first heading of level one.
func titleOf(markdown []byte) string {
	block, body := page.SplitFrontMatter(markdown)
	for line := range bytes.Lines(block) {
		if v, ok := bytes.CutPrefix(line, []byte("title:")); ok {
			if title := strings.Trim(strings.TrimSpace(string(v)), `"'`); title != "" {
				return title
			}
		}
	}
	for line := range bytes.Lines(body[:min(len(body), 16<<10)]) {
		if v, ok := bytes.CutPrefix(line, []byte("# ")); ok {
			return strings.TrimSpace(strings.TrimRight(strings.TrimSpace(string(v)), "#"))
		}
	}
	return ""
}
