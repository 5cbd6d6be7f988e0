package fetch

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// For how long discussions of forges are fresh, and for how long pages stand in for a forge that does not answer.
const (
	discussionLifetime = time.Minute // as in Cache-Control of GitHub's API
	staleLifetime      = 7 * 24 * time.Hour
)

// newGitHub returns a GitHub reader for pages of forges that uses the cache and the transport of f.
func newGitHub(f *Fetcher) *github.Reader {
	o := f.o.GitHub
	o.Get, o.Symbols, o.Log = f.getGitHub, f.o.Symbols, f.o.Log
	if t, ok := f.o.Direct.(interface {
		Dial(ctx context.Context, network, addr string) (net.Conn, error)
	}); ok {
		o.Dial = func(ctx context.Context, u *url.URL, network, addr string) (net.Conn, error) {
			return t.Dial(f.githubPolicy(ctx, u), network, addr)
		}
	}
	return github.New(o)
}

// githubPolicy marks ctx with the policy for a request to a forge at u: private addresses only if the operator has
// configured it.
func (f *Fetcher) githubPolicy(ctx context.Context, u *url.URL) context.Context {
	if f.github.Configured(u) {
		return transport.Endpoint(ctx, u)
	}
	return transport.OwnPolicy(ctx)
}

// getGitHub requests u of a forge, see [github.Options]. The cache does not store the response: the page made of it is
// stored. The credential does not follow a redirect to another origin.
func (f *Fetcher) getGitHub(ctx context.Context, u *url.URL, fields http.Header,
	follow github.Follow,
) (*http.Response, *url.URL, error) {
	f = f.newest.Load()
	ask := Request{Own: true, Method: http.MethodGet, Header: fields.Clone()}
	ask.Header.Set("Cache-Control", "no-store")
	for {
		resp, err := f.o.Client.RoundTrip(f.request(f.githubPolicy(ctx, u), ask, u, fields.Get("Accept")))
		if err != nil {
			return nil, nil, Explain(u, err)
		}
		next, redirected := transport.Location(u, resp)
		if !redirected {
			return resp, u, media.DecodeBody(resp)
		}
		transport.Discard(resp)
		if err := follow(u, next); err != nil {
			return nil, nil, err
		}
		if !strings.EqualFold(u.Scheme, next.Scheme) || page.Authority(u) != page.Authority(next) {
			ask.Header.Del("Authorization")
		}
		u = next
	}
}

// githubTarget returns what an own fetch reads from a forge instead of the page, or nil if it needs the page itself:
// its HTML, its elements, or what a browser shows.
func (f *Fetcher) githubTarget(a *attempt) *github.Target {
	r := &a.req
	if !r.Own || r.Method == http.MethodHead || r.HTML || r.origins() || r.needsBrowser() || r.Render == RenderAlways ||
		r.View.chooses() || a.credentials {
		return nil
	}
	return f.github.Target(r.URL)
}

