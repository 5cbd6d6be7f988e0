package fetch

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
)

// attempt is what the steps of one page share, by stage: what is asked, what the origin answered, what was made of it.
// Only one goroutine uses it at a time; runSteps gives a flight a copy.
type attempt struct {
	asked
	response
	made

	url       *url.URL     // of the response: the request's, or where redirects led
	at        *address     // what is known of url
	host      store.Host   // what is known of url's host
	found     *store.Found // what the store had when the cache was asked; nil once that may be out of date
	known     *page.Page   // the page's record before this visit, once it was read; empty where there is none
	named     page.Key     // of the page as it is kept: key, or that of another name of the same page
	moved     bool         // a redirect led elsewhere for now only, or to another host
	headOnly  bool         // the cache was told so of what it had; see [store.Found]
	private   bool         // request or response say that it concerns one reader, or is not to be kept
	memorable bool         // what comes of it may be kept
	everybody bool         // nothing but its response can forbid that: everybody who asks gets the same
	sharing   *sharing     // with peers; nil: nothing
	observed  bool         // the reader gets what the origin sent, and no markdown
	count     func()       // counts the visit with the tokens that its reader got; nil: it is none
}

// asked is what is known of a page before anybody is asked for it.
type asked struct {
	req         Request
	cascade     []string
	convert     convert.Options // of the page as it is kept
	wanted      string          // convert's part of the recipe
	page        *page.Page      // what the URL alone tells, and then what is answered
	target      *github.Target  // what is read of a forge instead of the page; nil: the page itself
	key         page.Key
	root        page.Key // of the page without its route; what is made of more than its bytes is kept by it
	started     time.Time
	credentials bool // the request carries some, in fields or URL (AD4)
	forced      bool // what others than this program made of the page's bytes is made again
}

// response is what the origin answered to an attempt.
type response struct {
	resp    *http.Response
	kind    media.Kind
	status  int           // of resp
	outcome cache.Outcome // how the cache came by resp
	raw     []byte        // content as received; nil until read
	content []byte        // content decoded
	sum     store.Sum     // of raw
	hasSum  bool
	tree
	framed *framed // nil: its frames were not looked at
	wall   string  // mark of a bot wall, empty if none
	// our own fetch converts it here and sends it to no third party; a client gets it unchanged
	noTransform bool
}

// made is what the steps made of the response of an attempt.
type made struct {
	best     *store.Rendition // so far
	shown    *store.Rendition // what the view wants of it; nil: best
	removed  *page.Removed    // receipts, where the view wants them
	recoded  bool             // best is in UTF-8, whatever its origin's charset
	failure  error            // of the local conversion, if it gave nothing
	kept     bool             // best was made before, of more than the response in hand
	missed   bool             // a browser would have shown more and did not
	seen     *render.Page     // what a browser saw; nil: none did
	source   []byte           // Answer.Source
	trimmed  []byte           // Answer.Trimmed
	warnings []string
	attempts []page.Attempt
}

// newAttempt begins an attempt at the page that r asks for, at its address, and decides who may get what comes of it:
// nothing of a request with credentials or a secret is kept, nor of one that asks for that.
func (f *Fetcher) newAttempt(r Request, at *address, now time.Time) *attempt {
	a := &attempt{url: r.URL, at: at, named: at.key, asked: asked{
		req: r, started: now, cascade: at.cascade, convert: f.o.Convert, wanted: f.wanted,
		page: new(at.page), key: at.key, root: at.root,
	}}
	if f.lowersHTMLLimit(r) {
		a.wanted += "\nhtml " + strconv.Itoa(f.htmlLimit(r)) // renditions apart: other readers get what they got before
	}
	if r.Cascade != nil {
		a.cascade = r.Cascade
	}
	a.credentials = at.secret || httpfield.HasCredentials(r.Header)
	a.private = httpfield.Directive(r.Header, "no-store")
	a.forced = r.Force || httpfield.Has(r.Header, "Cache-Control", "no-cache") ||
		httpfield.Has(r.Header, "Cache-Control", "max-age=0")
	a.memorable = !r.NoStore && !a.private && !at.secret && (!a.credentials || f.o.Private)
	a.everybody = a.memorable
	a.target = f.githubTarget(a)
	return a
}

