package rules

import (
	"context"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// Stage is the set of rules by which a conversion prunes. Each stage is gentler than the one before; see choose.go.
// Choose takes the first at which enough is left.
type Stage int

// The stages, from the strictest.
const (
	AllRules   Stage = iota // names, chrome and roles
	ChromeOnly              // chrome and roles
	WholeBody               // nothing
)

// String returns the name of a stage, as it stands in the path of a conversion.
func (s Stage) String() string { return [...]string{"all", "chrome", "whole"}[s] }

// pruner decides which elements of a page are not content. It marks elements and does not change the tree, so that a
// gentler stage can start again. all has the measure of every element, total and own those of the body.
type pruner struct {
	ctx     context.Context
	all     map[*html.Node]measure
	total   int32 // text of the whole body
	own     int32 // of that, outside links
	stage   Stage
	kind    PageType
	dropped map[*html.Node]bool
}

// prune returns the elements of body that the rules of a stage drop. all are measures of the whole page. The topmost
// elements are returned; what is below them goes with them.
func prune(ctx context.Context, body *html.Node, all map[*html.Node]measure, s Stage,
	kind PageType,
) map[*html.Node]bool {
	p := &pruner{ctx, all, all[body].text, all[body].own(), s, kind, map[*html.Node]bool{}}
	if s < WholeBody {
		p.walk(body, false)
	}
	return p.dropped
}

// walk looks at the elements below n. inContent says that a main element or an article is around. Code is never looked
// into.
func (p *pruner) walk(n *html.Node, inContent bool) {
	guard.Check(p.ctx)
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		if c.Type != html.ElementNode {
			continue
		}
		if dom.Is(c, atom.Pre) {
			continue
		}
		if p.drop(c, inContent) {
			p.dropped[c] = true
			continue
		}
		p.walk(c, inContent || dom.Is(c, atom.Main, atom.Article) || dom.Attr(c, "role") == "main")
	}
}

// chromeRoles are the roles of what surrounds a page's content. They are of WAI-ARIA.
var chromeRoles = chars.Set("navigation banner contentinfo search dialog alertdialog menu menubar toolbar " +
	"complementary tablist")

// drop reports whether the rules of the stage drop n: by its element, its role, what it is in documentation, or its
// name, in this order. Elements with much code or text are kept whatever they are called.
func (p *pruner) drop(n *html.Node, inContent bool) bool {
	m := p.all[n]
	switch n.DataAtom {
	case atom.Nav, atom.Footer:
		if dom.Is(n, atom.Footer) && dom.Within(n, atom.Blockquote) {
			return false // who is quoted
		}
		return p.soft(n)
	case atom.H1:
		return p.kind == Documentation && siteTitle(n)
	case atom.H2, atom.H3, atom.H4, atom.H5, atom.H6: // a link above the contents of the manual
		return p.kind == Documentation && m.links == m.text && dom.Named(n, tocNames)
	case atom.A:
		if p.kind == Documentation && control(n) {
			return true
		}
	case atom.Form:
		return m.text*3 < p.total && !p.guarded(n)
	case atom.Header:
		if p.kind == Documentation {
			if dom.Is(n.Parent, atom.Section, atom.Article) && dom.Find(n, dom.IsHeading) != nil {
				return false
			}
			for _, nav := range dom.FindAll(n, func(d *html.Node) bool { return dom.Is(d, atom.Nav) }) {
				m.text -= p.all[nav].text
				m.links -= p.all[nav].links
			}
		}
		if dom.Contains(n, atom.H1) && (inContent || m.links*2 < m.text) {
			return false
		}
		return p.soft(n)
	case atom.Aside:
		if inContent && m.links*3 < m.text && !badName(n, p.kind) {
			return false
		}
		return p.soft(n)
	}
	if role := dom.Attr(n, "role"); role != "" && chromeRoles[role] {
		if role == "complementary" && inContent && m.links*3 < m.text {
			return false
		}
		return p.soft(n)
	}
	if p.kind == Documentation && (m.text*2 < p.total && turnsPages(n) || p.sideColumn(n)) {
		return true
	}
	if p.stage >= ChromeOnly {
		return false
	}
	switch n.DataAtom {
	case atom.Div, atom.Section, atom.Ul, atom.Ol, atom.P, atom.Span, atom.Table, atom.Li, atom.Td, atom.A, atom.Dl:
		return badName(n, p.kind) && p.soft(n) && !p.misnamed(n)
	}
	return false
}