// fromGitHub answers with the page made of a target of GitHub or another forge: the stored one while it is fresh, else
// a new one, else the stored one if the forge fails. It returns nil and no error if the page itself must be fetched.
func (f *Fetcher) fromGitHub(ctx context.Context, a *attempt) (*Answer, error) {
	if a.target.Type.IsFile() {
		return f.githubFile(ctx, a)
	}
	recipe := digest(f.github.Recipe(a.target) + "\n" + f.wanted)
	kept, _ := f.o.Store.PageRendition(a.root, recipe) // nil if there is none
	if !a.memorable {
		kept = nil
	}
	if fresh := kept != nil && a.started.Before(kept.Fresh); fresh && !a.req.Force {
		a.attempts = append(a.attempts,
			page.Attempt{Step: "github", Outcome: page.Answered, Reason: "rendition from the store"})
		o := cache.Outcome{Hit: true, TTL: kept.Fresh.Sub(a.started)}
		if !a.target.Type.IsDiscussion() { // whose lifetime the forge says
			o.Lifetime = f.o.PageLifetime
		}
		return f.answerMade(ctx, a, kept, o)
	}
	if a.req.CacheOnly {
		return nil, &Error{Kind: KindHTTP, URL: page.Mask(a.req.URL), Status: http.StatusGatewayTimeout}
	}
	m := f.readGitHub(ctx, a, kept, recipe)
	a.attempts = append(a.attempts, m.attempts...)
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case m.err != nil && kept != nil && !errors.Is(m.err, github.ErrGone):
		left := kept.Fresh.Sub(a.started).Truncate(time.Second)
		return f.answerMade(ctx, a, kept, cache.Outcome{Hit: true, TTL: min(-time.Second, left)})
	case m.err != nil:
		// it may be private, and we may lack the right token
		if f.github.Private(a.target) || errors.Is(m.err, github.ErrGone) {
			a.req.NoRemote = true
		}
		f.o.Log.Debug("github target failed, fetching the page itself", "url", page.Mask(a.req.URL), "err", m.err)
		return nil, nil // the page itself may answer
	}
	a.private, a.memorable = a.private || m.Private, a.memorable && (!m.Private || f.o.Private)
	outcome := cache.Outcome{Forward: "uri-miss"}
	if kept != nil {
		outcome = cache.Outcome{Forward: "stale", Status: http.StatusOK}
	}
	if m.Unchanged {
		outcome = cache.Outcome{Forward: "stale", Status: http.StatusNotModified}
	}
	return f.answerMade(ctx, a, m.rendition, outcome)
}

// githubPage is the result of reading a target of a forge.
type githubPage struct {
	*github.Page
	rendition *store.Rendition
	attempts  []page.Attempt
	err       error
}

// readGitHub makes and stores the page of a target of GitHub or another forge, once for all concurrent requests that
// may share it.
func (f *Fetcher) readGitHub(ctx context.Context, a *attempt, kept *store.Rendition, recipe string,
) (m githubPage) {
	follow := f.followGitHub(a)
	read := func(ctx context.Context) (m githubPage) {
		validator := ""
		if kept != nil {
			validator = kept.Validator
		}
		if m.Page, m.attempts, m.err = f.github.Read(ctx, a.target, validator, follow); m.err == nil {
			m.rendition = f.keepGitHub(a, m.Page, kept, recipe)
		}
		return m
	}
	if !a.memorable {
		return read(ctx)
	}
	//nolint:contextcheck // it must not end with the request that began it
	done := f.flights.DoChan(fmt.Sprintf("github %s %s %t", a.key, recipe, a.req.Force), func() (any, error) {
		var m githubPage
		err := f.detached(github.Timeout+f.o.Timeout, func(ctx context.Context) { m = read(transport.OwnPolicy(ctx)) })
		return m, err
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return githubPage{err: res.Err}
		}
		return res.Val.(githubPage)
	case <-ctx.Done():
		return githubPage{err: context.Cause(ctx)}
	}
}

// followGitHub returns what decides whether a redirect of a forge is followed: the rules, and the caller of the fetch.
func (f *Fetcher) followGitHub(a *attempt) func(next *url.URL) error {
	return func(next *url.URL) error {
		if err := f.Blocked(next); err != nil {
			return err
		}
		if a.req.Follow != nil {
			if err := a.req.Follow(next); err != nil {
				return &unfollowedError{err}
			}
		}
		return nil
	}
}

// keepGitHub returns the rendition of a page made from a target of a forge, and stores it if allowed. For an unchanged
// page it renews the lifetime of the kept rendition.
func (f *Fetcher) keepGitHub(a *attempt, m *github.Page, kept *store.Rendition, recipe string,
) *store.Rendition {
	lifetime := f.o.PageLifetime
	if a.target.Type.IsDiscussion() {
		lifetime = min(lifetime, discussionLifetime)
	}
	r := githubRendition(m, a)
	if m.Unchanged {
		r = new(*kept)
	}
	r.Recipe = recipe
	r.Fresh = a.started.Add(lifetime)
	r.Expires = r.Fresh.Add(staleLifetime)
	b := *a
	b.best, b.resp = r, madeResponse(r) //nolint:bodyclose // it has none
	f.complete(&b)
	if !a.memorable || m.Private && !f.o.Private {
		return b.best
	}
	if err := f.o.Store.PutPageRendition(a.root, b.best); err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("rendition not stored", "url", page.Mask(a.url), "err", err)
	}
	return b.best
}