// look takes note, for the attempt, of the head of the origin's response: its kind, how the cache came by it, and what
// it forbids.
func (f *Fetcher) look(a *attempt, resp *http.Response) {
	a.resp, a.status = resp, resp.StatusCode
	a.kind = media.Classify(a.req.Own, a.status, resp.Header)
	if a.outcome = cache.OutcomeOf(resp); a.outcome.Unasked() {
		a.kind = media.Opaque // our cache has nothing and must not ask the origin
	}
	a.noTransform = a.noTransform || httpfield.Directive(resp.Header, "no-transform") ||
		httpfield.Directive(a.req.Header, "no-transform")
	if a.noTransform && a.req.Own {
		a.warn("no-transform")
	}
	noStore, private := httpfield.Directive(resp.Header, "no-store"), httpfield.Directive(resp.Header, "private")
	a.private = a.private || noStore || private
	if noStore || private && !f.o.Private {
		a.memorable = false
	}
	// A body from the store knows its hash, so that a rendition is found before it is read.
	if stored, ok := resp.Body.(interface{ Sum() store.Sum }); ok {
		a.sum, a.hasSum = stored.Sum(), true
	}
	if a.found != nil && (!a.outcome.Hit || len(a.found.Responses) == 0 || a.found.Responses[0].Body != a.sum ||
		a.found.Responses[0].Header.Get("Content-Type") != resp.Header.Get("Content-Type")) {
		a.found = nil // the origin was asked since, or the answer is not the newest stored response
	}
}

// recipe identifies everything besides the bytes that a rendition of the attempt's page depends on: the rules of
// conversion, the options, the site recipes for the URL, the type and charset that the origin states, and the URL that
// relative links are resolved against.
func (a *attempt) recipe() string { return a.recipeOf(a.wanted) }

// recipeOf is recipe for other options of conversion, such as those of a view.
func (a *attempt) recipeOf(wanted string) string { return a.recipeFor(wanted, a.resp.Header) }

// recipeFor is recipeOf for a response with the head h, which need not be that in hand.
func (a *attempt) recipeFor(wanted string, h http.Header) string {
	return digest(wanted + a.at.edition + "\n" + media.Type(h) + ";" + media.Charset(h) + "\n" + a.at.plain)
}

// pageRecipe names, for the recipe of a body, a rendition that was not made of the origin's bytes: it stands in for
// them until they change. What an origin says when it refuses us does not matter: that may differ each time.
func (a *attempt) pageRecipe(ofBody string) string {
	if a.status != http.StatusOK {
		return digest(ofBody + "\nrefused")
	}
	return a.madeFrom(ofBody, a.sum)
}

// madeFrom is pageRecipe for a page whose origin's bytes are known by their sum. Each route has a rendition of its own.
func (a *attempt) madeFrom(ofBody string, sum store.Sum) string {
	from := ofBody + "\n" + sum.String()
	if a.at.route != "" {
		from += "#" + a.at.route
	}
	return digest(from)
}

// wanted returns, for an attempt, what the rules of conversion and the options have to say in a recipe.
func wanted(o convert.Options) string { return fmt.Sprintf("%s\n%+v", convert.Version(), o) }

// digest returns, for what an attempt depends on, a short name of a text, 64 bits in hex, for recipes and the keys of
// what is remembered.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:8])
}

