package convert

import (
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
// everything else stays unchanged between fences. It expands only the five entities of XML itself. A JSON Feed comes
// here, too, if its media type says that it is a feed. Feeds that nest too deep are not given to the parser of feeds.
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
	d.head.Title = d.fileName()
	d.ready = mdwrite.Fence(text, "xml")
}

// sitemap returns a list of the pages in a sitemap, which is XML, with the dates of their last change (sitemaps.org
// 0.9). It omits addresses that are not absolute, and returns "" for a list without pages. Titles are those of news and
// videos.
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

// writeEntry writes the entry of a page in a sitemap, which is XML: a link with its title, or the address alone, and
// the day of its last change. It writes nothing for what is no absolute address of the web.
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
