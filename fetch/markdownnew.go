package fetch

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/markdownnew"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// For how long what markdown.new made is kept, and how its requests are counted.
const (
	markdownNewLifetime = 24 * time.Hour
	markdownNewCounter  = "markdown.new" // class of the durable counter, by UTC day
)

// markdownNew is the step that has a page converted by the third party markdown.new. It sends only URLs that pass the
// gate and writes every request to the ledger before sending it. A durable counter enforces the daily limit.
type markdownNew struct {
	f      *Fetcher
	mode   string
	limit  int64               // requests per day
	client *markdownnew.Client // nil if the configured address is invalid
}

// newMarkdownNew returns the step of f. It goes on with what before, if it is not nil, knows of the service.
func newMarkdownNew(f *Fetcher, before *markdownNew) *markdownNew {
	o := f.o.MarkdownNew
	m := &markdownNew{f: f, mode: o.Mode, limit: int64(o.DailyLimit)}
	if o.DailyLimit == 0 {
		m.limit = 500
	}
	var err error
	if m.client, err = markdownnew.New(o.BaseURL); err != nil {
		f.o.Log.Warn("markdown_new base URL not usable", "err", err)
	} else if before != nil && before.client != nil && *before.client.Base() == *m.client.Base() {
		m.client = before.client
	}
	return m
}

// MarkdownNewService is the name of markdown.new in the ledger of disclosures.
const MarkdownNewService = "markdown.new"

// Name implements [Step].
func (*markdownNew) Name() string { return "markdown_new" }

// Try asks markdown.new for the page, if the page may be disclosed at all. Whatever can refuse without a request comes
// first; the count of the day and the ledger are written only when the request is about to be sent (Permit).
func (m *markdownNew) Try(ctx context.Context, a *attempt) result {
	g := m.disclosureOf(a)
	if no := g.Refusal(); no != "" {
		return skipped(no)
	}
	if a.routed() {
		return skipped("the service does not get the route in the URL")
	}
	now := time.Now()
	key := "markdown_new " + a.key.String()
	switch {
	case m.client == nil || m.f.o.Direct == nil:
		return skipped("markdown_new.base_url is not usable")
	case m.f.o.Store.ServiceOff(MarkdownNewService):
		return skipped("the service is switched off")
	case m.f.failedRecently(key, now):
		return skipped("it failed for this page recently")
	case m.client.Paused(now):
		return skipped("the service asked for a pause")
	}
	if err := m.public(ctx, a.url); err != nil {
		return skipped("the host may not be public")
	}
	if res, ok := m.f.ofPeer(ctx, a, true); ok {
		return res
	}
	target := page.WithoutFragment(a.url)
	ans, err := m.client.Do(ctx, m.f.o.Direct, markdownnew.Ask{
		Page: target, Method: remoteMethod(a), Agent: m.f.o.UserAgent, Limit: m.f.o.MaxBody,
		Permit: func() error { return m.permit(ctx, target, now, g.Reason()) },
	})
	if err == nil {
		r := markdownNewRendition(a, ans)
		no := m.unfit(ctx, a, r)
		if no == "" {
			return result{rendition: r, good: true, reason: g.Reason()}
		}
		err = markdownnew.UnfitError(no)
	}
	if no, ok := errors.AsType[markdownnew.UnsentError](err); ok {
		return skipped(string(no))
	}
	m.f.noteFailedStep(ctx, key)
	if _, ok := errors.AsType[markdownnew.UnfitError](err); ok {
		return rejected(err.Error())
	}
	if e, ok := errors.AsType[*markdownnew.ServiceError](err); ok && e.Err != nil {
		err = Explain(m.client.Base(), e.Err)
	}
	return failedWith(err)
}

// permit takes a request to markdown.new from those of the day, and writes to the ledger that it is sent. An error says
// why it is not. A request that other nodes do not allow is given back.
func (m *markdownNew) permit(ctx context.Context, target *url.URL, now time.Time, why string) error {
	day := now.UTC().Format(time.DateOnly)
	if m.f.o.Store.Count(markdownNewCounter, day, 1) > m.limit {
		m.f.o.Store.Count(markdownNewCounter, day, -1)
		return markdownnew.UnsentError("the daily limit is reached")
	}
	if err := m.spend(ctx, day); err != nil {
		m.f.o.Store.Count(markdownNewCounter, day, -1)
		return err
	}
	err := m.f.o.Store.Disclose(store.Disclosure{
		Time: time.Now().UTC(), Service: MarkdownNewService, URL: page.Mask(target), Bytes: int64(len(target.String())),
		Why: why, Rule: "markdown_new.mode " + m.mode,
	})
	if err != nil {
		return markdownnew.UnsentError("the ledger is not writable")
	}
	return nil
}

