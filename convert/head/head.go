package head

import (
	"cmp"
	"net/url"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/page"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	menuNames, metaKeys, dateKeys, authorKeys, dateForms, dayForms, authorNames, dateNames, saidByOthers,
}

// metaKeys are the names of meta elements that are kept unchanged, besides all that begin with "article:". They go into
// the metadata of a page as it is stored and answered.
var metaKeys = chars.Set("description og:title og:description og:image og:site_name og:type og:url twitter:title " +
	"twitter:description twitter:image twitter:card author keywords robots")

// dateKeys and authorKeys are other names under which pages state both, best first. Those of articles, of libraries
// (Dublin Core, Highwire) and of analytics tools are among them.
var (
	dateKeys = []string{
		"article:published_time", "datepublished", "citation_publication_date", "citation_date",
		"article:published", "dc.date", "dc.date.issued", "dcterms.created", "dcterms.date", "date", "pubdate",
		"publishdate", "parsely-pub-date", "sailthru.date",
	}
	authorKeys = []string{
		"author", "citation_author", "dc.creator", "dcterms.creator", "parsely-author",
		"sailthru.author", "byl",
	}
)

// Head is the metadata of a page.
type Head struct {
	Meta      page.Meta // what meta elements and JSON-LD say, by their names
	Title     string    // of the page, without the name of its site
	Generator string    // the tools that made the page, as they name themselves
	Canonical string    // absolute, on the same site; else empty
	Twin      string    // absolute URL of the page in markdown; else empty

	ArticleBody string   // the article's text as JSON-LD has it; else empty
	Sells       bool     // JSON-LD says that the page sells one thing
	Price       float64  // of it, as the metadata state; else 0
	News        bool     // JSON-LD or its keywords say that the page is news
	Base        *url.URL // what relative addresses are resolved against; may be nil

	guessed []string // what of the metadata was read from the page itself, and not stated
}

// Read collects the metadata of the page at u before anything is removed. u may be nil. What is stated goes before what
// is read from the text.
func Read(root *html.Node, u *url.URL) Head {
	h := Head{Meta: page.Meta{}, Base: u}
	other := map[string]string{}
	var t titles
	var structured []*html.Node
	baseSeen := false
	for n := range root.Descendants() {
		if n.Type != html.ElementNode || n.Namespace != "" {
			continue
		}
		switch n.DataAtom {
		case atom.Html:
			Put(h.Meta, "lang", dom.Attr(n, "lang"))
		case atom.Title:
			if t.element == "" {
				t.element = chars.Clip(chars.TrimIcons(dom.Text(n)))
			}
		case atom.Base:
			if !baseSeen && u != nil {
				if b, err := page.Resolve(u, strings.TrimSpace(dom.Attr(n, "href"))); err == nil && dom.Attr(n, "href") != "" &&
					(b.Scheme == "http" || b.Scheme == "https") && b.Host != "" {
					h.Base, baseSeen = b, true
				}
			}
		case atom.H1, atom.H2:
			t.add(n, u)
		case atom.Meta:
			value := chars.Clip(dom.Attr(n, "content"))
			for _, key := range []string{dom.Attr(n, "property"), dom.Attr(n, "name"), dom.Attr(n, "itemprop")} {
				key = strings.ToLower(strings.TrimSpace(key))
				switch {
				case key == "" || value == "":
				case key == "generator":
					h.Generator += value
				case metaKeys[key] || strings.HasPrefix(key, "article:") && len(key) < 60 && len(h.Meta) < 60:
					Put(h.Meta, key, value)
					Put(other, key, value)
				case len(other) < 200:
					Put(other, key, value)
				}
			}
		case atom.Link:
			h.link(n, u)
		case atom.Script:
			if dom.Attr(n, "type") == "application/ld+json" && len(structured) < 20 {
				structured = append(structured, n)
			}
		}
	}
	// Names for the same thing are asked in their order, so that the best one sets the value.
	for _, key := range authorKeys {
		Put(h.Meta, "author", other[key])
	}
	if author := h.Meta["author"]; author != "" {
		h.Meta["author"] = byWord().ReplaceAllString(author, "")
	}
	for _, key := range dateKeys {
		Put(h.Meta, "date", Date(other[key]))
	}
	h.News = other["news_keywords"] != ""
	for _, n := range structured {
		body, sells, price := readStructured(h.Meta, dom.Text(n))
		if len(body) > len(h.ArticleBody) {
			h.ArticleBody = body
		}
		h.Sells, h.Price = h.Sells || sells, cmp.Or(h.Price, price)
		h.News = h.News || strings.Contains(dom.Text(n), "NewsArticle")
	}
	for _, key := range priceKeys {
		price, _ := Amount(other[key])
		h.Price = cmp.Or(h.Price, price)
	}
	// The text of the page is asked last, and what it says is noted as a guess.
	h.readBelow(root)
	if h.Meta["date"] == "" {
		h.guessed = append(h.guessed, "date")
		if t := dom.Find(root, func(n *html.Node) bool {
			return dom.Is(n, atom.Time) && Date(dom.Attr(n, "datetime")) != "" && !dom.Within(n, atom.Footer, atom.Nav) &&
				!revised(n)
		}); t != nil {
			Put(h.Meta, "date", Date(dom.Attr(t, "datetime")))
		}
	}
	Put(h.Meta, "description", h.Meta["og:description"])
	if text := h.Meta["description"]; strings.Contains(text, "&") { // some sites escape it twice
		h.Meta["description"] = chars.Clip(html.UnescapeString(text))
	}
	Put(h.Meta, "canonical_url", h.Canonical)
	t.og, t.home = chars.TrimIcons(h.Meta["og:title"]), u != nil && home(u)
	if u != nil {
		t.host = chars.Fold(page.SiteName(u.Hostname()))
	}
	t.readCaption(root)
	t.nameSite(h.Meta["og:site_name"])
	h.Title = t.choose()
	Put(h.Meta, "title", cmp.Or(t.element, t.og, h.Title))
	for _, key := range []string{"og:image", "og:url", "twitter:image"} {
		h.absolute(key)
	}
	return h
}

// absolute resolves a URL of the metadata against the page's base. It keeps what is none. Pictures and addresses for
// previews are such.
func (h *Head) absolute(key string) {
	if h.Meta[key] == "" || h.Base == nil {
		return
	}
	u, err := page.Resolve(h.Base, h.Meta[key])
	if err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		h.Meta[key] = u.String()
	}
}

// link reads a link element: the canonical address, if it is on the same site, and the address of the page in markdown.
func (h *Head) link(n *html.Node, u *url.URL) {
	rel := " " + strings.ToLower(dom.Attr(n, "rel")) + " "
	href := dom.Attr(n, "href")
	if href == "" || u == nil || len(href) > 4<<10 {
		return
	}
	target, err := page.Resolve(u, strings.TrimSpace(href))
	if err != nil || target.Scheme != "http" && target.Scheme != "https" || target.Host == "" {
		return
	}
	if strings.Contains(rel, " canonical ") && h.Canonical == "" &&
		page.SameSite(u.Hostname(), target.Hostname()) {
		h.Canonical = target.String()
	}
	if strings.Contains(rel, " alternate ") && h.Twin == "" &&
		strings.HasPrefix(strings.ToLower(dom.Attr(n, "type")), "text/markdown") {
		h.Twin = target.String()
	}
}

// Put sets a key of the metadata unless it is set already or value is empty. So the best source of a value is asked
// first.
func Put(m map[string]string, key, value string) {
	if value = strings.TrimSpace(value); value != "" && m[key] == "" {
		m[key] = value
	}
}
