package convert

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/archive"
	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/judge"
	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/convert/signs"
	"github.com/readthru/readthru/page"
)

// Warnings of a [Result]; each is a token of the response field X-Readthru-Warning. Warnings of bodies that are not
// HTML are in format.go, that of recipes in recipe.go.
const (
	WarnHidden    = "hidden-text-removed" // followed by =N, the pieces that are more than menus and labels
	WarnNote      = "agent-note"          // followed by =N, the number of hidden notes to agents about the site
	WarnShown     = "hidden-page-shown"   // styles hide the page until a script runs; it was kept
	WarnStyles    = "styles-cut"          // the page has more style rules than were read; hidden text may be left
	WarnThin      = "thin"                // there is hardly any text
	WarnShell     = "js-shell"            // scripts that have not run make the text
	WarnLoose     = "loose"               // strict rules for the main content left too little; gentler rules were used
	WarnFallback  = "fallback-text"       // the conversion failed; the markdown is the page's text alone
	WarnCharset   = "charset-guessed"     // nothing states the character encoding
	WarnDeep      = "too-deep"            // elements nest too deep; some were flattened
	WarnSpans     = "spans-cut"           // a table has cells with too large spans; they were cut
	WarnTooLarge  = "too-large"           // the body exceeds a limit; the rest was left out
	WarnTruncated = "truncated"           // the rest was left out: there was no time for it
	WarnNoBase    = "links-without-base"  // followed by =N: relative links became text, since the URL is not known
	WarnSoft404   = "soft-404"            // the page says that it does not exist, with status 200
	WarnError     = "error-page"          // the page reports a failure of the server, with status 200
	WarnLogin     = "login-wall"          // the page asks its reader to sign in
	WarnPaywall   = "paywall"             // the article is cut off for readers who have not paid

	WarnStructured = "structured-text" // the page has hardly any text; the text of its JSON-LD was used
)

// Document is a parsed body. It is safe for concurrent use. [Parse] makes it, and nothing changes it afterwards:
// conversions that need another tree, such as those with a selector, parse content again. A body that is not HTML has
// form, and either a page that was composed of it (body) or its markdown (ready).
type Document struct {
	url     *url.URL  // final URL; may be nil
	saved   *url.URL  // of a page in a web archive, where it was
	content []byte    // decoded; of a large page the first part
	entire  []byte    // decoded, as a whole
	rest    []part    // of a large page, the further parts
	partOf  *Document // of a further part, the first one
	head    head.Head
	signs   signs.Signs
	kind    rules.PageType
	body    *html.Node      // normalised; nil when there is no tree, and the text alone is left
	hides   []archive.Piece // texts that the file does not show, of which there is nothing in the tree
	form    format          // of a body that is not HTML, else empty
	whole   bool            // the tree was written here: there is nothing to prune
	ready   string          // markdown of a body that has no tree

	warnings []string
	unseen   hidden.Report
	removed  page.Removed   // what no reader of the page sees
	pick     *pick          // what of the page is wanted; nil: all
	recipes  []*Recipe      // that may be for the page
	served   *recipeServing // what the first of them that is chooses; nil: none is
}

// Parse decodes and parses content, from which any content coding must have been removed. u is the final URL and may be
// nil. The format of content follows from contentType, or else from its beginning and the path of u: HTML, markdown,
// plain text and source code, JSON, CSV, XML, feeds, notebooks, PDF, MHTML, EPUB, and the documents of Office and
// LibreOffice. For other content, such as an image, the markdown says what it is.
//
// Parse fails only for a text of more than 10 MiB that is not HTML ([ErrTooLarge]) and when ctx ends. HTML of more is
// cut at blocks into parts, which Convert converts one after the other; [Document.Signs] are those of the first.
// Damaged content gives a Document too: its conversion holds what could be read, and a warning.
//
// The first of recipes that is for the page says what its content is, unless the page is cut into parts.
func Parse(ctx context.Context, content []byte, contentType string, u *url.URL, recipes ...*Recipe) (*Document, error) {
	d := &Document{url: u, recipes: recipes}
	err := d.read(ctx, content, contentType)
	if ctx.Err() != nil {
		return nil, fmt.Errorf("parse the page: %w", ctx.Err())
	}
	if err != nil {
		return nil, fmt.Errorf("decode the body: %w", err)
	}
	return d, nil
}

// parse builds the tree of d.content for Parse and reads it. It ends by guard.Stop when the tree cannot be built; the
// caller runs it in guard.Run.
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