// spend takes a request to markdown.new from those of all nodes on a day. Whoever does not know how many are left sends
// none.
func (m *markdownNew) spend(ctx context.Context, day string) error {
	if m.f.o.MarkdownNew.Spend == nil {
		return nil
	}
	switch ok, err := m.f.o.MarkdownNew.Spend(ctx, day, m.limit); {
	case err != nil:
		return markdownnew.UnsentError("how many requests other nodes have made is not known: " + err.Error())
	case !ok:
		return markdownnew.UnsentError("the daily limit of all nodes is reached")
	}
	return nil
}

// remoteMethod returns the conversion method that markdown.new is asked for: that by browser for a JavaScript shell
// that was not rendered locally.
func remoteMethod(a *attempt) string {
	if a.best != nil && page.HasWarning(a.best.Warnings, convert.WarnShell) && a.seen == nil {
		return markdownnew.Browser
	}
	return markdownnew.Auto
}

// markdownNewRendition returns the rendition for an answer of markdown.new, without what no reader would see.
func markdownNewRendition(a *attempt, ans *markdownnew.Answer) *store.Rendition {
	r := foreign(convert.CleanMarkdown(ans.Markdown, "", a.url), ans.Tokens, page.MarkdownNew)
	if ans.Title != "" {
		r.Title = string(convert.CleanText([]byte(ans.Title), "").Text)
	}
	r.FinalURL, r.Expires = a.url.String(), time.Now().Add(markdownNewLifetime)
	return r
}

// unfit returns why an answer of markdown.new is rejected, or "" if it is accepted. It rejects an answer with markedly
// less content than the local result, and one that shares no word with it: it is of another page, or an error.
func (m *markdownNew) unfit(ctx context.Context, a *attempt, r *store.Rendition) string {
	if a.status != http.StatusOK {
		return "" // the local result is an error page
	}
	have := 0
	if a.best != nil {
		have = a.best.Tokens
	}
	if got := convert.Tokens(r.Markdown); 5*got < 4*have {
		return fmt.Sprintf("markdown.new returned %d tokens, the page has %d", got, have)
	}
	if a.signs != nil && a.best == nil && 10*len(bytes.Fields(r.Markdown)) < a.signs.Words {
		return "markdown.new returned less than a tenth of the page's words"
	}
	if !gate.SharesWords(m.f.seenOf(ctx, a), r.Title+" "+string(r.Markdown)) {
		return "markdown.new returned a text that has no word of the page"
	}
	return ""
}

// seenOf returns what was seen of a page by ourselves, its title, its description and its text, for a comparison with
// what markdown.new says.
func (f *Fetcher) seenOf(ctx context.Context, a *attempt) string {
	if r := a.best; r != nil {
		return r.Title + " " + r.Description + " " + string(r.Markdown)
	}
	var seen string
	if a.kind != media.HTML || f.parsed(ctx, a, func(doc *convert.Document) error {
		res, err := doc.Convert(ctx, a.convert)
		if err == nil {
			seen = res.Title + " " + res.Description + " " + res.Markdown
		}
		return err
	}) != nil {
		return ""
	}
	return seen
}

// state returns the part of [Stats] about markdown.new.
func (m *markdownNew) state(now time.Time) (state string, sent, left int64) {
	if m.mode == "off" || m.client == nil {
		return "off", 0, 0
	}
	sent = m.f.o.Store.Count(markdownNewCounter, now.UTC().Format(time.DateOnly), 0)
	state = "on"
	if m.client.Resting(now) {
		state = "resting"
	}
	return state, sent, max(0, m.limit-sent)
}

// public checks that the addresses of a page's host are public, by means of the transport. A name that only a private
// network resolves must not be disclosed, whatever it looks like.
func (m *markdownNew) public(ctx context.Context, u *url.URL) error {
	t, ok := m.f.o.Direct.(interface {
		Public(ctx context.Context, u *url.URL) error
	})
	if !ok {
		return errors.New("the transport cannot resolve names")
	}
	ctx, cancel := context.WithTimeout(ctx, 3*time.Second)
	defer cancel()
	return t.Public(ctx, u)
}

// disclosureOf returns what a third party would learn of an attempt at a page.
func (m *markdownNew) disclosureOf(a *attempt) gate.Disclosure {
	return gate.Disclosure{
		Mode: m.mode, URL: a.url, Blocked: m.f.o.BlockedDomains, Status: a.status, Have: a.best != nil,
		Document: a.kind == media.Document, NoRemote: a.req.NoRemote,
		Credentials: a.credentials, Private: a.private, NoTransform: a.noTransform, Wall: a.wall, Content: a.content,
	}
}
