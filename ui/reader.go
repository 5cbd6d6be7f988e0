package ui

import (
	"bytes"
	"cmp"
	"html/template"
	"net/url"
	"slices"
	"strings"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/extension"
	extast "github.com/yuin/goldmark/extension/ast"
	"github.com/yuin/goldmark/renderer"
	"github.com/yuin/goldmark/renderer/html"
	"github.com/yuin/goldmark/text"
	"github.com/yuin/goldmark/util"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/markdown"
)

// partSize is how long a part of a page's text is, in bytes, at which the dashboard shows it: about ten screens. A
// browser lays out five megabytes at once for seconds.
const partSize = 64 << 10

// textPart is a piece of a page's text that the dashboard shows at once, by offsets in it. Before and After repeat the
// fence of a block of code that was cut.
type textPart struct {
	Start, End    int
	Before, After string
}

// cutText cuts the markdown of a page into parts of partSize at most, between blocks, before headings if there is one
// in the second half of a part. A block that is longer is cut between lines, or within a line that is longer itself.
// There is one part at least, which may be empty.
func cutText(md []byte) []textPart {
	if len(md) <= partSize {
		return []textPart{{End: len(md)}}
	}
	var parts []textPart
	at := 0
	end := func(to int) {
		if to > at {
			parts, at = append(parts, textPart{Start: at, End: to}), to
		}
	}
	for b := range markdown.Blocks(md) {
		if b.End-at > partSize || b.Kind == markdown.Heading && b.Start-at > partSize/2 {
			end(b.Start)
		}
		if b.End-at <= partSize {
			continue
		}
		before, after := "", ""
		if b.Kind == markdown.Code {
			before, after = b.Fence.Closing()+"\n", "\n"+b.Fence.Closing()
		}
		for first := true; b.End-at > partSize; first = false {
			to := lineEnd(md, at, at+partSize)
			p := textPart{Start: at, End: to, After: after}
			if !first {
				p.Before = before
			}
			parts, at = append(parts, p), to
		}
		p := textPart{Start: at, End: b.End, Before: before}
		parts, at = append(parts, p), b.End
	}
	end(len(md))
	return parts
}

// lineEnd returns the end of the last line of a text that begins at at and ends before limit; if there is none, limit
// itself, at a character.
func lineEnd(md []byte, at, limit int) int {
	if n := bytes.LastIndexByte(md[at:limit], '\n'); n > 0 {
		return at + n + 1
	}
	return at + len(clip.Bytes(md[at:], limit-at))
}

// pageView renders the markdown of a stored page as HTML. Everything that the page wrote is text: HTML in it is shown
// as it is written, links lead to the web by http and https alone, and images are names until they are asked for. It
// serves one call of render.
type pageView struct {
	base     *url.URL // what links are relative to
	images   string   // the path that answers images, up to the address; empty: none is loaded
	headings []string // the fragments of the headings from here on, in order
	starts   []int    // where they begin
	offset   int      // of the text in the document
	title    string   // that stands above the document; empty: none does
	omitted  ast.Node // the heading that says it

	Images int // that were seen
}

// parser is the parser of the dashboard for markdown with the extensions of GitHub, which most markdown from the web is
// written in.
var parser = goldmark.New(goldmark.WithExtensions(extension.Table, extension.Strikethrough, extension.TaskList,
	extension.Linkify)).Parser()

// render returns HTML of a part of a page's text. Our own renderers have precedence over those of goldmark for whatever
// carries foreign addresses or HTML. If rendering fails, the text is shown as it is.
func (v *pageView) render(md []byte) template.HTML {
	md = withoutControls(md)
	r := renderer.NewRenderer(renderer.WithNodeRenderers(
		util.Prioritized(v, 1),
		util.Prioritized(html.NewRenderer(), 1000),
		util.Prioritized(extension.NewTableHTMLRenderer(), 500),
		util.Prioritized(extension.NewStrikethroughHTMLRenderer(), 500),
	))
	doc := parser.Parse(text.NewReader(md))
	_ = ast.Walk(doc, func(n ast.Node, entering bool) (ast.WalkStatus, error) {
		switch {
		case !entering:
		case n.Kind() == extast.KindTable:
			n.SetAttributeString("tabindex", []byte("0")) // what can be scrolled is reached by keys
		case n.Kind() == ast.KindBlockquote:
			markAlert(n, md)
		}
		return ast.WalkContinue, nil
	})
	var b bytes.Buffer
	if err := r.Render(&b, md, doc); err != nil {
		return template.HTML(template.HTMLEscapeString(string(md))) //nolint:gosec // it is escaped
	}
	return template.HTML(b.String()) //nolint:gosec // the renderers escape what is foreign
}