// read reads and decodes the content of the origin's response, both at most limit bytes; see [media.Read].
func (r *response) read(limit int64) error {
	received := *r.resp // with the body that knows the outcome
	raw, content, err := media.Read(r.resp, limit)
	r.outcome = cache.OutcomeOf(&received) // now it is known whether the response is stored
	if err != nil {
		return err
	}
	r.raw, r.content = raw, content
	if !r.hasSum {
		r.sum, r.hasSum = sha256.Sum256(raw), true
	}
	return nil
}

// links returns the links of the attempt's page, if the request wants them: those of all the HTML, because its markdown
// has fewer, and those of the rendered page; for other types, those of the markdown.
func (a *attempt) links() []string {
	if !a.req.Links || a.best == nil || a.status != http.StatusOK {
		return nil
	}
	var links []string
	var more, rest bool
	seen := a.best.Links
	switch {
	case seen != nil && !seen.Cut:
		return slices.Clone(seen.URLs)
	case seen != nil:
		links, more = slices.Clone(seen.URLs), true
	case a.kind == media.HTML && a.content != nil:
		contentType := a.resp.Header.Get("Content-Type")
		if page.KindOf(contentType) != page.HTML {
			contentType = "text/html" // labelled as something else
		}
		links, more = convert.Links(a.content, contentType, a.url)
	}
	if a.kind != media.HTML || a.best.From == page.Browser {
		known := map[string]bool{}
		for _, l := range links {
			known[l] = true
		}
		var named []string
		named, rest = convert.Links(a.best.Markdown, "text/markdown; charset=utf-8", a.url)
		for _, l := range named {
			if !known[l] {
				links = append(links, l)
			}
		}
	}
	if more || rest {
		a.warn("links-cut")
		a.page.Warnings = a.warnings
	}
	if a.best.From != page.Browser { // its scripts, which would show its routes, do not run
		own := a.at.plain + "#"
		links = slices.DeleteFunc(links, func(l string) bool { return strings.HasPrefix(l, own) })
	}
	return links
}

// warn adds a warning to those of the attempt, once.
func (a *attempt) warn(token string) { a.warnings = page.AddWarning(a.warnings, token) }

// recalls reports whether a stored rendition may be the answer.
func (a *attempt) recalls() bool {
	return a.memorable && !a.req.HTML && !a.req.needsBrowser() && !a.headOfView()
}

// headOfView reports whether only the head of what a view shows is asked for, which is not known before it is made.
func (a *attempt) headOfView() bool { return a.req.Method == http.MethodHead && a.req.View != View{} }

// takeOver copies to a the response and the results of b, the attempt that ran the steps for all. a keeps its own body,
// which the caller closes.
func (a *attempt) takeOver(b *attempt) {
	if b.resp != a.resp {
		body := a.resp.Body
		a.response = b.response
		a.resp = new(*b.resp)
		a.resp.Body = body
	}
	a.kind, a.tree = b.kind, b.tree
	a.private, a.memorable = a.private || b.private, a.memorable && b.memorable
	warnings, fetched := a.warnings, a.page.Info.FetchMS
	a.made, a.page.Info = b.made, b.page.Info
	a.page.Info.FetchMS = fetched
	for _, w := range warnings {
		a.warn(w)
	}
}

// size is the length of the content of an attempt as the origin sent it, 0 when it is not known.
func (a *attempt) size() int64 {
	if a.raw != nil {
		return int64(len(a.raw))
	}
	if b, ok := a.resp.Body.(interface{ Len() int64 }); ok {
		return b.Len()
	}
	return max(0, a.resp.ContentLength)
}

// noteRemoved notes what was taken out of the markdown that is answered, for receipts.
func (a *attempt) noteRemoved(c convert.Cleaned) {
	a.recoded = c.Changed
	if a.req.View.Receipts {
		a.removed = &c.Removed
	}
}

// goTo moves an attempt to the address of another URL than it has, as a redirect does. What is known of that one holds
// from then on, except for the steps and the page's key, which are those of the URL that was asked for.
func (f *Fetcher) goTo(a *attempt, u *url.URL) { a.url, a.at = u, f.addressOf(u) }