// tableMenus are the names of badNames by which also a table with a head is no content.
var tableMenus = dom.Names(`nav navbar navigation nav-bar nav-header nav-footer menu breadcrumb footer sidebar`)

// misnamed reports whether n is content in spite of its name: a link in a heading and, in documentation, a table with a
// head, a section whose id consists of the words of its heading, or the list of a chapter's pages below its title.
// Generators of documentation make ids and classes of words of the text.
func (p *pruner) misnamed(n *html.Node) bool {
	if dom.Is(n, atom.A) {
		return dom.Within(n, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Dt)
	}
	if p.kind != Documentation {
		return false
	}
	if dom.Is(n, atom.Table) && dom.Contains(n, atom.Th) && !dom.Named(n, tableMenus) {
		return true
	}
	if id := dom.Attr(n, "id"); id != "" && dom.Is(n, atom.Section, atom.Div) {
		if h := dom.Find(n, dom.IsHeading); h != nil && opensBox(h, n) {
			if title := chars.Fold(dom.OneLine(h)); title != "" && strings.HasSuffix(chars.Fold(id), title) {
				return true
			}
		}
	}
	return (dom.Named(n, tocNames) || dom.Is(n, atom.Table) && dom.HasClass(n, "menu")) &&
		(belowTitle(n) || dom.Named(n.Parent, tocNames) && belowTitle(n.Parent)) && leadsAway(n)
}

// opensBox reports whether the heading h is the first thing with text in box, which pruning may drop. h lies in box.
func opensBox(h, box *html.Node) bool {
	for n := h; n != box; n = n.Parent {
		if !dom.OpensParent(n) {
			return false
		}
	}
	return true
}

// siteTitle reports whether a first-level heading only links to another page and the page has a heading of its own
// below. Themes of documentation set the name of the manual so.
func siteTitle(h *html.Node) bool {
	a := dom.Find(h, func(d *html.Node) bool { return dom.Is(d, atom.A) })
	if a == nil || strings.HasPrefix(dom.Attr(a, "href"), "#") || dom.Attr(a, "href") == "" ||
		len(dom.OneLine(a)) != len(dom.OneLine(h)) {
		return false
	}
	for n := after(h); n != nil; {
		if dom.Is(n, atom.H1) {
			return !dom.Contains(n, atom.A)
		}
		if n.FirstChild != nil {
			n = n.FirstChild
		} else {
			n = after(n)
		}
	}
	return false
}

// after returns the node after n and its descendants in document order, or nil. siteTitle goes on with it.
func after(n *html.Node) *html.Node {
	for n != nil && n.NextSibling == nil {
		n = n.Parent
	}
	if n == nil {
		return nil
	}
	return n.NextSibling
}

// tocNames are those of badNames that also name a chapter's list of its pages.
var tocNames = dom.Names(`toc table-of-contents`)

// belowTitle reports whether the title of a page, a heading, perhaps in a box, stands before n among its siblings. It
// looks at 20 siblings.
func belowTitle(n *html.Node) bool {
	steps := 0
	for s := n.PrevSibling; s != nil && steps < 20; s = s.PrevSibling {
		if steps++; dom.IsHeading(s) || s.Type == html.ElementNode && dom.Contains(s, atom.H1, atom.H2) {
			return true
		}
	}
	return false
}

// leadsAway reports whether most links below n, which pruning may drop, lead to other pages. Links without an address
// do not count.
func leadsAway(n *html.Node) bool {
	away, all := 0, 0
	for d := range n.Descendants() {
		if href := dom.Attr(d, "href"); dom.Is(d, atom.A) && href != "" {
			all++
			if href[0] != '#' {
				away++
			}
		}
	}
	return away*2 > all
}

