// Package convert turns the bytes of a response into markdown. It is pure: no I/O, no clock, and the same input always
// gives the same output.
//
// [Parse] decodes and parses a body once; the [Document] then answers [Document.Signs], by which a caller decides
// whether this is the page at all, and [Document.Convert], as often as wanted with different [Options]. The steps, each
// in a file or a package of its own: decode (decode.go), read what the page says about itself (meta.go), normalise
// elements into the few forms the renderer knows (normalise.go and what it calls, packages formula and footnote), remove
// what no reader sees (packages hidden and css), prune what is not content (prune.go), choose the root (root.go), try
// again more gently when too little is left (retry.go), render (render.go, pieces.go, escape.go, list.go, table.go).
//
// What is not HTML is told apart in format.go: text and source code (source.go), JSON (json.go), CSV (tabular.go), XML,
// sitemaps and SVG (xml.go), feeds (feed.go), PDF (pdf.go, pdfmarkdown.go, package pdflayout), DOCX (package docx), and bodies without
// text (binary.go). Feeds and DOCX become pages in HTML first, and then go the way of all pages.
//
// Every byte is taken for hostile. Input, output, nesting and spans are bounded (package guard), the context is checked
// at every node, and what fails for any reason gives the page's text alone, with the warning fallback-text. Nothing is
// cut in silence.
//
// A new rule is a line in a table and a golden pair in testdata.
package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/css"
	"readthru/convert/dom"
	"readthru/convert/footnote"
	"readthru/convert/formula"
	"readthru/convert/guard"
	"readthru/convert/hidden"
	"readthru/markdown"
	"readthru/page"
)

// Warnings of a [Result]; each is a token of the response field X-Readthru-Warning.
const (
	WarnHidden   = "hidden-text-removed" // followed by =N
	WarnNote     = "agent-note"          // followed by =N: so many hidden notes tell agents how to read the site
	WarnShown    = "hidden-page-shown"   // styles hide the page itself until a script has run; it was kept
	WarnStyles   = "styles-cut"          // the page has more style rules than were read; text that they hide may be left
	WarnThin     = "thin"
	WarnShell    = "js-shell"
	WarnLoose    = "loose" // the rules that tell content from chrome found too little; gentler ones were used
	WarnFallback = "fallback-text"
	WarnCharset  = "charset-guessed"
	WarnDeep     = "too-deep"
	WarnSpans    = "spans-cut"
	WarnTooLarge = "too-large"
	WarnSoft404  = "soft-404"
	WarnError    = "error-page"
	WarnLogin    = "login-wall"
	WarnPaywall  = "paywall"

	WarnStructured = "structured-text" // the text is what the page's JSON-LD says; the page itself has hardly any
)

// edition counts the changes of output that no rule table shows.
const edition = 8

// Version names the rules: it changes whenever output may change, so that renditions kept by callers are made again. It
// is derived from edition and the rule tables.
var Version = sync.OnceValue(version)

// ruleTables are the rules that are data.
var ruleTables = slices.Concat([]any{
	gutterClasses, notCode, lineClasses, langPrefixes, knownLanguages, schemes, permalinks,
	lazySources, trackers, spacerNames, callouts,
	labelPrefixes, langKeys, editorClasses, editorTextClasses, calloutBoxes, titledBoxes, boxPrefixes, kindPrefixes,
	calloutTitles,
}, footnote.Rules, formula.Rules, css.Rules, hidden.Rules, []any{
	manualRoots,
	manualLabels, tocNames,
	trackingParameters, redirectors, adHosts, signInNames, signInPlea,
	paywallPlea, failureNames, errorPhrases, wallMarks, wallPhrases,
	badNames, elsewhereHeadings, labels, commentNames, extras, postNames, forumKeeps, weakNames, chromeRoles, generators,
	documentationClasses, forumMarks, metaKeys, dateKeys, authorKeys, dateForms, dayForms,
	authorNames, dateNames, modelText, pageFormats, typeFormats, saysNothing, endings, fileEndings, fileNames, mediaNames,
})

func version() string {
	h := xxhash.New()
	fmt.Fprint(h, ruleTables...) //nolint:errcheck // a hash never fails
	return strconv.Itoa(edition) + "-" + strconv.FormatUint(h.Sum64(), 36)[:8]
}

// Document is a parsed body. Its methods do not change it, so it may be used by several goroutines.
type Document struct {
	url     *url.URL // final URL; may be nil
	content []byte   // decoded
	head    head
	signs   Signs
	kind    pageType
	body    *html.Node // normalised; nil when there is no tree, and the text alone is left
	form    format     // of a body that is not HTML, else empty
	whole   bool       // the tree was written here: there is nothing to prune
	ready   string     // markdown of a body that has no tree

	warnings []string
	removed  page.Removed // what no reader of the page sees
	pick     *pick        // what of the page is wanted; nil: all
}

