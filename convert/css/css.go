// Package css reads the style sheets of a page as far as they can hide text from its reader.
//
// [Read] collects the rules of a page's style elements that set one of a few dozen properties. [Sheet.StylesOf] answers
// what holds for one element after the cascade (CSS Cascading Level 5): rules by importance, layer and specificity, the
// style attribute, animations that have ended, and the attributes that set colours before there was CSS; custom
// properties are put in. Style sheets that the page only links to are not at hand ([Sheet.Unknown]); those that it
// carries in data: addresses are. Rules of a shadow root hold for its own elements (shadow.go), those of @scope for
// what lies in it.
//
// Rules are read as browsers read them, because a page that is written for this reader could show one thing to people
// and another to it: what browsers refuse is refused, by the same syntax (syntax.go). Conditions are judged for four
// kinds of windows, and text that one of them shows has a reader (condition.go). What would cost too much is left out;
// then [Sheet.Cut] reports true.
package css

import (
	"encoding/base64"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// The limits of reading style sheets. Rules beyond them are not known, so that text is kept rather than lost.
const (
	maxRules  = 20000
	maxBlocks = 24      // blocks inside one another
	maxData   = 1 << 20 // bytes of a style sheet in an address
	maxShows  = 100     // rules kept by which elements with one name appear
	maxOuter  = 200     // selectors of a rule with others in it
)

// Sheet holds the rules of a page's own style elements that can hide text or show it again. [Read] makes it once for
// each page. It remembers what it was asked, so that it must not be used by several goroutines at once, and the tree
// may change between questions only as package hidden changes it: by taking elements out and by moving what fills a
// slot into its place.
type Sheet struct {
	matcher
	rules         map[string][]*rule // by what the subject must have: "#id", ".class", "tag", or "*"
	shows         map[string][]*rule // rules that show something, by every name of their subject
	count         int
	cut           bool // there are more rules than are read
	asked         bool // some rules ask for the size of a container
	containers    bool // some elements are containers
	Unknown       bool // not every rule about colours is known
	layers        layer
	layerCount    int
	frames        map[inTree]*frames
	animations    map[string]bool // names of those in frames
	properties    map[string]registered
	begun         bool       // a rule of the sheet was read, so that no @import may follow
	owner         *html.Node // the element round the style element that is read
	variables     map[*html.Node]*variables
	anchors       map[inTree]bool // names of boxes by which others are placed
	substitutions int
	best          candidates    // of the element whose styles are asked for
	declared      []declaration // of the rule that is read
	customised    []declaration // likewise, of custom properties
}

// rule is one selector with those of its declarations that matter here. A rule with a list of selectors becomes one for
// each of them, because each has its own specificity.
type rule struct {
	*selector
	set    []declaration // shared with the other selectors of a list
	custom []declaration // custom properties
	in     windows       // the windows in which it holds
	layer  *layer        // nil for none
	scope  *extent       // of @scope; nil for all
	tree   *html.Node    // the shadow root that its style element is in; nil for the document
	from   int           // see context
	style  string        // a style query about the element round it
	near   uint64        // of @scope, how near its root is to the element that was compared last; 0 without one
	order  int
	costs  int      // comparisons that it took
	outer  []uint32 // hashes of names that elements around the subject must have

	container bool // it asks for the size of a container
	plain     bool // it holds for all that is found under its key
}

// inTree is a name that means something in one tree: the document, or a shadow root. Names of animations and of anchors
// are such: those of a shadow root do not reach out of it.
type inTree struct {
	tree *html.Node // nil for the document
	name string
}

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	namedColours, properties, aliases, inheritedProperties, displays, keywords, lengths, lengthWords, units, atRest,
	simple, otherProperties, colourFunctions, mathFunctions,
}

// Cut reports whether rules were left out because the page has too many, or because they took too many comparisons. The
// page's conversion then carries a warning, and text that those rules would hide is shown.
func (s *Sheet) Cut() bool { return s.cut || s.steps < 0 }

