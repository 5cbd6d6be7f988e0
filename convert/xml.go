package convert

import (
	"bytes"
	"context"
	"encoding/xml"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/xmlread"
)

// xml makes the markdown of XML: a feed becomes its items, a sitemap a list of links, a picture its description, and
// everything else stays unchanged between fences. It expands only the five entities of XML itself.
func (d *Document) xml(ctx context.Context, text string) {
	root := xmlread.Root(text)
	if strings.HasPrefix(text, "{") { // a JSON Feed
		root = "json"
	}
	switch root {
	case "rss", "feed", "RDF", "json":
		if (root == "json" || xmlread.Shallow(ctx, text)) && d.feed(ctx, text) {
			return
		}
	case "urlset", "sitemapindex":
		if list := sitemap(ctx, text); list != "" {
			d.ready = list
			return
		}
	case "svg":
		d.form = imageFormat
		d.svg(ctx, text)
		return
	}
	if d.form = xmlFormat; root == "json" {
		d.form = jsonFormat
		d.json(ctx, text)
		return
	}
	if d.url != nil {
		d.head.Title = fileName(d.url.Path)
	}
	d.ready = mdwrite.Fence(text, "xml")
}

// sitemap returns a list of the pages in a sitemap with the dates of their last change (sitemaps.org 0.9). It omits
// addresses that are not absolute, and returns "" for a list without pages.
func sitemap(ctx context.Context, text string) string {
	var b strings.Builder
	var loc, changed, title, field string
	dec := xmlread.NewDecoder(strings.NewReader(text))
	for {
		guard.Check(ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			field = ""
			switch t.Name.Local {
			case "url", "sitemap":
				loc, changed, title = "", "", ""
			case "loc", "lastmod":
				if t.Name.Space == "" {
					field = t.Name.Local
				}
			case "title":
				field = "title"
			}
		case xml.CharData:
			switch field {
			case "loc":
				loc += string(t)
			case "lastmod":
				changed += string(t)
			case "title":
				title += string(t)
			}
		case xml.EndElement:
			if field = ""; t.Name.Local == "url" || t.Name.Local == "sitemap" {
				writeEntry(&b, strings.TrimSpace(loc), chars.OneLine(changed), chars.OneLine(title))
			}
		}
	}
	return strings.TrimRight(b.String(), "\n")
}

func writeEntry(b *strings.Builder, loc, changed, title string) {
	u, err := url.Parse(loc)
	if err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || strings.ContainsAny(loc, "<> \t\r\n") {
		return
	}
	b.WriteString("- ")
	if title, _ = chars.Visible(title); title != "" {
		b.WriteByte('[')
		mdwrite.WriteEscaped(b, title, false, true)
		b.WriteString("](<" + loc + ">)")
	} else {
		b.WriteString("<" + loc + ">")
	}
	if day := head.Date(changed); day != "" {
		b.WriteString(", " + day)
	}
	b.WriteByte('\n')
}

// svg describes a picture by its title, description and text.
func (d *Document) svg(ctx context.Context, text string) {
	var words []string
	var title, description, field string
	var width, height string
	texts, skip := 0, 0
	dec := xmlread.NewDecoder(strings.NewReader(text))
	for {
		guard.Check(ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch t.Name.Local {
			case "svg":
				if width == "" {
					width, height = xmlread.Attr(t, "width"), xmlread.Attr(t, "height")
				}
			case "style", "script":
				skip++
			case "title", "desc", "text":
				field = t.Name.Local
			}
		case xml.EndElement:
			switch t.Name.Local {
			case "style", "script":
				skip = max(0, skip-1)
			case "title", "desc", "text":
				field = ""
			}
		case xml.CharData:
			s, _ := chars.Visible(string(t))
			if s = chars.OneLine(s); s == "" || skip > 0 {
				continue
			}
			switch field {
			case "title":
				title = join(title, s)
			case "desc":
				description = join(description, s)
			case "text":
				if texts += len(s); texts < maxPictureText {
					words = append(words, s)
				}
			}
		}
	}
	var b strings.Builder
	what := "SVG image"
	if pixels(width) && pixels(height) {
		what += ", " + strings.TrimSuffix(width, "px") + " × " + strings.TrimSuffix(height, "px") + " pixels"
	}
	d.say(&b, what, len(text))
	d.head.Title = chars.Clip(title)
	for _, part := range []string{title, description, strings.Join(words, " ")} {
		if part != "" {
			b.WriteString("\n\n")
			b.WriteString(mdwrite.Escaped(part, true, '\n'))
		}
	}
	if texts >= maxPictureText {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	d.ready = b.String()
}

// maxPictureText is the number of bytes of the text in a picture that are kept.
const maxPictureText = 64 << 10

func join(a, b string) string { return strings.TrimSpace(a + " " + b) }

func pixels(s string) bool {
	s = strings.TrimSuffix(s, "px")
	return s != "" && len(s) < 10 && strings.Trim(s, "0123456789.") == ""
}

// svg reports whether content is a picture in SVG.
func svg(content []byte) bool {
	head := content[:min(len(content), 4<<10)]
	return !noText(head) && bytes.Contains(head, []byte("<svg"))
}
