// Package github reads what is on GitHub and other forges as markdown: repositories and their directories, files,
// issues, pull requests and gists.
//
// [New] makes a [Reader] of github.com, gitlab.com, codeberg.org, bitbucket.org and the hosts that [Options] name, such
// as a GitHub Enterprise Server. [Reader.Target] says what a URL names there, and [Reader.Read] makes its page: a
// repository's from its archive, or from a bare clone where there is no archive; that of an issue, a pull request or a
// gist from the host's API. Some kinds of files are converted as they are elsewhere (PDF, say), so the caller fetches
// files: [Target.Refs] and [Target.RawURL] say where the content is, [Reader.Content] gets it with a credential, and
// [Target.File] makes the page of one that is text.
//
// What hosts send is hostile input. No file of a repository is written to disk or checked out, limits bound what is
// read, and what is left out is a warning of the page. A host's token goes to that host alone, and only for what the
// host does not show without it: such a page is private. The API of GitHub is always asked with it.
//
// The limits of a repository: 256 MiB compressed, 1 GiB unpacked, a ratio of 100, 100,000 entries, 1 MiB for a file,
// two minutes. What is left out is named by the warnings repository-cut=…, repository-empty, readme-cut,
// names-refused=N, submodules, gitignore-cut, symbols-basic, symbols-cut, comments-cut=N and gist-cut.
package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
	"golang.org/x/sync/semaphore"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/page"
)

// Timeout bounds what it takes to read a target (rule B10), and is the processor time that git may use.
const Timeout = 2 * time.Minute

// Bounds of a read, and the version of the pages.
const (
	maxRedirects = 5
	maxReads     = 2 // repositories read at once
	recipe       = 3 // raise it when the same source gives a different page
	symbolTokens = 6000
)

// Options says where GitHub is and how to reach it. The zero value is github.com without a token.
type Options struct {
	// BaseURL is where GitHub's pages and clones are. If empty, https://github.com. Another one is a GitHub Enterprise
	// Server: URLs of its host are read as GitHub's too, and the token is for it.
	BaseURL string

	// CodeloadURL, RawURL and APIURL are where archives, contents of files and the REST API are. If empty, those of
	// github.com; of an Enterprise Server, the places below BaseURL where such a server has them.
	CodeloadURL, RawURL, APIURL string

	Token  string // for the host at BaseURL alone; if empty, issues and pull requests of GitHub are not targets
	Forges []Host // other hosts, or the tokens of those that are known
	Git    string // the program that clones a repository without an archive; if empty, nothing is cloned

	// CredentialHelper has git's credential helpers asked for the credentials of hosts without a token, as the user has
	// configured them.
	CredentialHelper bool

	Dir    string // holds clones while they are read; if empty, the system's temporary directory
	CAFile string // PEM file of the roots that git trusts; if empty, git's own

	// Get requests u with fields and returns the response, with its content coding removed, and the URL that it came
	// from. It calls follow before it follows a redirect, and ends with the error of follow. It must let requests to
	// [Reader.Configured] URLs reach private addresses, and no others. The caller closes the body.
	// It removes Authorization before it follows a redirect to another origin.
	Get func(ctx context.Context, u *url.URL, fields http.Header, follow Follow) (*http.Response, *url.URL, error)

	// Dial opens a connection to the host of a clone URL, for git; u may be [Reader.Configured]. If nil, nothing is
	// cloned.
	Dial func(ctx context.Context, u *url.URL, network, addr string) (net.Conn, error)

	Symbols *symbols.Engine // makes the symbol maps of repositories; if nil, they have none
	Log     *slog.Logger    // if nil, nothing is logged
}

// Host is a host with repositories.
type Host struct {
	Kind   page.Forge
	URL    string // where its pages and clones are
	APIURL string // if empty, where hosts of this kind have it
	Token  string // or user:password
}

// Follow returns an error when a redirect from one URL to the next must not be followed.
type Follow func(from, next *url.URL) error

// Reader reads what is on GitHub. It is safe for concurrent use.
type Reader struct {
	o          Options
	hosts      []*host
	limits     archiveLimits
	reads      *semaphore.Weighted
	projects   *lru.Cache[string, project] // by API address
	refs       *lru.Cache[string, refList] // by clone address
	configured map[string]bool             // origins of the URLs in Options
	clearDir   sync.Once
}

// host is one forge.
type host struct {
	kind     page.Forge
	name     string // of its pages, with port unless that is the default
	base     *url.URL
	codeload *url.URL // nil: below base
	contents *url.URL // nil: below base
	api      *url.URL
	wallet   *wallet
}

