// Package convert turns the bytes of a response into markdown. It is pure: no I/O, no clock, and the same input always gives
// the same output.
//
// [Parse] decodes and parses a body once; the [Document] then answers [Document.Signs], by which a caller decides whether this
// is the page at all, and [Document.Convert], as often as wanted with different [Options]. The steps, each in a file of its own:
// decode (decode.go), what the page says about itself (meta.go), normalise elements into the few forms the renderer knows
// (normalise.go, code.go, links.go, images.go, math.go), remove what no reader sees (hidden.go, invisible.go), prune what is not
// content (prune.go), choose the root (root.go), try again more gently when too little is left (retry.go), render (render.go,
// escape.go, list.go, table.go).
//
// Every byte is taken for hostile. Input, output, nesting and spans are bounded (guard.go), the context is checked at every
// node, and what fails for any reason gives the page's text alone, with the warning fallback-text. Nothing is cut in silence.
//
// A new rule is a line in a table and a golden pair in testdata.
package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"mime"
	"net/url"
	"path"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/cespare/xxhash/v2"
	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/page"
)

// Warnings of a [Result]; each is a token of the response field X-Readthru-Warning.
const (
	WarnHidden   = "hidden-text-removed" // followed by =N
	WarnThin     = "thin"
	WarnShell    = "js-shell"
	WarnLoose    = "loose" // the rules that tell content from chrome found too little; gentler ones were used
	WarnFallback = "fallback-text"
	WarnCharset  = "charset-guessed"
	WarnDeep     = "too-deep"
	WarnSpans    = "spans-cut"
	WarnTooLarge = "too-large"
	WarnSoft404  = "soft-404"
)

// edition counts the changes of output that no rule table shows.
const edition = 1

// Version names the rules: it changes whenever output may change, so that renditions kept by callers are made again. It is
// derived from edition and the rule tables.
var Version = version()

func version() string {
	h := xxhash.New()
	fmt.Fprint(h, //nolint:errcheck // a hash never fails
		neverText, namedColours, gutterClasses, notCode, lineClasses, langPrefixes, knownLanguages, schemes, permalinks, lazySources, trackers, callouts,
		badNames, elsewhereHeadings, forumKeeps, weakNames, chromeRoles, generators, documentationClasses, forumMarks, metaKeys, dateKeys, authorKeys, dateForms, dayForms)
	return strconv.Itoa(edition) + "-" + strconv.FormatUint(h.Sum64(), 36)[:8]
}

// Convertible tells whether a media type, the value of a Content-Type field, is one whose bodies become markdown through the
// proxy: HTML. [Parse] takes text and JSON too, for callers that fetch for themselves.
func Convertible(contentType string) bool {
	switch mediaType(contentType) {
	case "text/html", "application/xhtml+xml":
		return true
	}
	return false
}

func mediaType(contentType string) string {
	t, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		t, _, _ = strings.Cut(contentType, ";")
	}
	return strings.ToLower(strings.TrimSpace(t))
}

// Document is a parsed body. Its methods do not change it, so it may be used by several goroutines.
type Document struct {
	url     *url.URL // final URL; may be nil
	content []byte   // decoded
	head    head
	signs   Signs
	kind    pageType
	body    *html.Node // normalised; nil when there is no tree, and the text alone is left
	all     map[*html.Node]measure
	ready   string // markdown of a body that is not HTML

	warnings []string
}

