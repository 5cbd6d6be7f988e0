package fetch

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/readthru/readthru/cache"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"

	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/internal/payment"
)

// answer makes the markdown answer of what the steps found, and records the visit. recalled says that the rendition was
// stored. a.best must be set. The order matters: the form adds warnings, which the record and the fields have.
func (f *Fetcher) answer(a *attempt, recalled bool) *Answer {
	f.complete(a)
	r, p := a.best, a.page
	status := a.status
	if r.From == page.MarkdownNew {
		status = http.StatusOK
	}
	for _, w := range r.Warnings {
		a.warn(w)
	}
	f.notePreferences(a)
	if a.outcome.Hit && a.outcome.TTL < 0 {
		a.warn("stale")
	}
	p.FinalURL, p.CanonicalURL = a.finalURL(), r.CanonicalURL
	p.Title, p.Description, p.Meta, p.Source = r.Title, r.Description, r.Meta, r.From
	p.StatusCode, p.ContentType, p.Bytes = a.status, a.resp.Header.Get("Content-Type"), a.size()
	p.Tokens, p.Info.HTMLTokens, p.Info.HTMLChars = r.Tokens, r.HTMLTokens, r.HTMLChars
	p.FromCache, p.Attempts = a.outcome.Hit || a.kept, a.attempts
	p.FetchedAt, p.ContentHash, p.Excerpt = r.FetchedAt, r.ContentHash, r.Excerpt
	p.ContentFormat = "markdown"
	content := bodyOf(r.Markdown, r.From)
	p.SizeBytes, p.Info.MarkdownChars = len(content), r.MarkdownChars
	form := f.form(a)
	p.Warnings, p.Removed = a.warnings, a.removed
	if f.becomesPage(a) {
		f.record(a, content)
	}
	if a.req.Method != http.MethodHead {
		f.count(r.From)
	}

	links := a.links() // its warning is one of the fields
	ans := &Answer{
		Page: p, Status: status, Header: f.fields(a, form.tag()), Links: links, Cache: a.outcome,
		Private: a.private || a.credentials, made: r, count: a.count,
	}
	if recalled && a.outcome != (cache.Outcome{}) && a.outcome.Detail == "" {
		ans.Cache.Detail = cache.DetailRendition
	}
	if a.seen != nil {
		ans.Console, ans.Screenshot = a.seen.Console, a.seen.Screenshot
	}
	ans.Body, ans.Source, ans.Trimmed = form.bytes(), a.source, a.trimmed
	return ans
}

// finalURL returns the URL of the page that is answered: where redirects led, and then its scripts.
func (a *attempt) finalURL() string {
	final, _, _ := strings.Cut(a.best.FinalURL, "#")
	if a.best.From == page.Browser && final != "" && final != a.at.plain {
		return a.best.FinalURL
	}
	return a.url.String()
}

// form is what a rendition becomes in one answer: a block, and markdown after it; or other bytes made of the markdown,
// such as plain text.
type form struct {
	hash     string // of the markdown without what precedes it; empty when it is not sent as it is
	block    string // our front matter, or what precedes the content of markdown that others made
	markdown []byte
}

// warnPastEnd is the warning of an answer that is empty because it would begin after the page; followed by =N, the
// length of the page in code points.
const warnPastEnd = "start-past-end"