// New returns a Reader. It logs a URL in o that cannot be used, and takes the default in its place. It sends nothing.
// The host at o.BaseURL comes first, then o.Forges, then those that everybody knows and that are not among them.
func New(o Options) *Reader {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	projects, _ := lru.New[string, project](256) // fails for sizes below 1 only
	refs, _ := lru.New[string, refList](64)
	r := &Reader{
		o: o, limits: defaultLimits, reads: semaphore.NewWeighted(maxReads), projects: projects, refs: refs,
		configured: map[string]bool{},
	}
	h := public()
	if o.BaseURL != "" && strings.TrimRight(o.BaseURL, "/") != "https://github.com" {
		if base := r.endpoint("github.base_url", o.BaseURL, nil); base != nil {
			h = &host{kind: page.GitHub, name: page.Authority(base), base: base, api: base.JoinPath("api/v3")}
		}
	}
	h.wallet = r.wallet(h, o.Token)
	h.codeload = r.endpoint("github.codeload_url", o.CodeloadURL, h.codeload)
	h.contents = r.endpoint("github.raw_url", o.RawURL, h.contents)
	h.api = r.endpoint("github.api_url", o.APIURL, h.api)
	r.hosts = []*host{h}
	for _, f := range o.Forges {
		if h := r.forgeAt(f); h != nil {
			r.hosts = append(r.hosts, h)
		}
	}
	if !r.has("github.com") {
		h := public()
		h.wallet = r.wallet(h, "")
		r.hosts = append(r.hosts, h)
	}
	for name, kind := range page.KnownForges {
		if !r.has(name) {
			h := newHost(kind, mustParse("https://"+name+"/"))
			h.wallet = r.wallet(h, "")
			r.hosts = append(r.hosts, h)
		}
	}
	return r
}

// public returns github.com, without a wallet.
func public() *host {
	return &host{
		kind: page.GitHub, name: "github.com", base: mustParse("https://github.com/"),
		codeload: mustParse("https://codeload.github.com/"), contents: mustParse("https://raw.githubusercontent.com/"),
		api: mustParse("https://api.github.com/"),
	}
}

// mustParse parses a URL, of GitHub or another forge, that this package wrote.
func mustParse(raw string) *url.URL {
	u, err := url.Parse(raw)
	if err != nil {
		panic(err)
	}
	return u
}

// endpoint returns the URL of GitHub or another forge that an option names, or fallback when the option is empty or its
// URL cannot be used. It counts as configured from then on.
func (r *Reader) endpoint(key, raw string, fallback *url.URL) *url.URL {
	if raw == "" || fallback != nil && strings.TrimRight(raw, "/") == strings.TrimRight(fallback.String(), "/") {
		return fallback
	}
	u, err := page.Parse(raw)
	if err != nil {
		r.o.Log.Warn("github address not usable", "key", key, "err", err)
		return fallback
	}
	u.Path, u.RawPath, u.RawQuery, u.Fragment = strings.TrimRight(u.Path, "/")+"/", "", "", ""
	r.configured[origin(u)] = true
	return u
}

// origin returns, of a URL of GitHub or another forge, the scheme and the authority of u, in lower case.
func origin(u *url.URL) string { return strings.ToLower(u.Scheme) + "://" + page.Authority(u) }

// Configured reports whether u is on a host that [Options] name, which the operator may have put on a private address.
// Requests to others never reach one.
func (r *Reader) Configured(u *url.URL) bool { return r.configured[origin(u)] }

// Page is the markdown made of a target, and what is known about it.
type Page struct {
	Title, Description string
	Meta               page.Meta
	Markdown           []byte
	Readme, SymbolMap  Span     // of a repository, in Markdown
	Warnings           []string // what was left out, as tokens
	Validator          string   // entity tag of the source; empty: it cannot be validated
	Bytes              int64    // of a repository's archive, compressed
	Private            bool     // the source is not public

	// Unchanged says that the host confirmed the validator passed to Read: the page held is current, and all other
	// fields but Private are empty.
	Unchanged bool

	hidden int // pieces of text that were removed because no reader sees them
}

// Span is the range of bytes from From up to To.
type Span struct{ From, To int }

// warn adds a warning to a page of GitHub or another forge unless the page has it.
func (p *Page) warn(token string) {
	if !slices.Contains(p.Warnings, token) {
		p.Warnings = append(p.Warnings, token)
	}
}

// warnHidden warns of the pieces of text that were removed because no reader sees them.
func (p *Page) warnHidden() {
	if p.hidden > 0 {
		p.warn(fmt.Sprintf("%s=%d", convert.WarnHidden, p.hidden))
	}
}

var (
	// ErrGone says that the host has no such thing, or does not show it to us.
	ErrGone = errors.New("the host says that it is not there")

	errUnchanged = errors.New("not modified")
	errTimeout   = errors.New("the page took too long")
)

