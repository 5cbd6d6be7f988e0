package fetch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"readthru/page"
	"readthru/store"
)

// GitHub says where GitHub is and how its repositories, files, issues, pull requests and gists are read by own fetches
// (rules B10 to B15). The zero value is github.com without a token.
type GitHub struct {
	// BaseURL is where pages and clones are. If empty, https://github.com. Another one is a GitHub Enterprise Server: URLs
	// of its host are read as GitHub's too, and the token is for it.
	BaseURL string

	// CodeloadURL, RawURL and APIURL are where archives, contents of files and the REST API are. If empty, those of
	// github.com; of an Enterprise Server, the places below BaseURL where such a server has them.
	CodeloadURL, RawURL, APIURL string

	Token    string        // sent to APIURL and nowhere else; if empty issues and pull requests are read as pages
	Lifetime time.Duration // of a repository's page, before it is validated; if zero 24 h
	Git      string        // the program that clones what cannot be had as an archive; if empty nothing is cloned
	Dir      string        // where clones lie while they are read; if empty the system's directory for such
	CAFile   string        // PEM file of the roots that git trusts; if empty its own
}

const (
	repositoryTime = 2 * time.Minute // for all that it takes to read a repository (rule B10)
	staleLifetime  = 7 * 24 * time.Hour
	githubHops     = 5 // redirects
	repositories   = 2 // read at once
	githubRecipe   = 1 // raised when what is made of the same becomes another
	symbolTokens   = 6000
)

// hub is one GitHub.
type hub struct {
	host     string // of its pages, with port unless that is the default
	base     *url.URL
	codeload *url.URL // nil: below base
	raw      *url.URL // nil: below base
	api      *url.URL
	token    string
	operated map[string]bool // host:port of what the operator named: it may be private
}

// github reads what is on GitHub.
type github struct {
	f        *Fetcher
	hubs     []*hub
	limits   treeLimits
	reading  *semaphore.Weighted
	projects *lru.Cache[string, project] // by API address
	dir      sync.Once                   // has been cleared
}

func newGitHub(f *Fetcher) *github {
	projects, _ := lru.New[string, project](256) // fails for sizes below 1 only
	g := &github{f: f, limits: defaultTreeLimits, reading: semaphore.NewWeighted(repositories), projects: projects}
	o := f.o.GitHub
	public := func() *hub {
		return &hub{
			host: "github.com", base: at("https://github.com/"), codeload: at("https://codeload.github.com/"),
			raw: at("https://raw.githubusercontent.com/"), api: at("https://api.github.com/"), operated: map[string]bool{},
		}
	}
	h := public()
	if o.BaseURL != "" && strings.TrimRight(o.BaseURL, "/") != "https://github.com" {
		h.base, h.codeload, h.raw = f.endpoint(h, "github.base_url", o.BaseURL, nil), nil, nil
		if h.base == nil {
			h = public()
		} else {
			h.host, h.api = page.Authority(h.base), h.base.JoinPath("api/v3")
		}
	}
	h.token = o.Token
	h.codeload = f.endpoint(h, "github.codeload_url", o.CodeloadURL, h.codeload)
	h.raw = f.endpoint(h, "github.raw_url", o.RawURL, h.raw)
	h.api = f.endpoint(h, "github.api_url", o.APIURL, h.api)
	g.hubs = []*hub{h}
	if h.host != "github.com" {
		g.hubs = append(g.hubs, public())
	}
	return g
}