// Read reads the style sheets below root, which is the document as it was parsed: shadow roots must still be templates.
// It takes style elements and linked sheets in data: addresses in document order, and remembers for each element of a
// shadow root which root it is in. Style attributes with names of anchors and with containers are read at last, since
// rules about these depend on elements elsewhere in the page.
func Read(root *html.Node) *Sheet {
	s := &Sheet{rules: map[string][]*rule{}, shows: map[string][]*rule{}}
	s.steps, s.quirks = maxSteps, true
	// The first titled sheet names the set that holds; sheets with another title are alternatives that a reader would have
	// to choose (CSSOM, preferred CSS style sheet set).
	preferred := ""         // the title of the sheets that hold, where some are alternatives
	var styled []*html.Node // elements whose own style may be about others
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		s.owner = n
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			if c.Type == html.ElementNode {
				if s.tree != nil {
					s.trees[c] = s.tree
				}
				if style := dom.Attr(c, "style"); strings.Contains(style, "anchor-name") || strings.Contains(style, "container") {
					styled = append(styled, c)
				}
			}
			switch {
			case c.Type == html.DoctypeNode:
				s.quirks = quirky(c)
			case c.Type != html.ElementNode:
			case c.Data == "style":
				if title := dom.Attr(c, "title"); s.applies(c) && (title == "" || preferred == "" || title == preferred) {
					if title != "" {
						preferred = title
					}
					s.sheet(dom.Text(c), media(dom.Attr(c, "media")))
				}
			case dom.Is(c, atom.Link):
				s.link(c)
			case dom.ShadowRoot(c):
				outer := s.tree
				s.enter(c)
				walk(c)
				s.tree, s.owner = outer, n
			case dom.Is(c, atom.Template): // it is no part of the page
			default:
				walk(c)
				s.owner = n
			}
		}
	}
	walk(root)
	s.layers.number(0)
	for _, n := range styled {
		style := dom.Attr(n, "style")
		eachDeclaration(style, func(d declaration) { s.anchorNames(&d, s.trees[n]) })
		s.containers = s.containers || s.asked && strings.Contains(style, "container")
	}
	return s
}

// quirky reports whether a document type makes browsers compare classes and ids without case. It follows the HTML
// standard's initial insertion mode as far as these names go. Without a document type, s.quirks stays true.
func quirky(doctype *html.Node) bool {
	if !strings.EqualFold(doctype.Data, "html") {
		return true
	}
	public, system := "", false
	for _, a := range doctype.Attr {
		if a.Key == "public" {
			public = strings.ToLower(a.Val)
		}
		system = system || a.Key == "system"
	}
	for _, old := range []string{
		"-//w3c//dtd html 3", "-//ietf//", "-//netscape", "-//w3c//dtd html 4.0 transitional",
		"html",
	} {
		if strings.HasPrefix(public, old) && (old != "html" || public == old) {
			return true
		}
	}
	return !system && strings.HasPrefix(public, "-//w3c//dtd html 4.01 ") &&
		(strings.Contains(public, "transitional") || strings.Contains(public, "frameset"))
}

// applies reports whether a style element holds CSS. An unknown type is no style sheet to browsers either.
func (s *Sheet) applies(n *html.Node) bool {
	kind := dom.Attr(n, "type")
	return kind == "" || strings.EqualFold(kind, "text/css")
}

// link reads the style sheet of a link element if its address is a data: one that holds it. A sheet that is elsewhere
// is not fetched, for this package does no I/O: Unknown then says that colours are not to be relied on.
func (s *Sheet) link(n *html.Node) {
	rel := strings.ToLower(dom.Attr(n, "rel"))
	if !strings.Contains(rel, "stylesheet") {
		return
	}
	if css, ok := dataSheet(dom.Attr(n, "href")); !ok {
		s.Unknown = true
	} else if !strings.Contains(rel, "alternate") && !dom.HasAttr(n, "disabled") {
		s.sheet(css, media(dom.Attr(n, "media")))
	}
}