// alerts are the kinds of GitHub's alerts, by what their first line says, in the words of their title.
var alerts = map[string]string{
	"[!NOTE]": "Note", "[!TIP]": "Tip", "[!IMPORTANT]": "Important", "[!WARNING]": "Warning", "[!CAUTION]": "Caution",
}

// markAlert makes a quotation an alert if its first line is the mark of one, as GitHub does: the mark becomes a title.
func markAlert(quote ast.Node, source []byte) {
	p, ok := quote.FirstChild().(*ast.Paragraph)
	if !ok {
		return
	}
	line := p.Lines().At(0)
	name := alerts[strings.ToUpper(strings.TrimSpace(string(line.Value(source))))]
	if name == "" {
		return
	}
	for ended := false; !ended && p.HasChildren(); {
		first := p.FirstChild()
		if t, ok := first.(*ast.Text); ok {
			ended = t.SoftLineBreak() || t.HardLineBreak()
		}
		p.RemoveChild(p, first)
	}
	title := ast.NewParagraph()
	title.AppendChild(title, ast.NewString([]byte(name)))
	title.SetAttributeString("class", []byte("kind"))
	quote.InsertBefore(quote, p, title)
	quote.SetAttributeString("class", []byte("alert "+strings.ToLower(name)))
	if !p.HasChildren() {
		quote.RemoveChild(quote, p)
	}
}

// withoutControls replaces control characters but line breaks and tabs in a page's text, and bytes that are not UTF-8.
// Lengths stay for the former, so that the offsets of headings hold.
func withoutControls(md []byte) []byte {
	return bytes.Map(func(r rune) rune {
		if r < ' ' && r != '\n' && r != '\t' && r != '\r' || r == 0x7f {
			return ' '
		}
		return r
	}, bytes.ToValidUTF8(md, []byte("?")))
}

// RegisterFuncs implements [renderer.NodeRenderer]: it names the kinds of nodes that pageView writes itself.
func (v *pageView) RegisterFuncs(r renderer.NodeRendererFuncRegisterer) {
	r.Register(ast.KindLink, v.link)
	r.Register(ast.KindAutoLink, v.autoLink)
	r.Register(ast.KindImage, v.image)
	r.Register(ast.KindRawHTML, v.rawHTML)
	r.Register(ast.KindHTMLBlock, v.htmlBlock)
	r.Register(ast.KindHeading, v.heading)
	r.Register(ast.KindCodeBlock, v.code)
	r.Register(ast.KindFencedCodeBlock, v.code)
	r.Register(extast.KindTaskCheckBox, v.checkBox)
}

// target returns where a link in a page's text leads: within the page, or to the web; ok is false for anything else,
// such as javascript: or a file. Fragments get the prefix that headings have here.
func (v *pageView) target(dest string) (href string, ok bool) {
	if fragment, within := strings.CutPrefix(dest, "#"); within {
		return "#h-" + fragment, true
	}
	u, err := url.Parse(dest)
	if err == nil && v.base != nil {
		u = v.base.ResolveReference(u)
	}
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return "", false
	}
	return u.String(), true
}

// open writes the beginning of a link. One that leads nowhere that is allowed has no href: it stays a text. The web
// does not learn from where somebody came, and gets no handle on our window.
func (v *pageView) open(w util.BufWriter, dest string) {
	href, ok := v.target(dest)
	if !ok {
		href = ""
	}
	writeAll(w, "<a")
	if href != "" {
		writeAll(w, ` href="`, template.HTMLEscapeString(href), `"`)
	}
	if !strings.HasPrefix(href, "#") {
		writeAll(w, ` rel="noreferrer noopener nofollow"`)
	}
	writeAll(w, ">")
}

// link writes a link. One without a text gets the name of its host, or nobody could follow it.
func (v *pageView) link(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	dest := string(util.UnescapePunctuations(n.(*ast.Link).Destination))
	if entering {
		v.open(w, dest)
	} else {
		if strings.TrimSpace(textOf(n, source)) == "" && !hasImage(n) {
			writeAll(w, template.HTMLEscapeString(cmp.Or(hostText(dest), "link")))
		}
		writeAll(w, "</a>")
	}
	return ast.WalkContinue, nil
}

// autoLink writes an address that is a link by itself.
func (v *pageView) autoLink(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		l := n.(*ast.AutoLink)
		v.open(w, string(l.URL(source)))
		writeAll(w, template.HTMLEscapeString(string(l.Label(source))), "</a>")
	}
	return ast.WalkContinue, nil
}

