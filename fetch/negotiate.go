package fetch

import (
	"bytes"
	"context"
	"net/http"
	"strconv"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// negotiate is the step that accepts markdown sent by the origin (rules A2 to A4). It changes no byte but where a
// reader would not see something of it.
type negotiate struct{ f *Fetcher }

// Name implements [Step].
func (negotiate) Name() string { return "negotiate" }

// Try takes the origin's answer as markdown by its label, its name or its looks. HTML under the label of markdown is
// read as HTML from then on, and markdown under another as text. Text that is in doubt is rejected: the next steps read
// the page in another way.
func (s negotiate) Try(ctx context.Context, a *attempt) result {
	if file := media.MarkdownPath(a.url.Path); (a.kind == media.HTML || a.kind == media.Document && file) &&
		convert.IsMislabelledMarkdown(a.content, file) {
		a.kind = media.Text // its label says nothing of the host
	}
	switch {
	case a.kind == media.HTML:
		return skipped("the origin answered HTML")
	case a.kind == media.Document, a.kind == media.Text && media.NoText(a.content):
		return skipped("the origin answered another format")
	case media.Disguised(a.content):
		labelled := a.kind == media.Markdown
		a.kind = media.HTML
		if labelled {
			s.f.preferHTML(a)
			return rejected("HTML labelled as markdown")
		}
		return skipped("the origin answered HTML")
	case a.kind == media.Text && !media.MarkdownPath(a.url.Path) &&
		!convert.LooksLikeMarkdown(a.content[:min(len(a.content), 16<<10)]):
		return skipped("plain text that does not look like markdown")
	}
	c := convert.CleanMarkdown(a.content, a.resp.Header.Get("Content-Type"), a.url)
	r := foreign(c, a.resp.Header.Get("X-Markdown-Tokens"), page.Negotiated)
	r.FinalURL = a.url.String()
	if doubt := s.doubt(a, c.Text); doubt != convert.NoDoubt {
		return s.reject(ctx, a, r, c, doubt)
	}
	if a.kind == media.Markdown && a.status == http.StatusOK {
		s.f.learn(a, store.Negotiates)
		s.f.unlearn(a, store.MarkdownOff)
	}
	a.noteRemoved(c)
	return result{rendition: r, good: true}
}

// doubt judges whether the origin's markdown can be the page. It accepts markdown files and error pages unless they are
// empty, and short pages: an origin may have little to say.
func (negotiate) doubt(a *attempt, markdown []byte) convert.Doubt {
	if len(bytes.TrimSpace(markdown)) == 0 {
		return convert.DoubtEmpty
	}
	if a.kind != media.Markdown || a.status != http.StatusOK || media.MarkdownPath(a.url.Path) {
		return convert.NoDoubt
	}
	if d := convert.DoubtMarkdown(markdown); d != convert.DoubtThin {
		return d
	}
	return convert.NoDoubt
}

// reject records that the markdown of an origin is unusable, so that later requests prefer HTML, and requests the HTML
// once. If there is no HTML, it serves the markdown with a warning: no third party would get another one. Only after
// empty markdown the cascade goes on.
func (s negotiate) reject(ctx context.Context, a *attempt, r *store.Rendition, c convert.Cleaned,
	doubt convert.Doubt,
) result {
	asked := s.f.prefersHTML(a)
	s.f.preferHTML(a)
	a.warn("markdown-rejected")
	if !asked && a.status == http.StatusOK && a.req.Method != http.MethodHead && s.f.askHTML(ctx, a) {
		return rejected(string(doubt))
	}
	a.noteRemoved(c)
	if doubt == convert.DoubtEmpty {
		r.Warnings = page.AddWarning(r.Warnings, convert.WarnThin)
		return result{rendition: r, reason: string(doubt)}
	}
	return result{rendition: r, good: true, reason: string(doubt)}
}

// preferHTML makes later requests for the page negotiate for HTML, because its origin's markdown is unusable, and
// removes the stored response. When several pages of a host were so, requests for all of its pages do, for a while.
func (f *Fetcher) preferHTML(a *attempt) {
	if a.status != http.StatusOK {
		return // an error page says nothing about the page's markdown
	}
	f.noteInVain(markdownKey(a), failedStepLifetime)
	f.learn(a, store.MarkdownOff)
	f.deleteResponses(a)
}

// prefersHTML reports whether the page is asked for in HTML rather than negotiated in markdown, because its markdown or
// its host's was unusable.
func (f *Fetcher) prefersHTML(a *attempt) bool {
	return a.host.Knows(store.MarkdownOff, a.started) || !a.forced && f.failedRecently(markdownKey(a), a.started)
}

// markdownKey identifies the negotiated markdown of a page's origin among failed steps.
func markdownKey(a *attempt) string { return "negotiate " + a.key.String() }

// learn notes that the page shows a trait of its host, such as that it negotiates. Others may be told of that, so a
// page that is not to be kept teaches nothing.
func (f *Fetcher) learn(a *attempt, t store.Trait) {
	if !a.memorable {
		return
	}
	if _, _, err := f.o.Store.Learn(a.url.Hostname(), t, "", a.key.String()[:16], a.started); err != nil {
		f.o.Log.Debug("host not noted", "host", a.url.Hostname(), "error", err)
	}
}

// unlearn notes that the page does not show a trait of its host, such as that it negotiates, which another page showed.
// A single page that does not show it is enough to forget it.
func (f *Fetcher) unlearn(a *attempt, t store.Trait) {
	if !a.memorable {
		return
	}
	host := a.url.Hostname()
	h, err := f.o.Store.Host(host)
	if _, known := h.Fact(t, ""); err != nil || !known {
		return
	}
	_, err = f.o.Store.Forget(host, a.started, func(fact store.Fact) bool { return fact.Trait == t })
	if err != nil {
		f.o.Log.Debug("host not forgotten", "host", host, "error", err)
	}
}

// foreign returns a rendition for markdown made by others, negotiated or found beside the page. It uses their token
// count if it is a number and nothing was taken out (rule A4).
func foreign(c convert.Cleaned, tokens string, from page.Source) *store.Rendition {
	r := &store.Rendition{Markdown: c.Text, From: from, Title: page.TitleOf(c.Text), Warnings: c.Warnings}
	if n, err := strconv.ParseUint(strings.TrimSpace(tokens), 10, 31); err == nil && !c.Changed {
		r.Tokens = int(n)
	} else {
		r.Tokens = convert.Tokens(c.Text)
	}
	return r
}