// form brings the rendition of an answer into the form that the request asks for: the part that the view starts at, at
// most so many tokens, as markdown, text or HTML, with front matter if that is configured. It sets the page's tokens
// and where to continue.
func (f *Fetcher) form(a *attempt) form {
	p, r := a.page, a.best
	if a.shown != nil {
		if r = a.shown; p.Section != "" || a.req.View.Selector != "" || a.req.View.Drop != "" {
			p.Give(r.Tokens)
		}
		p.Tokens = r.Tokens // of the same in another form
	}
	if a.compacts() {
		short := *r
		short.Markdown, short.ContentHash = convert.CompactLinks(r.Markdown, a.url), ""
		r, p.Tokens = &short, convert.Tokens(short.Markdown)
	}
	markdown, cut := r.Markdown, false
	if a.req.View.Start > 0 {
		body := bodyOf(markdown, r.From)
		if n := utf8.RuneCount(body); a.req.View.Start >= n {
			a.warn(warnPastEnd + "=" + strconv.Itoa(n))
		}
		markdown, cut = body[len(clip.Runes(string(body), a.req.View.Start)):], true
		p.Give(convert.Tokens(markdown))
	}
	// others' counts are their word only
	if limit := a.req.MaxTokens; limit > 0 && (p.Tokens > limit || r.From != page.Local) {
		block := len(markdown) - len(bodyOf(markdown, r.From))
		if kept, next := convert.Cut(markdown, limit); next > 0 {
			p.Next = a.req.View.Start + utf8.RuneCount(markdown[min(block, next):next])
			markdown, cut = kept, true
			a.warn("truncated")
			p.Give(convert.Tokens(markdown))
		}
	}
	switch {
	case a.showsSource():
		p.ContentFormat = "html"
		p.Tokens, p.Info.HTMLTokens = a.best.HTMLTokens, a.best.HTMLTokens // nothing was spared
		written := a.asWritten()
		if a.kind != media.HTML {
			p.ContentFormat, p.Tokens = "text", convert.Tokens(written)
		}
		return form{markdown: written}
	case a.req.Text:
		p.ContentFormat = "text"
		_, plain := page.SplitFrontMatter(markdown)
		text := []byte(convert.Text(string(plain)))
		p.Tokens = convert.Tokens(text)
		return form{markdown: text}
	}
	content := markdown
	var block string
	if a.req.View.Start > 0 {
		return form{markdown: content}
	}
	if r.From != page.Local {
		_, content = page.SplitFrontMatter(markdown)
		block = string(markdown[:len(markdown)-len(content)])
	}
	if begun, _ := page.SplitFrontMatter(markdown); f.o.FrontMatter && r.From != page.Negotiated &&
		r.From != page.Alternate && begun == nil {
		block = p.FrontMatter(a.told()...)
	}
	if cut {
		return form{block: block, markdown: content}
	}
	return form{r.ContentHash, block, content}
}

// showsSource reports whether the answer of an attempt is what its origin wrote.
func (a *attempt) showsSource() bool {
	return a.req.HTML && a.content != nil && (a.kind == media.HTML || media.Legible(a.content))
}

// tag returns the entity tag of an answer: the same for the same bytes, without a look at the content where its hash is
// known.
func (m form) tag() string {
	hash := m.hash
	if hash == "" {
		hash = hexSum(m.markdown)
	}
	return `"rt-` + hexSum([]byte(hash + m.block))[:32] + `"`
}

// bytes returns the whole content of an answer: the block, then the markdown.
func (m form) bytes() []byte {
	if m.block == "" {
		return m.markdown
	}
	return slices.Concat([]byte(m.block), m.markdown)
}

// complete finds what an answer's new rendition lacks: hash, excerpt, and the time at which it was obtained. Content
// that the page had before keeps the time at which it was obtained then, however often its source is validated, fetched
// again or changes around it.
func (f *Fetcher) complete(a *attempt) {
	if a.best == nil || a.best.ContentHash != "" {
		return
	}
	r := *a.best // it may be shared
	content := bodyOf(r.Markdown, r.From)
	r.ContentHash, r.MarkdownChars = hexSum(content), utf8.RuneCount(content)
	r.Excerpt = page.Excerpt(content[:min(len(content), 16<<10)], page.ExcerptLength)
	r.FetchedAt = a.started.UTC().Truncate(time.Second)
	if t, err := http.ParseTime(a.resp.Header.Get("Date")); err == nil {
		r.FetchedAt = t.UTC()
	}
	if known := f.known(a); a.memorable && known.ContentHash == r.ContentHash && !known.FetchedAt.IsZero() {
		r.FetchedAt = known.FetchedAt
	}
	a.best = &r
}

// bodyOf returns, for the answer, the markdown of a rendition without front matter, which what others made may begin
// with.
func bodyOf(markdown []byte, from page.Source) []byte {
	if from == page.Local {
		return markdown
	}
	_, body := page.SplitFrontMatter(markdown)
	return body
}

// dropped are fields of the origin's response that are not true of a rendition: its validators, its coding, its digests
// and signatures, and those that only we may write.
var dropped = []string{
	"Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Accept-Ranges", "Content-Md5",
	"Content-Digest", "Repr-Digest", "Digest",
	"Want-Digest", "Signature", "Signature-Input", "Etag", "Last-Modified", "X-Markdown-Tokens", "X-Readthru-Source",
	"X-Readthru-Doc", "X-Readthru-Warning", "X-Readthru-Next",
	"Content-Location", "Content-Disposition", "Trailer",
}