// githubRendition returns the rendition for a page made from a target of a forge.
func githubRendition(m *github.Page, a *attempt) *store.Rendition {
	return &store.Rendition{
		From: page.Local, FinalURL: a.req.URL.String(), Title: m.Title, Description: m.Description, Meta: m.Meta,
		Markdown: m.Markdown, Tokens: convert.Tokens(m.Markdown), Readme: store.Span(m.Readme),
		SymbolMap: store.Span(m.SymbolMap), Warnings: m.Warnings, Validator: m.Validator, Bytes: m.Bytes,
	}
}

// answerMade answers with a page made from a target of GitHub or another forge. outcome says whether it came from the
// store, as the cache would have said it.
func (f *Fetcher) answerMade(ctx context.Context, a *attempt, r *store.Rendition,
	outcome cache.Outcome,
) (*Answer, error) {
	a.best, a.kind = r, media.Markdown
	f.goTo(a, a.req.URL)
	a.resp = madeResponse(r) //nolint:bodyclose // it has none
	a.status, a.outcome = http.StatusOK, outcome
	a.page.Info.FetchMS = time.Since(a.started).Milliseconds()
	a.page.Readme, a.page.SymbolMap = r.Readme.Of(r.Markdown), r.SymbolMap.Of(r.Markdown)
	a.nameGitHub(r.Meta["branch"])
	return f.answerView(ctx, a, outcome.Hit)
}

// PartsOf returns the README and the symbol map in the markdown of the page of a repository of GitHub or another forge,
// each empty if it has none.
func PartsOf(markdown []byte) (readme, symbolMap string) {
	r, m := github.Parts(markdown)
	return store.Span(r).Of(markdown), store.Span(m).Of(markdown)
}

// nameGitHub sets the page's fields about the target of GitHub or another forge. branch is the real one of a
// repository, if it is known.
func (a *attempt) nameGitHub(branch string) {
	t := a.target
	if t.GitHubInfo == nil {
		return
	}
	info := *t.GitHubInfo
	info.Branch = cmp.Or(branch, info.Branch)
	a.page.GitHub, a.page.Type, a.page.Display = &info, t.Type, t.Display()
}

// madeResponse returns a substitute response for a page of GitHub or another forge made from several responses, for the
// parts of the answer that look at one.
func madeResponse(r *store.Rendition) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Body: http.NoBody, ContentLength: r.Bytes,
		Header: http.Header{"Content-Type": {"text/markdown; charset=utf-8"}},
	}
}

// githubFile answers with a file of a forge (rule B14). It converts a file that is not text like any other document.
func (f *Fetcher) githubFile(ctx context.Context, a *attempt) (*Answer, error) {
	begun := time.Now()
	ref, err := f.askRaw(ctx, a)
	f.goTo(a, a.req.URL)
	if err != nil {
		return nil, err
	}
	if a.status != http.StatusOK {
		return nil, &Error{
			Kind: KindHTTP, URL: page.Mask(a.req.URL), Status: a.status,
			RetryAfter: retryAfter(a.resp, time.Now()),
		}
	}
	a.attempts = append(slices.Clip(a.attempts), page.Attempt{
		Step: "github-raw", Outcome: page.Answered, MS: time.Since(begun).Milliseconds(),
	})
	a.page.Info.FetchMS = time.Since(a.started).Milliseconds()
	if !a.req.CacheOnly {
		f.github.Divide(ctx, a.target, f.followGitHub(a))
	}
	a.nameGitHub(a.target.BranchOf(ref))
	recipe := digest(a.target.FileRecipe(a.req.URL, ref) + "\n" + f.wanted)
	if a.hasSum {
		if r, err := f.o.Store.Rendition(a.sum, recipe); err == nil && a.memorable {
			a.best, a.kind = r, media.Markdown
			return f.answerLines(ctx, a, true)
		}
	}
	if err := a.read(f.o.MaxBody); err != nil || media.NoText(a.content) || !utf8.Valid(a.content) {
		if a.kind == media.Text && err == nil {
			a.kind = media.Document // the converter detects its type
		}
		return f.convertible(ctx, a)
	}
	a.best = githubRendition(a.target.File(ref, a.content), a)
	a.best.Source, a.best.Recipe = a.sum, recipe
	f.complete(a)
	if a.memorable {
		if err := f.o.Store.PutRendition(a.best); err != nil {
			f.o.Log.Debug("rendition not stored", "url", page.Mask(a.url), "err", err)
		}
	}
	a.kind = media.Markdown
	return f.answerLines(ctx, a, false)
}