// Parse decodes and parses content, whose content coding has been removed. u is the final URL and may be nil. The form
// of content is that of contentType, or of its beginning and the path where contentType does not say: HTML, markdown,
// plain text and source code, JSON, CSV, XML, feeds, PDF, DOCX; of what is none of them, an image say, the markdown
// tells what it is. It fails for a text of more than 10 MiB ([ErrTooLarge]) and when ctx ends. What cannot be parsed
// gives a Document all the same, whose conversion is what could be read, with a warning.
func Parse(ctx context.Context, content []byte, contentType string, u *url.URL) (*Document, error) {
	d := &Document{url: u}
	err := d.read(ctx, content, contentType)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("parse the page: %w", ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("decode the body: %w", err)
	}
	return d, nil
}

func (d *Document) parse(ctx context.Context) {
	root, deep, err := dom.Parse(ctx, d.content)
	if err != nil {
		guard.Stop(err)
	}
	if deep {
		d.warnings = append(d.warnings, WarnDeep)
	}
	d.adopt(ctx, root)
}

// reportHidden takes what was removed as hidden, and warns of it.
func (d *Document) reportHidden(r hidden.Report) {
	d.removed = r.Removed
	if r.Hidden > 0 {
		d.warnings = append(d.warnings, WarnHidden+"="+strconv.Itoa(r.Hidden))
	}
	if r.Notes > 0 {
		d.warnings = append(d.warnings, WarnNote+"="+strconv.Itoa(r.Notes))
	}
	if r.PageShown {
		d.warnings = append(d.warnings, WarnShown)
	}
	if r.StylesCut {
		d.warnings = append(d.warnings, WarnStyles)
	}
}

// adopt takes the tree of a page.
func (d *Document) adopt(ctx context.Context, root *html.Node) {
	d.head = readHead(root, d.url)
	d.signs.MarkdownTwin, d.signs.Canonical = d.head.twin, d.head.canonical
	d.signs.Wall = Wall(0, nil, d.content)
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil { // a frameset
		body = root.LastChild
	}
	w := hidden.New(ctx, root)
	c := count(ctx, root)
	switch {
	case noscriptPage(body, c):
		c = count(ctx, root)
	case structuredPage(body, c, d.head.articleBody):
		c = count(ctx, root)
		d.warnings = append(d.warnings, WarnStructured)
	}
	d.signs.judge(c, len(d.content))
	f := factsOf(root, body, c)
	d.signs.SoftError, d.signs.ErrorPage, d.signs.Login, d.signs.Paywall = f.softError(), f.errorPage(), f.loginWall(),
		f.paywall()
	if d.pick != nil {
		d.pick.apply(ctx, body)
	}
	manual := manualSigns(body)
	normalise(ctx, body, d.head.base, w)
	d.reportHidden(w.Report())
	for _, w := range []struct {
		is   bool
		name string
	}{
		{d.signs.Thin, WarnThin},
		{d.signs.JSShell, WarnShell},
		{d.signs.SoftError != "", WarnSoft404},
		{d.signs.ErrorPage != "", WarnError},
		{d.signs.Login != "", WarnLogin},
		{d.signs.Paywall != "", WarnPaywall},
	} {
		if w.is {
			d.warnings = append(d.warnings, w.name)
		}
	}
	d.kind = typeOf(ctx, d.url, &d.head, body)
	if manual && (d.kind == service || d.kind == listing || d.kind == article && d.head.meta["og:type"] != "article") {
		d.kind = documentation
	}
	d.body = body
}

// Signs returns the facts that the cascade judges by.
func (d *Document) Signs() Signs { return d.signs }

// Options say what of a page is wanted. The zero value is main content, links inline, images kept.
type Options struct {
	WholePage bool   // all of the body, not its main content alone
	Selector  string // only the elements that match this CSS selector, outermost first; of the page as it was written
	Drop      string // without the elements that match this CSS selector
	// only the section of the element with this id: what its heading heads, or the element; instead of Selector
	Section string
	Links   string // inline (default), reference, text (their text alone) or none
	Images  string // keep (default), alt (their text alone) or none
}

// Result is a conversion.
type Result struct {
	Markdown                         string // without front matter; ends with one newline
	Title, Description, CanonicalURL string
	PageType                         string // article, documentation, forum, product, listing or service
	Meta                             page.Meta
	Tokens                           int          // of Markdown, estimated
	HTMLTokens                       int          // of the decoded body, estimated
	HTMLChars                        int          // of the decoded body, in Unicode code points
	Warnings                         []string     // tokens of X-Readthru-Warning
	Removed                          page.Removed // what was taken out because no reader sees it; shared: never change it
	Path                             string       // which root and stage won, for attempts[]
}