// dataSheet returns the style sheet that a data: address holds. ok is false for every other address, and for one that
// is too long or damaged: such a sheet is unknown. A data: address of another type is an empty sheet, because browsers
// do not apply it.
func dataSheet(address string) (css string, ok bool) {
	address = strings.TrimSpace(address)
	if len(address) > maxData || len(address) < 5 || !strings.EqualFold(address[:5], "data:") {
		return "", false
	}
	kind, data, found := strings.Cut(address[5:], ",")
	if kind = strings.ToLower(kind); !found || !strings.HasPrefix(kind, "text/css") {
		return "", true // browsers take it for no sheet
	}
	if text, err := url.PathUnescape(data); err == nil {
		data = text
	}
	if strings.HasSuffix(strings.TrimSpace(kind), "base64") {
		text, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(strings.Map(func(r rune) rune {
			if r <= ' ' {
				return -1
			}
			return r
		}, data), "="))
		return string(text), err == nil
	}
	return data, true
}

// context is what stands around a rule in its style sheet and holds for it, too: the conditions of at-rules, the
// selectors of outer rules, the layer, the scope. It is handed down by value, so that a block's changes end with the
// block.
type context struct {
	in      windows
	parents []*selector // of a nested rule
	layer   *layer
	scope   *extent
	style   string
	depth   int

	container bool
}

// sheet reads a whole style sheet. in are the windows that its media attribute asks for; a sheet for none of them is
// not read at all.
func (s *Sheet) sheet(css string, in windows) {
	if in == 0 {
		return
	}
	s.begun = false
	s.block(css, 0, context{in: in})
}

// block reads what stands in a block or a sheet, from i on, and returns what follows its closing brace. Declarations
// between nested rules are gathered and become a rule of their own when the next rule begins, so that order within the
// block is kept (CSS Nesting Level 1). What cannot be read is left out up to the next place where browsers begin again.
func (s *Sheet) block(css string, i int, c context) int {
	var set, custom []declaration
	nested := c.parents != nil
	flush := func() {
		if len(set)+len(custom) > 0 {
			s.add(c.parents, set, custom, c)
			set, custom = nil, nil
		}
	}
	defer flush()
	for {
		i = blank(css, i)
		switch {
		case i >= len(css):
			return i
		case css[i] == '}' && c.depth > 0:
			return i + 1
		case css[i] == ';' && nested:
			i++
			continue
		case s.count >= maxRules:
			s.cut = true
			return until(css, i, "}") + 1
		case strings.HasPrefix(css[i:], "<!--"):
			i += 4
			continue
		case strings.HasPrefix(css[i:], "-->"):
			i += 3
			continue
		case css[i] == '@':
			flush()
			i = s.at(css, i, c)
			continue
		}
		stops := "{"
		if c.depth > 0 {
			stops = "{}"
		}
		if nested {
			stops = "{;}"
		}
		end := until(css, i, stops)
		if nested && end < len(css) && css[end] == '{' && strings.HasPrefix(css[i:], "--") {
			end = until(css, i, ";}") // a custom property whose value has braces
		}
		if end >= len(css) || css[end] != '{' {
			if nested {
				readDeclaration(css[i:min(end, len(css))], func(d declaration) {
					if strings.HasPrefix(d.name, "--") {
						custom = append(custom, d)
					} else {
						set = append(set, d)
					}
				})
			}
			i = min(end, len(css))
			continue
		}
		flush()
		i = s.rule(css, i, end, c)
	}
}