// fields returns the fields of a markdown answer: those of the origin's response that hold for it too, and ours.
func (f *Fetcher) fields(a *attempt, tag string) http.Header {
	h := httpfield.Copy(a.resp.Header, 8)
	for _, name := range dropped {
		delete(h, name)
	}
	if a.outcome.Hit {
		httpfield.RemoveGrants(h) // they were for the one who asked first
	}
	h.Set("Content-Type", contentType(a))
	httpfield.AddVary(h, "Accept")
	h.Set("Etag", tag)
	h.Set("X-Markdown-Tokens", strconv.Itoa(a.page.Tokens))
	h.Set("X-Readthru-Source", string(a.best.From))
	h.Set("X-Readthru-Doc", a.page.Doc)
	for _, w := range a.warnings {
		h.Add("X-Readthru-Warning", w)
	}
	if a.page.Next > 0 {
		h.Set("X-Readthru-Next", strconv.Itoa(a.page.Next))
	}
	if link := httpfield.CanonicalLink(a.best.CanonicalURL, h); link != "" {
		h.Add("Link", link)
	}
	return h
}

// contentType returns the Content-Type of an answer: UTF-8 for what we made; what came as markdown keeps the charset
// that its origin names.
func contentType(a *attempt) string {
	switch {
	case a.page.ContentFormat == "html":
		return "text/html; charset=utf-8"
	case a.req.Text:
		return "text/plain; charset=utf-8"
	case a.best.From == page.Negotiated && !a.recoded:
		if c := media.Charset(a.resp.Header); c != "" && c != "utf-8" {
			return "text/markdown; charset=" + c
		}
	}
	return "text/markdown; charset=utf-8"
}

// inUTF8 returns the origin's content of an attempt, as an answer gives it, in UTF-8, whatever it was written in; bytes
// that are no text become U+FFFD.
func inUTF8(a *attempt) []byte {
	if a.kind != media.HTML && media.Charset(a.resp.Header) == "" && utf8.Valid(a.content) {
		return a.content
	}
	return media.InUTF8(a.content, a.resp.Header.Get("Content-Type"))
}

// headUnknown answers HEAD for a page without a stored rendition, with those fields of the answer to GET that are
// known. Length and entity tag are not: nothing is converted for a HEAD.
func (f *Fetcher) headUnknown(a *attempt) *Answer {
	h := a.resp.Header.Clone()
	for _, name := range dropped {
		h.Del(name)
	}
	h.Set("Content-Type", "text/markdown; charset=utf-8")
	if a.req.Text {
		h.Set("Content-Type", "text/plain; charset=utf-8")
	}
	httpfield.AddVary(h, "Accept")
	h.Set("X-Readthru-Doc", a.page.Doc)
	for _, w := range a.warnings {
		h.Add("X-Readthru-Warning", w)
	}
	a.page.FinalURL, a.page.StatusCode, a.page.ContentType = a.url.String(), a.status, a.resp.Header.Get("Content-Type")
	return &Answer{Page: a.page, Status: a.status, Header: h, Cache: a.outcome}
}