// Convert returns the document as markdown. It fails when o.Selector cannot be read or matches nothing, when o names an
// unknown form of links or images, and when ctx ends; whatever else goes wrong gives the page's text and the warning
// fallback-text.
func (d *Document) Convert(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	res := &Result{
		Title: d.head.title, Description: d.head.meta["description"], CanonicalURL: d.head.canonical,
		PageType: string(d.kind), Meta: maps.Clone(d.head.meta),
		HTMLTokens: d.sourceTokens(), HTMLChars: characters(d.content), Warnings: append([]string(nil), d.warnings...),
		Removed: d.removed,
	}
	var text string
	var err error
	switch {
	case d.body == nil && o.Section != "":
		return d.headed(ctx, o)
	case d.form != "" && d.body == nil && o.Selector != "":
		return nil, fmt.Errorf("what selector %q names %w", o.Selector, ErrNoMatch)
	case d.form != "" && d.body == nil:
		text, res.Path = d.ready, string(d.form)
	case d.body == nil:
		err = guard.ErrPanic
	default:
		var failed error
		if err = guard.Run(func() { text, failed = d.render(ctx, o, res) }); err == nil {
			err = failed
		}
		if errors.Is(err, ErrNoMatch) && o.Section != "" {
			return d.headed(ctx, o)
		} else if errors.Is(err, ErrNoMatch) {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("convert the page: %w", ctx.Err())
	}
	if err == nil && d.body != nil && len(text) > guard.OutputLimit(len(d.content)) {
		err = guard.ErrOutput
	}
	if err != nil {
		text, res.Path = d.fallback(ctx), "fallback"
		res.Warnings = append(res.Warnings, WarnFallback)
	}
	if bare := strings.TrimRight(text, "\n"); text != "" && len(bare) != len(text)-1 {
		text = bare + "\n"
	}
	res.Markdown, res.Tokens = text, Tokens(text)
	return res, nil
}

// characters returns the number of Unicode code points in text. utf8.RuneCount copies what is not ASCII alone.
func characters(text []byte) (n int) {
	for i := 0; i < len(text); n++ {
		if text[i] < utf8.RuneSelf {
			i++
			continue
		}
		_, size := utf8.DecodeRune(text[i:])
		i += size
	}
	return n
}

// sourceTokens estimates the tokens of the body as it came.
func (d *Document) sourceTokens() int {
	if d.form != "" {
		return Tokens(d.content)
	}
	return HTMLTokens(d.content)
}

// headed returns the section under the heading that o.Section names by its slug.
func (d *Document) headed(ctx context.Context, o Options) (*Result, error) {
	name := o.Section
	o.Section = ""
	res, err := d.Convert(ctx, o)
	if err != nil {
		return nil, err
	}
	begin, end, found := markdown.Section([]byte(res.Markdown), name)
	if !found {
		return nil, fmt.Errorf("section %q %w", name, ErrNoMatch)
	}
	res.Markdown = strings.TrimRight(res.Markdown[begin:end], "\n") + "\n"
	res.Tokens = Tokens(res.Markdown)
	return res, nil
}

// Check returns an error for a selector that cannot be read and for an unknown form of links or images.
func (o Options) Check() error {
	switch o.Links {
	case "", "inline", "reference", "text", "none":
	default:
		return fmt.Errorf("links %q is not one of inline, reference, text, none", o.Links)
	}
	switch o.Images {
	case "", "keep", "alt", "none":
	default:
		return fmt.Errorf("images %q is not one of keep, alt, none", o.Images)
	}
	for _, s := range []string{o.Selector, o.Drop} {
		if s != "" {
			if _, err := parseSelector(s); err != nil {
				return err
			}
		}
	}
	return nil
}

// ErrNoMatch is returned when a selector or a section chooses nothing of the page.
var ErrNoMatch = errors.New("is not on the page")

func (d *Document) render(ctx context.Context, o Options, res *Result) (string, error) {
	var roots []*html.Node
	if o.Selector != "" || o.Drop != "" || o.Section != "" {
		var err error
		if d, roots, err = d.narrowed(ctx, o); err != nil {
			return "", err
		}
	}
	r := &renderer{
		ctx: ctx, options: o, budget: guard.OutputLimit(len(d.content)) * 2,
		notes: notesBelow(append(roots, d.body)...),
	}
	var text string
	switch {
	case roots != nil:
		text, res.Path = r.render(roots, nil), "selector"
	case o.WholePage, d.whole:
		text, res.Path = r.render([]*html.Node{d.body}, nil), "body/whole"
	default:
		c := d.choose(ctx)
		text, res.Path = r.render([]*html.Node{c.root}, c.dropped), c.name+"/"+c.stage.String()
		if c.stage >= chromeOnly {
			res.Warnings = append(res.Warnings, WarnLoose)
		}
		if c.name == nothing && !d.signs.Thin {
			res.Warnings = append(res.Warnings, WarnThin)
		}
	}
	if r.tooDeep {
		res.Warnings = append(res.Warnings, WarnDeep)
	}
	if r.spansCut {
		res.Warnings = append(res.Warnings, WarnSpans)
	}
	return text, nil
}