// adopt makes the page with this root the content of d: it reads its head and signs, removes what no reader sees,
// brings elements into the forms of the renderer, and finds the type of the page. The order matters: signs and recipes
// are looked for while elements are still as they were sent, and what is hidden is known only when shadow roots have
// been moved into their hosts.
func (d *Document) adopt(ctx context.Context, root *html.Node) {
	w := hidden.New(root)
	switch {
	case d.partOf != nil:
		w = hidden.NewPart(root, d.partOf.unseen)
	case d.form != "":
		w = hidden.NewFinal(root)
	}
	w.Names(root)
	d.head = head.Read(root, d.url)
	if d.saved != nil && d.head.Base == d.url { // the page names no base of its own
		d.head.Base = d.saved
	}
	d.signs.MarkdownTwin, d.signs.Canonical = d.head.Twin, d.head.Canonical
	d.signs.Wall = signs.Wall(0, nil, d.content)
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil {
		body = normalise.Frameset(root)
		d.whole = true
	}
	for _, piece := range d.hides {
		w.Left(piece.Kind, piece.Text)
	}
	normalise.UnwrapShadowRoots(body, w) // before words are counted: what a host shows is in its template
	if d.signs.Judge(ctx, root, body, d.head.ArticleBody, len(d.content)) {
		d.warnings = append(d.warnings, WarnStructured)
	}
	if d.pick != nil {
		d.pick.apply(ctx, body)
	}
	if len(d.recipes) > 0 && d.form == "" && d.rest == nil && d.partOf == nil {
		d.served = serve(ctx, root, d.recipes)
	}
	manual := rules.ManualSigns(root)
	if d.head.Base == nil {
		if n := links.NeedBase(body); n > 0 {
			d.warnings = append(d.warnings, WarnNoBase+"="+strconv.Itoa(n))
		}
	}
	normalise.Body(ctx, body, d.head.Base, d.url, w)
	d.reportHidden(w.Report())
	if d.served != nil {
		d.served.describe(&d.head, root)
	}
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
	d.kind = rules.TypeOf(ctx, d.url, &d.head, body, manual)
	if d.kind == rules.Product || d.kind == rules.Listing && d.signs.Words >= signs.ThinWords {
		d.head.Forget()
	}
	d.body = body
}

// page returns what of d the choice of content needs to know, when the page is converted.
func (d *Document) page() judge.Page {
	return judge.Page{Body: d.body, Kind: d.kind, Head: &d.head, Words: d.signs.Words}
}

// Options choose the part of a page to convert, and the form of links and images. The zero value is the main content
// with inline links and images. The API, MCP and the proxy hand them through as they are asked for.
type Options struct {
	WholePage bool   // convert the whole body, not its main content alone
	Selector  string // convert only the elements that match this CSS selector in the page as it was sent
	Drop      string // leave out the elements that match this CSS selector

	// Section converts only the section under the heading with this id, or the element with it. It excludes Selector.
	Section string

	// Links is inline (the default), compact, reference, text (the text alone) or none. Compact addresses on the page's
	// own host are relative to its root, and a target is linked once among its neighbours.
	Links string

	Images string // keep (default), alt (the alternative text alone) or none
}

// Result is the result of a conversion. It is the caller's own, except for Removed.
type Result struct {
	Markdown                         string // without front matter; ends with one newline
	Title, Description, CanonicalURL string
	PageType                         string // article, documentation, forum, product, listing or service
	Meta                             page.Meta
	Tokens                           int          // of Markdown, estimated
	HTMLTokens                       int          // of the decoded body, estimated
	HTMLChars                        int          // of the decoded body, in Unicode code points
	Warnings                         []string     // tokens of X-Readthru-Warning
	Removed                          page.Removed // hidden text that was removed; shared: do not change it
	Path                             string       // how the content was chosen, for attempts[]
	Recipe                           *RecipeUse   // what a recipe did for it; nil: none is for the page
}

// UnreadableError says that nothing of a body can be read.
type UnreadableError struct {
	Warning string // WarnDamaged or WarnEncrypted
}

// Error says why, as a sentence of which "it" is the body.
func (e *UnreadableError) Error() string {
	what := map[string]string{WarnEncrypted: "needs a password", WarnDamaged: "is damaged"}
	return "it " + what[e.Warning] + ", and nothing of it can be read"
}

// Unreadable returns an error if nothing of a body can be read, of which the conversion has this text and these
// warnings; else nil, also for a body that is whole and has no text. Whoever gives pages to readers gives them the
// error.
func Unreadable[Text string | []byte](text Text, warnings []string) *UnreadableError {
	for _, w := range []string{WarnEncrypted, WarnDamaged} {
		if slices.Contains(warnings, w) && strings.TrimSpace(string(text)) == "" {
			return &UnreadableError{w}
		}
	}
	return nil
}