// image writes the name of an image, or, if images are asked for, the image as our own cache answers it: the browser
// sends no request to the origin. Data URLs are never loaded.
func (v *pageView) image(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	v.Images++
	dest, alt := string(util.UnescapePunctuations(n.(*ast.Image).Destination)), plain(textOf(n, source))
	if v.images != "" && !strings.HasPrefix(dest, "data:") {
		writeAll(w, `<img loading="lazy" src="`, template.HTMLEscapeString(v.images+url.QueryEscape(dest)), `" alt="`,
			template.HTMLEscapeString(alt), `">`)
		return ast.WalkSkipChildren, nil
	}
	switch {
	case alt != "":
		writeAll(w, `<span class="image">image: `, template.HTMLEscapeString(alt), `</span>`)
	case n.Parent().Kind() == ast.KindLink: // which would be empty
		writeAll(w, `<span class="image">image</span>`)
	}
	return ast.WalkSkipChildren, nil
}

// hasImage reports whether a link has something to see that is no text: an image or code.
func hasImage(n ast.Node) bool {
	for c := n.FirstChild(); c != nil; c = c.NextSibling() {
		if c.Kind() == ast.KindImage || c.Kind() == ast.KindCodeSpan || hasImage(c) {
			return true
		}
	}
	return false
}

// textOf returns the text of a node's children, on one line.
func textOf(n ast.Node, source []byte) string {
	var b strings.Builder
	_ = ast.Walk(n, func(c ast.Node, entering bool) (ast.WalkStatus, error) {
		if t, ok := c.(*ast.Text); ok && entering {
			b.Write(t.Segment.Value(source))
			if t.SoftLineBreak() {
				b.WriteByte(' ')
			}
		}
		return ast.WalkContinue, nil
	})
	return b.String()
}

// rawHTML writes HTML within a line of a page as code to be read.
func (v *pageView) rawHTML(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeAll(w, `<code class="html">`, template.HTMLEscapeString(string(n.(*ast.RawHTML).Segments.Value(source))), "</code>")
	}
	return ast.WalkSkipChildren, nil
}

// htmlBlock writes a block of HTML of a page as text to be read. It can be scrolled by keys.
func (v *pageView) htmlBlock(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if !entering {
		return ast.WalkContinue, nil
	}
	b := n.(*ast.HTMLBlock)
	writeAll(w, `<pre class="html" tabindex="0">`, template.HTMLEscapeString(string(b.Lines().Value(source))))
	if b.HasClosure() {
		writeAll(w, template.HTMLEscapeString(string(b.ClosureLine.Value(source))))
	}
	writeAll(w, "</pre>\n")
	return ast.WalkContinue, nil
}

// code writes a block of code as it is, without colours.
func (v *pageView) code(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	if entering {
		writeAll(w, `<pre tabindex="0"><code>`, template.HTMLEscapeString(string(n.Lines().Value(source))), "</code></pre>\n")
	}
	return ast.WalkSkipChildren, nil
}

// checkBox writes the box of a task as a character, since nobody can tick it here.
func (v *pageView) checkBox(w util.BufWriter, _ []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	switch {
	case !entering:
	case n.(*extast.TaskCheckBox).IsChecked:
		writeAll(w, "☑ ")
	default:
		writeAll(w, "☐ ")
	}
	return ast.WalkContinue, nil
}

// heading writes a heading of a page's text a level down: the dashboard's page has headings of its own. Its id is that
// of the outline, with a prefix: no page may name a part of ours. A heading that the outline does not have gets no id.
//
// The first one that says the title, which stands above the page, is left out but for its id.
func (v *pageView) heading(w util.BufWriter, source []byte, n ast.Node, entering bool) (ast.WalkStatus, error) {
	h := n.(*ast.Heading)
	if !entering {
		if n != v.omitted {
			writeAll(w, "</h", string(rune('0'+min(h.Level+1, 6))), ">\n")
		}
		return ast.WalkContinue, nil
	}
	said := v.title != "" && h.Level == 1 && strings.EqualFold(strings.TrimSpace(textOf(n, source)), v.title)
	if said {
		writeAll(w, "<span")
	} else {
		writeAll(w, "<h", string(rune('0'+min(h.Level+1, 6))))
	}
	if h.Lines().Len() > 0 {
		// The node begins behind the marks of the heading, and the outline before them: they are few characters apart.
		at := h.Lines().At(0).Start + v.offset
		if i, _ := slices.BinarySearch(v.starts, at+1); i > 0 && at-v.starts[i-1] < 16 {
			writeAll(w, ` id="h-`, template.HTMLEscapeString(v.headings[i-1]), `"`)
		}
	}
	writeAll(w, ">")
	if said {
		v.title, v.omitted = "", n
		writeAll(w, "</span>\n")
		return ast.WalkSkipChildren, nil
	}
	return ast.WalkContinue, nil
}

// writeAll writes texts of a rendered page. The writer keeps the first error, which render returns.
func writeAll(w util.BufWriter, texts ...string) {
	for _, t := range texts {
		_, _ = w.WriteString(t)
	}
}