// hexSum returns the SHA-256 of an answer's content in hex, as hashes of contents are written.
func hexSum(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// answerRefused handles a status that is no success in an own fetch: an error, unless a third party may be asked and
// has the page.
func (f *Fetcher) answerRefused(ctx context.Context, a *attempt) (*Answer, error) {
	none := &Error{
		Kind: KindHTTP, URL: page.Mask(a.url), Status: a.status, RetryAfter: retryAfter(a.resp, time.Now()),
		outcome: a.outcome, fetchMS: a.page.Info.FetchMS, bytes: a.size(),
	}
	if a.outcome.Unasked() && a.outcome.Detail == cache.DetailOffline {
		none.Kind, none.Type = KindOffline, "destination_unavailable"
	}
	if a.status == http.StatusPaymentRequired {
		_ = a.read(f.o.MaxBody) // without its content, a price in a field is read still
		none.Payment = payment.Of(a.status, a.resp.Header, a.content)
	}
	copied := f.copyRead(a) // now: steps that go on after us read the attempt
	defer func() { none.advice = adviceOf(a, none, copied) }()
	if !gate.IsRefusal(a.status) || a.req.Method == http.MethodHead || a.kind == media.Opaque ||
		a.read(f.o.MaxBody) != nil {
		return nil, none
	}
	if err := f.runSuitableSteps(ctx, a); err != nil {
		return nil, none
	}
	if a.best == nil || a.best.From != page.MarkdownNew {
		return nil, none
	}
	return f.answer(a, false), nil
}

// adviceOf returns, for the answer, what helps a reader of an attempt that its origin refused; "" if nothing does.
// copied is when the copy that is stored was read.
func adviceOf(a *attempt, e *Error, copied time.Time) string {
	var advice []string
	if a.wall != "" {
		advice = append(advice, strings.TrimSuffix("a bot wall of "+convert.WallOwner(a.wall), " of "))
	}
	if !copied.IsZero() && e.Kind == KindHTTP && !page.Gone(a.status) {
		advice = append(advice,
			fmt.Sprintf("a copy of %s is stored: readthru pages show %s", copied.Format(time.DateOnly), a.key.Doc()))
	}
	if a.wall != "" {
		advice = append(advice, page.WallHelp)
	}
	return strings.Join(advice, "; ")
}

// readOrPass reads the content of a response, or answers with the response as it is if the content cannot be had here.
// It returns nothing if it has read it.
func (f *Fetcher) readOrPass(a *attempt) (*Answer, error) {
	switch err := a.read(f.o.MaxBody); {
	case errors.Is(err, media.ErrTooLarge):
		return f.answerAsIs(a, "too-large")
	case errors.Is(err, media.ErrUnknownCoding):
		return f.answerAsIs(a, "content-coding")
	default:
		return nil, err
	}
}

// answerAsIs answers with the origin's response as it is, and a warning where something was left undone. An own fetch
// gets its content decoded: we asked for the coding, not the caller.
func (f *Fetcher) answerAsIs(a *attempt, warning string) (*Answer, error) {
	if stored, ok := a.resp.Body.(interface{ Ready() error }); ok {
		if err := stored.Ready(); err != nil {
			return nil, err
		}
	}
	resp := *a.resp
	if warning != "" || a.kind != media.Opaque || a.req.Own {
		resp.Header = resp.Header.Clone()
	}
	if warning != "" {
		resp.Header.Add("X-Readthru-Warning", warning)
	}
	if a.kind != media.Opaque {
		httpfield.AddVary(resp.Header, "Accept")
	}
	if list := media.Codings(resp.Header); a.req.Own && len(list) == 1 && a.req.Method != http.MethodHead {
		switch r, err := media.Decoder(resp.Body, list[0]); {
		case err == nil:
			resp.Body = media.ReadThrough(r, resp.Body)
			resp.Header.Del("Content-Encoding")
			resp.Header.Del("Content-Length")
			resp.ContentLength, resp.Uncompressed = -1, true
		// its beginning is read and lost; nothing is no loss
		case !errors.Is(err, media.ErrUnknownCoding) && !errors.Is(err, io.EOF):
			return nil, err
		}
	}
	ans := &Answer{Status: resp.StatusCode, Header: resp.Header, Response: &resp, Cache: a.outcome}
	if a.kind == media.Opaque || a.noTransform {
		ans.Repeat = f.repeatResponse(a)
	}
	return ans, nil
}

// refuseUnreadable answers, for an attempt whose content is a file of which nothing can be read, with an error where we
// fetch for ourselves. A client that asked its origin gets the file as it is, also one of which we can only say what it
// is. It returns nothing if there is something to read.
func (f *Fetcher) refuseUnreadable(a *attempt) (*Answer, error) {
	if a.best == nil || a.best.From != page.Local {
		return nil, nil
	}
	bad := convert.Unreadable(a.best.Markdown, a.best.Warnings)
	switch {
	case bad != nil && a.req.Own && !a.showsSource():
		return nil, &Error{
			Kind: KindUnsupported, URL: page.Mask(a.url), Type: "http_response_incomplete", Cause: bad,
			outcome: a.outcome, fetchMS: a.page.Info.FetchMS, bytes: a.size(),
		}
	case bad != nil && !a.req.Own:
		return f.answerAsIs(a, bad.Warning)
	case !a.req.Own && page.HasWarning(a.best.Warnings, convert.WarnScanned): // only the file shows what it says
		return f.answerAsIs(a, convert.WarnScanned)
	case !a.req.Own && page.HasWarning(a.best.Warnings, convert.WarnBinary):
		return f.answerAsIs(a, convert.WarnBinary)
	}
	return nil, nil
}

// markIf returns the token of an answer's warning when something holds, else none.
func markIf(when bool, token string) string {
	if when {
		return token
	}
	return ""
}