// Convert returns the document as markdown. It fails when o is not valid ([Options.Check]), when its selector or
// section matches nothing ([ErrNoMatch]), and when ctx ends. Any other failure gives the page's text and the warning
// fallback-text. A section that is not found by its id in the page is looked for by its slug in the markdown.
func (d *Document) Convert(ctx context.Context, o Options) (*Result, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	res := &Result{
		Title: d.head.Title, Description: d.head.Meta["description"], CanonicalURL: d.head.Canonical,
		PageType: string(d.kind), Meta: maps.Clone(d.head.Meta),
		HTMLTokens: d.sourceTokens(), HTMLChars: characters(d.entire), Warnings: append([]string(nil), d.warnings...),
		Removed: d.removed,
	}
	// A section of a large page may reach over several parts, so that it is looked for in the markdown of all.
	if o.Section != "" && d.rest != nil {
		if found, err := d.sectionBySlug(ctx, o); !errors.Is(err, ErrNoMatch) {
			return found, err
		}
	}
	var text string
	var err error
	found := true
	switch {
	case d.body == nil && o.Section != "":
		return d.sectionBySlug(ctx, o)
	case d.form != "" && d.body == nil && o.Selector != "":
		return nil, fmt.Errorf("selector %q: %w", o.Selector, ErrNoMatch)
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
			return d.sectionBySlug(ctx, o)
		} else if errors.Is(err, ErrNoMatch) {
			if d.rest == nil {
				return nil, err
			}
			found, err = false, nil
		}
	}
	if ctx.Err() != nil {
		return nil, fmt.Errorf("convert the page: %w", ctx.Err())
	}
	// Output that outgrows its input is the work of a hostile page.
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
	if d.rest != nil && o.Section == "" {
		if err := d.convertRest(ctx, o, res, found); err != nil {
			return nil, err
		}
	}
	return res, nil
}

// The forms of links and of images that [Options] may ask for.
var (
	LinkForms  = []string{"inline", "compact", "reference", "text", "none"}
	ImageForms = []string{"keep", "alt", "none"}
)

// Check returns an error for a malformed selector and for an unknown form of links or images. What a client asks for is
// checked by it before the page is fetched.
func (o Options) Check() error {
	if o.Links != "" && !slices.Contains(LinkForms, o.Links) {
		return fmt.Errorf("links %q is not one of %s", o.Links, strings.Join(LinkForms, ", "))
	}
	if o.Images != "" && !slices.Contains(ImageForms, o.Images) {
		return fmt.Errorf("images %q is not one of %s", o.Images, strings.Join(ImageForms, ", "))
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

// ErrNoMatch is the error of a selector or a section that matches nothing on the page. Errors of [Document.Convert]
// wrap it and name the selector or section.
var ErrNoMatch = errors.New("no match on the page")

// render writes the part of the page that o chooses as markdown, and notes in res how the part was chosen, what a
// recipe did, and what was cut. Without a choice of the caller, a recipe that names content goes first, then the model
// and the rules; the whole body is written where this program composed the page. It runs in guard.Run.
func (d *Document) render(ctx context.Context, o Options, res *Result) (string, error) {
	var roots []*html.Node
	if o.Selector != "" || o.Drop != "" || o.Section != "" {
		var err error
		if d, roots, err = d.narrowed(ctx, o); err != nil {
			return "", err
		}
	}
	// Footnotes that a chosen part refers to may stand anywhere on the page.
	r := mdwrite.New(ctx, o.Links, o.Images, len(d.content), append(roots, d.body)...)
	var text string
	switch {
	case roots != nil:
		text, res.Path = r.Render(roots, nil), "selector"
	case o.WholePage, d.whole:
		text, res.Path = r.Render([]*html.Node{d.body}, nil), "body/whole"
	default:
		if s := d.served; s != nil && s.chooses() {
			var chosen []*html.Node
			if chosen, res.Recipe = s.roots(d); chosen != nil {
				text, res.Path = r.Render(chosen, nil), "recipe/"+s.name
				break
			}
			res.Warnings = append(res.Warnings, WarnRecipe)
		}
		c := judge.Choose(ctx, d.page())
		if d.served != nil && !d.served.chooses() {
			if c.Dropped == nil {
				c.Dropped = map[*html.Node]bool{}
			}
			maps.Copy(c.Dropped, d.served.dropped)
		}
		// A box that lists the headings of the page says nothing that they do not.
		rules.DropPlaces(ctx, c.Root, c.Dropped)
		text, res.Path = r.Render([]*html.Node{c.Root}, c.Dropped), c.Name+"/"+c.Stage.String()
		if c.Stage == rules.WholeBody {
			res.Warnings = append(res.Warnings, WarnLoose)
		}
		if c.Name == judge.Nothing && !d.signs.Thin {
			res.Warnings = append(res.Warnings, WarnThin)
		}
	}
	if d.served != nil {
		if res.Recipe == nil {
			res.Recipe = &RecipeUse{Name: d.served.name}
		}
		res.Recipe.Next = d.served.nextPage(d.head.Base)
	}
	if r.TooDeep {
		res.Warnings = append(res.Warnings, WarnDeep)
	}
	if r.SpansCut {
		res.Warnings = append(res.Warnings, WarnSpans)
	}
	if o.Links == "compact" {
		text = string(CompactLinks([]byte(text), d.url))
	}
	return text, nil
}

// fileName returns the last part of the path of the address, for a title. It is "" without one.
func (d *Document) fileName() string {
	name := strings.Trim(path.Base(d.path()), "/.")
	if _, report := hidden.Text([]byte(name)); report.Hidden > 0 {
		d.reportHidden(report)
	}
	return chars.Clip(name)
}

// path returns the path of the document's address, "" if that is not known.
func (d *Document) path() string {
	if d.url == nil {
		return ""
	}
	return d.url.Path
}