// at parses an address of ours.
func at(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// endpoint returns the address that the operator named; normal when there is none, or it cannot be used.
func (f *Fetcher) endpoint(h *hub, key, raw string, normal *url.URL) *url.URL {
	if raw == "" || normal != nil && strings.TrimRight(raw, "/") == strings.TrimRight(normal.String(), "/") {
		return normal
	}
	u, err := page.Parse(raw)
	if err != nil {
		f.o.Log.Warn("github address not usable", "key", key, "err", err)
		return normal
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/")+"/", "", "", ""
	h.operated[hostPort(u)] = true
	return u
}

// target is what a URL names on a hub.
type target struct {
	*hub
	*page.GitHubInfo // nil for a gist
	kind             page.Type
	ref              string // of a file: branch and path as the URL has them, escaped
	gist             string // id of a gist
}

// target returns what an own fetch of a page is to be answered from instead of the page; nil if from the page itself:
// for what is no business of ours here, and for wishes that only the page fulfils.
func (g *github) target(a *attempt) *target {
	r := &a.req
	if !r.Own || r.Method == http.MethodHead || r.HTML || r.origins() || r.looks() || r.Render == RenderAlways ||
		r.View.chooses() || a.credentials {
		return nil
	}
	for _, h := range g.hubs {
		if t := h.target(r.URL); t != nil {
			return t
		}
	}
	return nil
}

func (h *hub) target(u *url.URL) *target {
	known := *u
	if id := gistOf(u); id != "" && h.host == "github.com" {
		return &target{hub: h, kind: page.Web, gist: id}
	}
	if page.Authority(u) == h.host {
		known.Scheme, known.Host = "https", "github.com"
	} else if h.host != "github.com" {
		return nil
	}
	info, kind := page.GitHubOf(&known)
	switch kind {
	case "":
		return nil
	case page.GitHubFile:
		parts := strings.FieldsFunc(known.EscapedPath(), func(r rune) bool { return r == '/' })
		skip := 3 // owner, repository, blob
		if !strings.EqualFold(known.Host, "github.com") && !strings.EqualFold(known.Host, "www.github.com") {
			skip = 2
		}
		return &target{hub: h, GitHubInfo: info, kind: kind, ref: strings.Join(parts[skip:], "/")}
	}
	return &target{hub: h, GitHubInfo: info, kind: kind}
}

// name is the repository's.
func (t *target) name() string { return t.Owner + "/" + t.Repo }

// made is what was made of a target.
type made struct {
	rendition *store.Rendition // complete but for what it takes from the attempt
	private   bool             // what it was made of is not public
	unchanged bool             // the host says that what is held is current
}

// errGone says that the host has no such thing, or none for us.
var errGone = errors.New("the host says that it is not there")

// errUnchanged says that what is held is current.
var errUnchanged = errors.New("not modified")

// fromGitHub answers from what is made of a target. It returns nil and no error when the page itself is to be fetched.
func (f *Fetcher) fromGitHub(ctx context.Context, a *attempt, t *target) (*Answer, error) {
	if t.kind == page.GitHubFile {
		return f.githubFile(ctx, a, t)
	}
	if t.GitHubInfo != nil && t.kind != page.GitHubRepo && t.token == "" {
		return nil, nil
	}
	recipe := f.github.recipe(t)
	kept, err := f.o.Store.PageRendition(a.key, recipe)
	if err != nil || !a.memorable {
		kept = nil
	}
	if fresh := kept != nil && a.started.Before(kept.Fresh); fresh && !a.req.Force {
		a.attempts = append(a.attempts, page.Attempt{
			Step: "github", Outcome: page.Answered,
			Reason: "rendition from the store",
		})
		return f.answerMade(ctx, a, t, kept, fmt.Sprintf("readthru; hit; ttl=%d", int(kept.Fresh.Sub(a.started).Seconds())))
	}
	if a.req.CacheOnly {
		return nil, &Error{Kind: KindHTTP, URL: page.Mask(a.req.URL), Status: http.StatusGatewayTimeout}
	}
	b, m, err := f.makeOnce(ctx, a, t, kept, recipe)
	if b != nil {
		a.attempts = slices.Clone(b.attempts)
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && kept != nil && !errors.Is(err, errGone):
		return f.answerMade(ctx, a, t, kept, fmt.Sprintf("readthru; hit; ttl=%d",
			min(-1, int(kept.Fresh.Sub(a.started).Seconds()))))
	case err != nil:
		f.o.Log.Debug("github page asked for itself", "url", page.Mask(a.req.URL), "err", err)
		return nil, nil
	}
	a.private, a.memorable = a.private || m.private, a.memorable && (!m.private || f.o.Private)
	status := "readthru; fwd=uri-miss"
	if kept != nil {
		status = "readthru; fwd=stale; fwd-status=200"
	}
	if m.unchanged {
		status = "readthru; fwd=stale; fwd-status=304"
	}
	return f.answerMade(ctx, a, t, m.rendition, status)
}

// recipe names how a target's page is made.
func (g *github) recipe(t *target) string {
	version := "none"
	if g.f.o.Symbols != nil {
		version = g.f.o.Symbols.Version()
	}
	return digest(fmt.Sprintf("github %d %s %s %t\n%s", githubRecipe, version, t.base, t.token != "", g.f.wanted))
}

// answerMade answers with a page that was made here; status is what Cache-Status says of it.
func (f *Fetcher) answerMade(ctx context.Context, a *attempt, t *target, r *store.Rendition,
	status string,
) (*Answer, error) {
	a.best, a.kind, a.url = r, markdownKind, a.req.URL
	a.resp = madeResponse(r, status) //nolint:bodyclose // it has none
	a.status = http.StatusOK
	a.page.Info.FetchMS = time.Since(a.started).Milliseconds()
	a.page.Readme, a.page.SymbolMap = r.Readme.Of(r.Markdown), r.SymbolMap.Of(r.Markdown)
	a.page.GitHub = t.GitHubInfo
	if t.GitHubInfo != nil {
		named := page.New(t.onGitHub())
		a.page.Type, a.page.Display = named.Type, named.Display
	}
	if err := f.narrow(ctx, a); err != nil {
		return nil, err
	}
	return f.answer(a, strings.Contains(status, "hit")), nil
}

// onGitHub returns the address that a target has, or would have, on github.com.
func (t *target) onGitHub() *url.URL {
	u := at(t.RepoURL())
	switch t.kind {
	case page.GitHubFile:
		return u.JoinPath("blob", t.Branch, t.Path)
	case page.GitHubIssue:
		return u.JoinPath("issues", fmt.Sprint(t.IssueNumber))
	case page.GitHubPR:
		return u.JoinPath("pull", fmt.Sprint(t.PRNumber))
	}
	return u
}

// madeResponse stands in for the response of a page that was made of several.
func madeResponse(r *store.Rendition, status string) *http.Response {
	return &http.Response{
		StatusCode: http.StatusOK, Body: http.NoBody, ContentLength: r.Bytes,
		Header: http.Header{"Content-Type": {"text/markdown; charset=utf-8"}, "Cache-Status": {status}},
	}
}

// makeOnce makes the page of a target, once for all who wait for it, and keeps it. The attempt it returns tells what
// was tried.
func (f *Fetcher) makeOnce(ctx context.Context, a *attempt, t *target, kept *store.Rendition,
	recipe string,
) (*attempt, *made, error) {
	type outcome struct {
		a   *attempt
		m   *made
		err error
	}
	work := func(ctx context.Context, a *attempt) (o outcome) {
		o.a = a
		o.m, o.err = f.github.make(ctx, a, t, kept)
		if o.err == nil {
			f.keepMade(a, t, o.m, kept, recipe)
		}
		return o
	}
	if !a.memorable {
		o := work(ctx, a)
		return o.a, o.m, o.err
	}
	//nolint:contextcheck // it must not end with the request that began it
	done := f.flights.DoChan(fmt.Sprintf("github %s %s %t", a.key, recipe, a.req.Force), func() (any, error) {
		b := *a
		info := *a.page
		b.page = &info
		var o outcome
		err := f.detached(repositoryTime+f.o.Timeout, func(ctx context.Context) { o = work(OwnPolicy(ctx), &b) })
		return o, err
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return nil, nil, res.Err
		}
		o := res.Val.(outcome)
		return o.a, o.m, o.err
	case <-ctx.Done():
		return nil, nil, context.Cause(ctx)
	}
}

// make asks for what a target's page is made of. What is kept of it is validated where the host can tell.
func (g *github) make(ctx context.Context, a *attempt, t *target, kept *store.Rendition) (*made, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, repositoryTime, errTimeout)
	defer cancel()
	switch {
	case t.kind == page.GitHubRepo:
		return g.repository(ctx, a, t, kept)
	case t.gist != "":
		return g.readGist(ctx, a, t)
	}
	return g.discussion(ctx, a, t, kept)
}

// keepMade completes what was made and stores it. What is unchanged is kept for another while.
func (f *Fetcher) keepMade(a *attempt, t *target, m *made, kept *store.Rendition, recipe string) {
	lifetime := f.o.GitHub.Lifetime
	if lifetime == 0 {
		lifetime = 24 * time.Hour
	}
	if t.kind != page.GitHubRepo {
		lifetime = min(lifetime, time.Minute) // what the API says of itself
	}
	if m.unchanged {
		again := *kept
		m.rendition = &again
	}
	r := m.rendition
	r.Recipe, r.From, r.FinalURL = recipe, page.Local, a.req.URL.String()
	r.Fresh = a.started.Add(lifetime)
	r.Expires = r.Fresh.Add(staleLifetime)
	b := *a
	b.best, b.resp = r, madeResponse(r, "") //nolint:bodyclose // it has none
	f.complete(&b)
	m.rendition = b.best
	if !a.memorable || m.private && !f.o.Private {
		return
	}
	if err := f.o.Store.PutPageRendition(a.key, m.rendition); err != nil && !errors.Is(err, store.ErrFull) {
		f.o.Log.Warn("rendition not stored", "url", page.Mask(a.req.URL), "err", err)
	}
}

// told notes what a way to a target gave.
func (a *attempt) told(step string, begun time.Time, err error) {
	t := page.Attempt{Step: step, Outcome: page.Answered, MS: time.Since(begun).Milliseconds()}
	if err != nil {
		t.Outcome, t.Reason = page.Failed, err.Error()
	}
	a.attempts = append(slices.Clip(a.attempts), t)
}

// get asks one of a hub's hosts, through the cache, which keeps nothing of it: what is made of it is kept. Redirects
// are followed as in every own fetch, except with a token: that never leaves the host it is for. The caller closes the
// body.
func (g *github) get(ctx context.Context, a *attempt, h *hub, u *url.URL,
	fields http.Header,
) (*http.Response, *url.URL, error) {
	b := &attempt{req: Request{Own: true, Method: http.MethodGet, Header: fields.Clone()}, url: u}
	b.req.Header.Set("Cache-Control", "no-store")
	for hop := 0; ; hop++ {
		way := OwnPolicy(ctx)
		if h.operated[hostPort(b.url)] {
			way = Endpoint(ctx, b.url)
		}
		resp, err := g.f.o.Client.RoundTrip(g.f.request(way, b, fields.Get("Accept")))
		if err != nil {
			return nil, nil, Explain(b.url, err)
		}
		next, redirected := location(b.url, resp)
		if !redirected {
			if len(codings(resp.Header)) > 0 {
				err = decoded(resp)
			}
			return resp, b.url, err
		}
		_, _ = io.CopyN(io.Discard, resp.Body, 4<<10) // so that the connection can be used again
		resp.Body.Close()
		switch {
		case hop == githubHops:
			return nil, nil, fmt.Errorf("more than %d redirects", githubHops)
		case next.Scheme != b.url.Scheme && next.Scheme != "https", next.Hostname() == "":
			return nil, nil, fmt.Errorf("it redirects to %s", page.Mask(next))
		case fields.Get("Authorization") != "" && (next.Scheme != b.url.Scheme || hostPort(next) != hostPort(b.url)):
			return nil, nil, fmt.Errorf("it redirects to %s, which the token is not for", page.Mask(next))
		}
		if err := g.f.Blocked(next); err != nil {
			return nil, nil, err
		}
		if a.req.Follow != nil {
			if err := a.req.Follow(next); err != nil {
				return nil, nil, &unfollowedError{err}
			}
		}
		b.url = next
	}
}

// refusal returns the error that a status other than 200 is.
func refusal(resp *http.Response, u *url.URL) error {
	if resp.StatusCode == http.StatusNotFound || resp.StatusCode == http.StatusGone {
		return fmt.Errorf("%w: HTTP %d from %s", errGone, resp.StatusCode, u.Hostname())
	}
	return fmt.Errorf("HTTP %d from %s", resp.StatusCode, u.Hostname())
}