// Parse decodes and parses content, whose content coding has been removed. u is the final URL and may be nil. It fails for a
// media type that cannot be converted ([ErrUnsupported]), for a body over 10 MiB ([ErrTooLarge]) and when ctx ends. HTML that
// cannot be parsed gives a Document all the same, whose conversion is the page's text.
func Parse(ctx context.Context, content []byte, contentType string, u *url.URL) (*Document, error) {
	d := &Document{url: u}
	kind := mediaType(contentType)
	switch kind {
	case "text/html", "application/xhtml+xml", "text/plain", "text/markdown", "text/x-markdown", "application/json":
	case "", "application/octet-stream", "application/xml", "text/xml":
		if !looksLikeHTML(content) {
			return nil, fmt.Errorf("convert %q: %w", contentType, ErrUnsupported)
		}
		kind = "text/html"
	default:
		return nil, fmt.Errorf("convert %q: %w", contentType, ErrUnsupported)
	}
	text, guessed, err := decode(content, contentType)
	if err != nil {
		return nil, fmt.Errorf("decode the body: %w", err)
	}
	if guessed {
		d.warnings = append(d.warnings, WarnCharset)
	}
	d.content = text
	if kind != "text/html" && kind != "application/xhtml+xml" {
		d.plain(kind)
		return d, nil
	}
	err = guarded(func() { d.parse(ctx) })
	if ctx.Err() != nil {
		return nil, fmt.Errorf("parse the page: %w", ctx.Err())
	}
	if err != nil {
		d.body = nil
	}
	return d, nil
}

func looksLikeHTML(content []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(content[:min(len(content), 1<<10)], []byte("\xef\xbb\xbf")), " \t\r\n")
	return markupStart(start) && (bytes.HasPrefix(bytes.ToLower(start), []byte("<!doctype html")) || bytes.Contains(bytes.ToLower(start), []byte("<html")) ||
		bytes.Contains(bytes.ToLower(start), []byte("<body")) || bytes.Contains(bytes.ToLower(start), []byte("<head")))
}

// plain makes the markdown of a body that is not HTML: markdown as it is, code and JSON between fences, other text as it is.
func (d *Document) plain(kind string) {
	text := strings.TrimSpace(strings.ReplaceAll(string(d.content), "\r\n", "\n"))
	d.signs.Words = words(text)
	lang := ""
	if kind == "application/json" {
		lang = "json"
	} else if d.url != nil && kind == "text/plain" && !LooksLikeMarkdown(d.content) {
		lang = codePath(d.url.Path)
	}
	if lang != "" {
		fence := strings.Repeat("`", max(3, longestRun(text, '`')+1))
		text = fence + lang + "\n" + text + "\n" + fence
	}
	d.ready = text
}

// codePath returns the language that a path's ending says, or "".
func codePath(p string) string {
	ending := strings.TrimPrefix(strings.ToLower(path.Ext(p)), ".")
	if ending != "md" && knownLanguages[ending] {
		return ending
	}
	return map[string]string{"h": "c", "cc": "cpp", "hpp": "cpp", "rs": "rust", "kt": "kotlin", "cs": "csharp", "mjs": "javascript"}[ending]
}

func (d *Document) parse(ctx context.Context) {
	root, deep, err := parseHTML(ctx, d.content)
	if err != nil {
		panic(stop{err})
	}
	if deep {
		d.warnings = append(d.warnings, WarnDeep)
	}
	d.head = readHead(root, d.url)
	d.signs.MarkdownTwin, d.signs.Canonical = d.head.twin, d.head.canonical
	d.signs.Wall = Wall(0, nil, d.content)
	body := find(root, func(n *html.Node) bool { return is(n, atom.Body) })
	if body == nil { // a frameset
		body = root.LastChild
	}
	c := count(ctx, root)
	if noscriptPage(body, c) {
		c = count(ctx, root)
	}
	d.signs.judge(c, len(d.content))
	d.signs.SoftError = softError(d.head.title, body, c.words)
	if n := normalise(ctx, body, d.head.base); n > 0 {
		d.warnings = append(d.warnings, WarnHidden+"="+strconv.Itoa(n))
	}
	for _, w := range []struct {
		is   bool
		name string
	}{{d.signs.Thin, WarnThin}, {d.signs.JSShell, WarnShell}, {d.signs.SoftError != "", WarnSoft404}} {
		if w.is {
			d.warnings = append(d.warnings, w.name)
		}
	}
	d.all = measureAll(ctx, body, nil)
	d.kind = typeOf(ctx, d.url, d.head.meta, d.head.generator, body, d.all)
	d.body = body
}

