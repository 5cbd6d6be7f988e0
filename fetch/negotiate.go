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

// negotiate takes the markdown that the origin answered (rules A2 to A4). The bytes stay as they came.
type negotiate struct{ f *Fetcher }

func (negotiate) Name() string { return "negotiate" }

func (s negotiate) Try(ctx context.Context, a *attempt) result {
	switch {
	case a.kind == htmlKind:
		return skipped("the origin answered HTML")
	case a.kind == documentKind, a.kind == textKind && noText(a.content):
		return skipped("the origin answered another form")
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
	r := foreign(a.content, a.resp.Header.Get("X-Markdown-Tokens"), page.Negotiated)
	r.FinalURL = a.url.String()
	if doubt := s.doubt(a); doubt != convert.NoDoubt {
		return s.reject(ctx, a, r, doubt)
	}
	if a.kind == markdownKind && a.status == http.StatusOK && a.memorable {
		s.f.learn(a.url.Hostname(), func(h *store.Host) bool { return h.Negotiates },
			func(h *store.Host) { h.Negotiates = true })
	}
	return result{rendition: r, good: true}
}

// doubt judges what the origin gave as its page in markdown. A file that is markdown is what it is, and an error page
// too.
func (negotiate) doubt(a *attempt) convert.Doubt {
	if len(bytes.TrimSpace(a.content)) == 0 {
		return convert.DoubtEmpty
	}
	if a.kind != markdownKind || a.status != http.StatusOK || markdownPath(a.url.Path) {
		return convert.NoDoubt
	}
	return convert.DoubtMarkdown(a.content)
}

// reject keeps in mind that the host's markdown is not to be had, and asks for the HTML instead, once: the next request
// names HTML first. Where there is no HTML the markdown is served all the same, and the warning tells.
func (s negotiate) reject(ctx context.Context, a *attempt, r *store.Rendition, doubt convert.Doubt) result {
	asked := false
	if h, err := s.f.o.Store.Host(a.url.Hostname()); err == nil {
		asked = h.PreferHTML
	}
	s.f.preferHTML(a)
	a.warn("markdown-rejected")
	if !asked && a.status == http.StatusOK && a.req.Method != http.MethodHead && s.f.askHTML(ctx, a) {
		return rejected(string(doubt))
	}
	switch doubt {
	case convert.DoubtEmpty, convert.DoubtThin:
		r.Warnings = []string{"thin"}
	case convert.DoubtHide:
		r.Warnings = []string{"hidden-text"}
	}
	return result{rendition: r, reason: string(doubt)}
}

// preferHTML makes the next request to the host name HTML first: its markdown is worth nothing. The response must not
// be replayed for it.
func (f *Fetcher) preferHTML(a *attempt) {
	if a.status != http.StatusOK {
		return // an error says nothing of the host's markdown
	}
	f.learn(a.url.Hostname(), func(h *store.Host) bool { return h.PreferHTML },
		func(h *store.Host) { h.PreferHTML = true })
	f.forget(a)
}

// learn notes something about a host unless it is known.
func (f *Fetcher) learn(host string, known func(*store.Host) bool, note func(*store.Host)) {
	if h, err := f.o.Store.Host(host); err == nil && known(&h) {
		return
	}
	if err := f.o.Store.UpdateHost(host, note); err != nil {
		f.o.Log.Debug("host not noted", "host", host, "err", err)
	}
}

// foreign returns markdown that others made as a rendition. An origin's count of tokens is taken when it is one (rule
// A4).
func foreign(markdown []byte, tokens string, from page.Source) *store.Rendition {
	r := &store.Rendition{Markdown: markdown, From: from}
	if n, err := strconv.ParseUint(strings.TrimSpace(tokens), 10, 31); err == nil {
		r.Tokens = int(n)
	} else {
		r.Tokens = convert.Tokens(markdown)
	}
	r.Title = titleOf(markdown)
	return r
}

// titleOf returns the title that markdown names: in its front matter, else its first heading of level one.
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
