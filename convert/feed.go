package convert

import (
	"bytes"
	"cmp"
	"context"
	"html"
	"path"
	"strings"
	"time"

	"github.com/mmcdole/gofeed"
	xhtml "golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/signs"
	"github.com/readthru/readthru/convert/xmlread"
)

// feed makes a page of a feed (RSS, Atom, JSON Feed): its title, then for each item a heading with a link to it, date
// and author, and its content by the rules for HTML. It reports false if text cannot be read as a feed. The page that
// is made so is read like any other, so that content of items is cleaned.
func (d *Document) feed(ctx context.Context, text string) bool {
	f, err := gofeed.NewParser().ParseString(strings.TrimLeft(xmlread.WithoutDeclaration(text), " \t\r\n"))
	if err != nil || f == nil {
		return false
	}
	d.form = feedFormat
	var b bytes.Buffer
	b.WriteString("<!doctype html><html")
	if f.Language != "" {
		b.WriteString(` lang="` + html.EscapeString(f.Language) + `"`)
	}
	b.WriteString("><head>")
	writeHead(&b, "title", f.Title)
	if f.Link != "" {
		b.WriteString(`<base href="` + html.EscapeString(f.Link) + `">`)
	}
	writeHead(&b, "description", f.Description)
	writeHead(&b, "author", people(f.Authors))
	writeHead(&b, "date", when(f.UpdatedParsed, f.PublishedParsed))
	b.WriteString("</head><body><h1>" + html.EscapeString(line(f.Title)) + "</h1>")
	writePart(ctx, &b, f.Description)
	for _, item := range f.Items {
		guard.Check(ctx)
		title := line(item.Title)
		if title == "" {
			title = cmp.Or(when(item.PublishedParsed, item.UpdatedParsed), item.Link, "Untitled")
		}
		link := cmp.Or(item.Link, enclosure(item))
		if link != "" {
			b.WriteString(`<h2><a href="` + html.EscapeString(link) + `">` + html.EscapeString(title) + "</a></h2>")
		} else {
			b.WriteString("<h2>" + html.EscapeString(title) + "</h2>")
		}
		var facts []string
		for _, fact := range []string{cmp.Or(when(item.PublishedParsed, item.UpdatedParsed), item.Published,
			item.Updated), people(item.Authors), strings.Join(item.Categories, ", ")} {
			if fact = line(fact); fact != "" {
				facts = append(facts, html.EscapeString(fact))
			}
		}
		if len(facts) > 0 {
			b.WriteString("<p>" + strings.Join(facts, " · ") + "</p>")
		}
		writePart(ctx, &b, cmp.Or(item.Content, item.Description))
		if file := enclosure(item); file != "" && file != link {
			b.WriteString(`<p><a href="` + html.EscapeString(file) + `">` + html.EscapeString(path.Base(file)) + "</a></p>")
		}
	}
	b.WriteString("</body></html>")
	d.compose(ctx, b.Bytes())
	return true
}

// compose takes a page that this package wrote, of a feed or the like. Such a page is neither pruned nor judged. What
// is said of pages that were sent, such as that they are thin, is not said of it.
func (d *Document) compose(ctx context.Context, markup []byte) {
	d.content, d.entire = markup, markup
	root, deep, err := dom.Parse(ctx, markup)
	if err != nil {
		guard.Stop(err)
	}
	if deep {
		d.warnings = append(d.warnings, WarnDeep)
	}
	before := len(d.warnings)
	d.adopt(ctx, root)
	words := d.signs.Words
	d.signs = signs.Signs{Words: words}
	kept := d.warnings[:before]
	for _, w := range d.warnings[before:] {
		if w != WarnThin && w != WarnShell && w != WarnSoft404 {
			kept = append(kept, w)
		}
	}
	d.warnings, d.whole = kept, true
}

// writePart writes HTML from a feed and closes its elements, so that an item cannot swallow the next. Plain text
// becomes a paragraph. It is written into the page that compose parses.
func writePart(ctx context.Context, b *bytes.Buffer, part string) {
	if part == "" {
		return
	}
	if strings.IndexByte(part, '<') < 0 { // text, whose character references may be encoded twice
		b.WriteString("<p>" + html.EscapeString(html.UnescapeString(part)) + "</p>")
		return
	}
	root, _, err := dom.Parse(ctx, []byte(part))
	if err != nil {
		guard.Check(ctx)
		b.WriteString("<p>" + html.EscapeString(part) + "</p>")
		return
	}
	b.WriteString("<div>")
	if body := dom.Find(root, func(n *xhtml.Node) bool { return dom.Is(n, atom.Body) }); body != nil {
		for _, n := range dom.FindAll(body, func(n *xhtml.Node) bool {
			return dom.Is(n, atom.Plaintext, atom.Noscript,
				atom.Iframe)
		}) {
			if dom.Attached(n, body) {
				dom.Remove(n) // they would be text to the end of the page
			}
		}
		for c := body.FirstChild; c != nil; c = c.NextSibling {
			if xhtml.Render(b, c) != nil {
				break
			}
		}
	}
	b.WriteString("</div>")
}

// writeHead writes a piece of metadata of a feed or document into the head of the page that is made of it: its title,
// or a meta element. An empty value writes nothing.
func writeHead(b *bytes.Buffer, name, value string) {
	value = html.EscapeString(line(value))
	switch {
	case value == "":
	case name == "title":
		b.WriteString("<title>" + value + "</title>")
	default:
		b.WriteString(`<meta name="` + name + `" content="` + value + `">`)
	}
}

// line returns a text of a feed or of a document's metadata, which may hold markup and character references, as one
// line without any.
func line(s string) string {
	if strings.IndexByte(s, '<') >= 0 {
		var b strings.Builder
		hidden.WriteText(&b, xhtml.NewTokenizer(strings.NewReader(s)))
		s = b.String()
	} else {
		s = html.UnescapeString(s)
	}
	return chars.Clip(s)
}

// people names the authors of a feed or an item. It names five at most, by their names, or by their addresses of mail
// without one.
func people(list []*gofeed.Person) string {
	var names []string
	for _, p := range list {
		if p == nil || len(names) == 5 {
			break
		}
		if name := line(cmp.Or(p.Name, p.Email)); name != "" {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// when returns the first known time of a feed or an item in RFC 3339, or only its day if it has no time; "" if none is
// known. Years before 1900 are mistakes.
func when(times ...*time.Time) string {
	for _, t := range times {
		if t == nil || t.Year() < 1900 || t.Year() > 9999 {
			continue
		}
		if t.Hour() == 0 && t.Minute() == 0 && t.Second() == 0 {
			return t.Format(time.DateOnly)
		}
		return t.UTC().Format(time.RFC3339)
	}
	return ""
}

// enclosure returns the address of the first file that comes with an item of a feed, such as an episode; "" for none.
func enclosure(item *gofeed.Item) string {
	for _, e := range item.Enclosures {
		if e != nil && e.URL != "" {
			return e.URL
		}
	}
	return ""
}