// read is one call of Reader.Read, for one target.
type read struct {
	*Reader
	t         *Target
	validator string
	follow    func(next *url.URL) error
	attempts  []page.Attempt
}

// Read makes the page of a target that is not a file. With the validator of a page that the caller holds, it asks the
// host whether that page is current. follow is asked before a redirect is followed. Read also returns what was tried,
// in each case. The error wraps [ErrGone] when there is nothing to read.
func (r *Reader) Read(ctx context.Context, t *Target, validator string,
	follow func(next *url.URL) error,
) (*Page, []page.Attempt, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, Timeout, errTimeout)
	defer cancel()
	rd := &read{Reader: r, t: t, validator: validator, follow: follow}
	var p *Page
	var err error
	switch {
	case t.gist != "":
		p, err = rd.readGist(ctx)
	case !t.Type.IsDiscussion():
		p, err = rd.repository(ctx)
	default:
		p, err = rd.discussion(ctx)
	}
	return p, rd.attempts, err
}

// tried notes how a step of a read of GitHub or another forge ended: archive, clone or api. The caller shows the
// attempts with the page.
func (r *read) tried(step string, begun time.Time, err error) {
	a := page.Attempt{Step: string(r.t.kind) + "-" + step, Outcome: page.Answered, MS: time.Since(begun).Milliseconds()}
	if err != nil {
		a.Outcome, a.Reason = page.Failed, err.Error()
	}
	r.attempts = append(r.attempts, a)
}

// get requests u of GitHub or another forge, with maxRedirects redirects at most, each of which the caller of Read may
// refuse. Options.Get removes credentials from a request that is redirected to another host. No redirect leads from
// https to http.
func (r *read) get(ctx context.Context, u *url.URL, fields http.Header) (*http.Response, *url.URL, error) {
	hops := 0
	return r.o.Get(ctx, u, fields, func(from, next *url.URL) error {
		hops++
		switch {
		case hops > maxRedirects:
			return fmt.Errorf("more than %d redirects", maxRedirects)
		case next.Scheme != from.Scheme && next.Scheme != "https", next.Hostname() == "":
			return fmt.Errorf("it redirects to %s", page.Mask(next))
		}
		return r.follow(next)
	})
}

// getAlone is get for answers that no other host has, those of an API: it follows no redirect to one.
func (r *read) getAlone(ctx context.Context, u *url.URL, fields http.Header) (*http.Response, *url.URL, error) {
	alone := *r
	alone.follow = func(next *url.URL) error {
		if origin(next) != origin(u) {
			return fmt.Errorf("it redirects to %s, which must not get the token", page.Mask(next))
		}
		return r.follow(next)
	}
	return alone.get(ctx, u, fields)
}

// statusError returns the error for a response of a forge with a status other than 200. Those by which hosts hide what
// is private are refusedErrors, so that shown tries a credential.
func statusError(resp *http.Response, u *url.URL) error {
	err := fmt.Errorf("HTTP %d from %s", resp.StatusCode, u.Hostname())
	switch resp.StatusCode {
	case http.StatusNotFound, http.StatusGone:
		return &refusedError{fmt.Errorf("%w: %w", ErrGone, err)}
	case http.StatusUnauthorized, http.StatusForbidden:
		return &refusedError{err}
	}
	return err
}

// githubForge is the forge GitHub, and GitHub Enterprise Server, which has no hosts of its own for archives and
// contents.
type githubForge struct{}

// repository implements forge for GitHub: the API's address of a repository.
func (githubForge) repository(t *Target) *url.URL { return below(t.api, "repos/"+t.place(), "") }

// archive implements forge for GitHub: it names the default branch HEAD, whatever it is called.
func (githubForge) archive(t *Target, ref, _ string) *url.URL {
	ref = cmp.Or(ref, "HEAD")
	if t.codeload != nil {
		return below(t.codeload, t.place()+"/tar.gz/"+escape(ref), "")
	}
	return below(t.base, t.place()+"/archive/"+escape(ref)+".tar.gz", "")
}

// raw implements forge for GitHub.
func (githubForge) raw(t *Target, refAndFile string) *url.URL {
	if t.contents != nil {
		return below(t.contents, t.place()+"/"+refAndFile, "")
	}
	return below(t.base, t.place()+"/raw/"+refAndFile, "")
}

// blob implements forge for GitHub.
func (githubForge) blob(t *Target, ref, file string) *url.URL {
	return below(t.base, t.place()+"/blob/"+ref+"/"+file, "")
}

// gitUser implements forge for GitHub.
func (githubForge) gitUser() string { return "x-access-token" }