// Signs returns the facts that the cascade judges by.
func (d *Document) Signs() Signs { return d.signs }

// Options say what of a page is wanted. The zero value is main content, links inline, images kept.
type Options struct {
	WholePage bool   // all of the body, not its main content alone
	Selector  string // only the elements that match: tag, #id, .class, [attr], [attr=value], descendants by space, lists by comma
	Links     string // inline (default), reference, text (their text alone) or none
	Images    string // keep (default), alt (their text alone) or none
}

// Result is a conversion.
type Result struct {
	Markdown                         string // without front matter; ends with one newline
	Title, Description, CanonicalURL string
	PageType                         string // article, documentation, forum, product, listing or service
	Meta                             page.Meta
	Tokens                           int      // of Markdown, estimated
	HTMLTokens                       int      // of the decoded body, estimated
	HTMLChars                        int      // of the decoded body, in Unicode code points
	Warnings                         []string // tokens of X-Readthru-Warning
	Path                             string   // which root and stage won, for attempts[]
}

// Convert returns the document as markdown. It fails when o.Selector cannot be read or matches nothing, when o names an unknown
// form of links or images, and when ctx ends; whatever else goes wrong gives the page's text and the warning fallback-text.
func (d *Document) Convert(ctx context.Context, o Options) (*Result, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	res := &Result{
		Title: d.head.title, Description: d.head.meta["description"], CanonicalURL: d.head.canonical, PageType: string(d.kind), Meta: maps.Clone(d.head.meta),
		HTMLTokens: Tokens(d.content), HTMLChars: utf8.RuneCount(d.content), Warnings: append([]string(nil), d.warnings...),
	}
	var text string
	var err error
	switch {
	case d.ready != "":
		text, res.Path = d.ready, "text"
	case d.body == nil:
		err = errPanic
	default:
		var failed error
		if err = guarded(func() { text, failed = d.render(ctx, o, res) }); err == nil {
			err = failed
		}
		if _, ok := errors.AsType[*noMatchError](err); ok {
			return nil, err
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("convert the page: %w", ctx.Err())
	}
	if err == nil && len(text) > outputLimit(len(d.content)) {
		err = errOutput
	}
	if err != nil {
		text, res.Path = fallbackText(ctx, d.content), "fallback"
		res.Warnings = append(res.Warnings, WarnFallback)
	}
	if text != "" {
		text = strings.TrimRight(text, "\n") + "\n"
	}
	res.Markdown, res.Tokens = text, Tokens(text)
	return res, nil
}

func (o Options) check() error {
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
	if o.Selector != "" {
		_, err := parseSelector(o.Selector)
		return err
	}
	return nil
}

// noMatchError says that a selector matched nothing.
type noMatchError struct{ selector string }

func (e *noMatchError) Error() string {
	return fmt.Sprintf("selector %q matches nothing on the page", e.selector)
}

func (d *Document) render(ctx context.Context, o Options, res *Result) (string, error) {
	r := &renderer{ctx: ctx, options: o, budget: outputLimit(len(d.content)) * 2}
	var text string
	switch {
	case o.Selector != "":
		s, err := parseSelector(o.Selector)
		if err != nil {
			return "", err
		}
		roots := s.all(d.body)
		if len(roots) == 0 {
			return "", &noMatchError{o.Selector}
		}
		text, res.Path = r.render(roots, nil), "selector"
	case o.WholePage:
		text, res.Path = r.render([]*html.Node{d.body}, nil), "body/whole"
	default:
		c := choose(ctx, d.body, d.all, d.kind)
		text, res.Path = r.render([]*html.Node{c.root}, c.dropped), c.name+"/"+c.stage.String()
		if c.stage >= chromeOnly {
			res.Warnings = append(res.Warnings, WarnLoose)
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