// rule reads the rule whose selectors stand from i to open. It returns the offset behind the rule's block. A rule whose
// selectors browsers refuse is passed over with all that nests in it.
func (s *Sheet) rule(css string, i, open int, c context) int {
	s.begun = true
	if c.depth >= maxBlocks {
		s.cut = true
		return until(css, open+1, "}") + 1
	}
	prelude := css[i:open]
	p := parser{quirks: s.quirks}
	if strings.Contains(prelude, "/*") {
		prelude = replaceComments(prelude, "") // it separates no compounds
	}
	inner := c
	inner.depth++
	if end := until(css, open+1, "{}"); c.parents == nil && (end >= len(css) || css[end] == '}') {
		// Most rules set nothing that matters: their selectors are not read.
		set, custom := s.declared[:0], s.customised[:0]
		eachDeclaration(css[open+1:min(end, len(css))], func(d declaration) {
			if strings.HasPrefix(d.name, "--") {
				custom = append(custom, d)
			} else {
				set = append(set, d)
			}
		})
		if len(set)+len(custom) > 0 {
			if all := p.selectors(prelude, nil, false); all != nil {
				s.add(all, slices.Clone(set), slices.Clone(custom), c)
			} else {
				s.refused(set)
			}
		}
		s.declared, s.customised = set, custom // their room is used again
		return end + 1
	}
	inner.parents = p.selectors(prelude, c.parents, false)
	if len(inner.parents) > maxOuter {
		s.cut, inner.parents = true, nil
	}
	if inner.parents == nil {
		return until(css, open+1, "}") + 1
	}
	return s.block(css, open+1, inner)
}

// refused notes in Unknown that a rule about colours has selectors that are not understood: package hidden then does
// not judge text by its colour, since that rule may give it another.
func (s *Sheet) refused(set []declaration) {
	for i := range set {
		if set[i].name == "color" || set[i].name == "background-color" || set[i].name == "background-image" {
			s.Unknown = true
		}
	}
}

// add takes a rule for each of its selectors. Their declarations are shared and must not be changed. order counts all
// rules of the page, and so ranks those of equal weight.
func (s *Sheet) add(all []*selector, set, custom []declaration, c context) {
	for i := range set {
		s.anchorNames(&set[i], s.tree)
		s.containers = s.containers || set[i].name == "container-type" && set[i].value != "normal" && set[i].value != ""
	}
	for _, one := range all {
		if s.count >= maxRules {
			s.cut = true
			return
		}
		s.count++
		s.index(&rule{
			selector: one, set: set, custom: custom, in: c.in, layer: c.layer, scope: c.scope, style: c.style, order: s.count,
			container: c.container, tree: s.tree, from: one.chain[0].from(),
		})
	}
}

// index enters a rule under the names by which about finds it, and, if it shows something, under those by which
// [Sheet.Toggled] does. A rule of a single name is plain: whoever is found under that name matches it, so that nothing
// need be compared.
func (s *Sheet) index(r *rule) {
	subject := &r.chain[0]
	r.outer = r.outerNames()
	r.plain = len(r.chain) == 1 && !subject.never && len(subject.attrs)+len(subject.pseudos) == 0 && r.scope == nil &&
		r.style == "" && subject.parts() == 1 && r.from == fromSame
	if !subject.never {
		for _, key := range s.keys(subject, 0) {
			s.rules[key] = append(s.rules[key], r)
		}
	}
	if r.showing() {
		for _, name := range subject.names() {
			if len(s.shows[name]) < maxShows {
				s.shows[name] = append(s.shows[name], r)
			}
		}
	}
}

// maxKeys is under how many names a rule is found. A rule whose list in :is() has more is found under "*" and compared
// with every element.
const maxKeys = 16

// keys returns under which names a subject is found: one that each of its elements must have, or those of the selectors
// of which one must hold. Rules that reach into or out of a shadow root are found under "*", since the element that
// they are about is not the one that they name.
func (s *Sheet) keys(c *compound, depth int) []string {
	switch {
	case c.from() != fromSame:
		return []string{"*"}
	case c.id != "":
		return []string{"#" + c.id}
	case len(c.classes) > 0:
		return []string{"." + c.classes[0]}
	case c.tag != "":
		return []string{c.tag}
	}
	for i := range c.pseudos {
		switch p := &c.pseudos[i]; {
		case p.name == "root":
			return []string{"html"}
		case (p.name == "is" || p.name == "where") && depth < 4:
			var keys []string
			seen := map[string]bool{}
			for _, one := range p.list {
				if len(keys) > maxKeys {
					return []string{"*"}
				}
				for _, key := range s.keys(&one.chain[0], depth+1) {
					if !seen[key] {
						keys, seen[key] = append(keys, key), true
					}
				}
			}
			if seen["*"] {
				return []string{"*"}
			}
			return keys
		}
	}
	return []string{"*"}
}