// soft reports whether n, which looks like chrome, may go. It is asked of what is chrome by its element, role or name.
func (p *pruner) soft(n *html.Node) bool { return !p.guarded(n) }

// guarded reports whether n holds something that no rule may drop: code, or text in a box whose name may mean its
// place. A third of it must be code, or a twentieth of the page's text stand in it and be no links.
func (p *pruner) guarded(n *html.Node) bool {
	m := p.all[n]
	if m.code > 200 && m.code*3 > m.text {
		return true
	}
	return weakName(n) && m.links*2 < m.text && m.text*20 > p.total
}

// badNames are words, or pairs and triples of words, in class and id that say an element is not content. Hyphens and
// plurals do not matter.
var badNames = dom.Names(`nav navbar navigation navigation-bar nav-menu nav-bar nav-header nav-footer menu mega-menu
	sub-menu main-menu mobile-menu breadcrumb breadcrumbs footer foot sidebar side-bar side-nav side-col right-col
	left-col cookie cookie-banner cookie-consent cookie-notice cookie-bar gdpr consent popup modal overlay lightbox
	newsletter subscribe subscription sign-up opt-in social share sharing share-bar share-button sharedaddy addtoany
	related related-post recommend recommended recommendation recirc outbrain taboola trending most-read popular advert
	advertisement ad ads ad-slot ad-container sponsor sponsored promo promotion skip-link skip-to-content
	screen-reader-text sr-only visually-hidden pagination pager prev-next toc table-of-contents site-header masthead
	top-bar header-wrap off-canvas drawer search-form search-box widget widget-area tag-link tag-list post-tag post-nav
	author-box author-bio bio-box print-only no-print editsection mw-editsection jump-to-nav edit-this-page copy-button
	feedback rating-widget login mini-cart cart-drawer announcement announcement-bar wishlist country-selector
	language-switcher nav-links catlinks printfooter noprint site-footer page-footer`)

// forumKeeps are the names that are content on a forum and chrome elsewhere; they do not count on span and p.
var forumKeeps = dom.Names(`comment comment-list comments-area disqus respond reply replies`)

// manualKeeps are those of forumKeeps that are chrome in documentation. There, a comment is what the source says of the
// thing that is documented.
var manualKeeps = dom.Names(`comments comment-list comments-area disqus respond reply replies`)

// weakNames may mean layout. They count only for elements that are small or mostly links.
var weakNames = dom.Names(`left-col right-col foot promo popular overlay widget side-col drawer modal`)

// badName reports whether a class or the id of n says that it is no content on a page of this kind, and may be pruned.
func badName(n *html.Node, kind PageType) bool {
	if dom.Named(n, badNames) {
		return true
	}
	switch kind {
	case Forum:
		return false
	case Documentation:
		return !dom.Is(n, atom.Span, atom.P) && dom.Named(n, manualKeeps)
	}
	return !dom.Is(n, atom.Span, atom.P) && dom.Named(n, forumKeeps)
}

// weakName reports whether a class or the id of n may only mean its place on the page, so that pruning leaves n if it
// holds much of the text.
func weakName(n *html.Node) bool { return dom.Named(n, weakNames) }

// sideColumn reports whether n is a column of links before the column that has the text. A list of links below the
// title of the page is none. It has four links or more, and seven tenths of the page's own text stand in the column
// behind it.
func (p *pruner) sideColumn(n *html.Node) bool {
	m := p.all[n]
	if !dom.Is(n, atom.Div, atom.Ul, atom.Td) || m.links*4 < m.text*3 || dom.Contains(n, atom.H1, atom.Pre) ||
		belowTitle(n) {
		return false
	}
	links := 0
	for d := range n.Descendants() {
		if dom.Is(d, atom.A) {
			links++
		}
	}
	if links < 4 {
		return false
	}
	for s := n.NextSibling; s != nil; s = s.NextSibling {
		if own := p.all[s].own(); own*10 > p.own*7 && own > 2*FewWords {
			return true
		}
	}
	return false
}