// answerLines answers with the lines of a file of GitHub or another forge that the fragment of its URL names, or else
// as answerView does.
func (f *Fetcher) answerLines(ctx context.Context, a *attempt, recalled bool) (*Answer, error) {
	name := a.req.View.section(a.req.URL)
	from, to, ok := github.LineRange(name)
	if !ok {
		return f.answerView(ctx, a, recalled)
	}
	if a.content == nil {
		if err := a.read(f.o.MaxBody); err != nil {
			return nil, err
		}
	}
	lines := a.target.Lines(a.content, from, to)
	if lines == nil { // the file ends before
		return f.answerView(ctx, a, recalled)
	}
	shown := *a.best
	shown.Markdown, shown.Tokens, shown.ContentHash = lines.Markdown, convert.Tokens(lines.Markdown), ""
	a.shown, a.page.Section = &shown, name
	for _, w := range lines.Warnings {
		a.warn(w)
	}
	return f.answer(a, recalled), nil
}

// askRaw requests the raw content of a file of GitHub or another forge under each possible reference until it is found:
// without a credential, so that what everybody may read is known to be public, and else with it. It returns the last
// reference requested.
func (f *Fetcher) askRaw(ctx context.Context, a *attempt) (ref string, err error) {
	if f.github.Private(a.target) && !a.req.CacheOnly {
		return f.askPrivateRaw(ctx, a, ref)
	}
	for _, ref = range a.target.Refs() {
		if a.resp != nil {
			a.resp.Body.Close()
		}
		f.goTo(a, a.target.RawURL(ref))
		if err := f.ask(f.githubPolicy(ctx, a.url), a); err != nil {
			return ref, err
		}
		if a.status != http.StatusNotFound {
			break
		}
	}
	elsewhere := page.Normalize(a.url) != page.Normalize(a.target.RawURL(ref)) // as to a form to sign in
	if a.status == http.StatusOK && !elsewhere || a.req.CacheOnly || !f.github.MayBePrivate(a.target) {
		return ref, nil
	}
	return f.askPrivateRaw(ctx, a, ref)
}

// askPrivateRaw requests the raw content of a file of GitHub or another forge with the credential of its host. If that
// does not help, the response without it stays.
func (f *Fetcher) askPrivateRaw(ctx context.Context, a *attempt, shown string) (string, error) {
	for _, ref := range a.target.Refs() {
		//nolint:bodyclose // the attempt's is closed
		resp, from, err := f.github.Content(ctx, a.target, ref, f.followGitHub(a))
		if errors.Is(err, github.ErrGone) {
			continue
		}
		if err != nil {
			break
		}
		if a.resp != nil {
			a.resp.Body.Close()
		}
		a.response = response{}
		f.look(a, resp)
		f.goTo(a, from)
		a.outcome = cache.Outcome{Forward: "uri-miss"}
		a.private, a.memorable = true, a.memorable && f.o.Private
		return ref, nil
	}
	if a.resp == nil {
		return shown, &Error{Kind: KindHTTP, URL: page.Mask(a.req.URL), Status: http.StatusNotFound}
	}
	return shown, nil
}

// answerView answers with the part of a page of GitHub or another forge that the view selects.
func (f *Fetcher) answerView(ctx context.Context, a *attempt, recalled bool) (*Answer, error) {
	if err := f.narrow(ctx, a); err != nil {
		return nil, err
	}
	return f.answer(a, recalled), nil
}
