package convert

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// RecipeUse is what a recipe did for a page. It is told to whoever asked for the page, so that a recipe that has become
// wrong is noticed.
type RecipeUse struct {
	Name    string
	Items   int      // that were written
	Missing []string // fields that no item has
	Missed  bool     // its selectors match nothing
	Next    *url.URL // the next page of the same content, on any site; nil for none
}

// String says in a few words what a recipe did. It stands in answers of the API and of commands.
func (u *RecipeUse) String() string {
	switch {
	case u.Missed:
		return "recipe " + u.Name + ": its selectors match nothing"
	case u.Items == 0:
		return "recipe " + u.Name
	}
	text := fmt.Sprintf("recipe %s: %d items", u.Name, u.Items)
	if u.Items == 1 {
		text = "recipe " + u.Name + ": 1 item"
	}
	if len(u.Missing) > 0 {
		text += ", none with " + strings.Join(u.Missing, ", ")
	}
	return text
}

// recipeServing is what a recipe chose of a page, in the elements of the page. They are found before elements are
// rewritten, since selectors are written for the page as it is sent, and used afterwards, so that text that no reader
// sees is gone.
type recipeServing struct {
	*Recipe
	content  []*html.Node
	items    []*helping
	of       map[*html.Node]*helping
	dropped  map[*html.Node]bool
	title    []found
	author   []found
	date     []found
	next     string
	overflow bool // the recipe costs too much on this page
}

// helping is an item that a recipe chose of a page, with the elements of its fields. depth is the number of items
// around it.
type helping struct {
	node   *html.Node
	fields [][]found // as in Recipe.fields
	depth  int
}

// found is an element that a value selector matched, with the value of the attribute if one is asked for. Its value is
// read when the item is written.
type found struct {
	node *html.Node
	attr string
	text bool // the text of the node is the value
}

// serve finds what the first recipe that is for the page chooses of it; nil if none is. Recipes are in the caller's
// order. A recipe whose selectors cost too much is noted in overflow, and chooses nothing.
func serve(ctx context.Context, root *html.Node, recipes []*Recipe) *recipeServing {
	for _, r := range recipes {
		f := css.NewFinder(recipeSteps)
		if r.given["has"] && dom.Find(root, func(n *html.Node) bool {
			guard.Check(ctx)
			return f.Matches(r.has, n)
		}) == nil {
			continue
		}
		s := &recipeServing{Recipe: r, of: map[*html.Node]*helping{}, dropped: map[*html.Node]bool{}}
		s.walk(ctx, f, root, nil, false)
		s.overflow = f.Spent() || len(s.items) > maxRecipeItems
		return s
	}
	return nil
}

// walk matches the recipe's selectors with the elements below n. in is the innermost item around n, nil outside of
// items; inContent says that an element of the content is around. What the recipe drops is not looked into.
func (s *recipeServing) walk(ctx context.Context, f *css.Finder, n *html.Node, in *helping, inContent bool) {
	for c := n.FirstChild; c != nil; c = c.NextSibling {
		guard.Check(ctx)
		if c.Type != html.ElementNode {
			continue
		}
		if f.Spent() {
			return
		}
		if s.given["drop"] && f.Matches(s.drop, c) {
			s.dropped[c] = true
			continue
		}
		s.value(f, &s.title, s.Recipe.title, "title", c)
		s.value(f, &s.author, s.Recipe.author, "author", c)
		s.value(f, &s.date, s.Recipe.date, "date", c)
		if s.next == "" && s.given["next"] && f.Matches(s.Recipe.next, c) {
			s.next = dom.Attr(c, "href")
		}
		within := inContent
		if s.given["content"] && !inContent && f.Matches(s.Recipe.content, c) {
			s.content, within = append(s.content, c), true
		}
		inner := in
		if s.given["item"] && (within || !s.given["content"]) && f.Matches(s.item, c) {
			inner = &helping{node: c, fields: make([][]found, len(s.fields))}
			if in != nil {
				inner.depth = in.depth + 1
			}
			for i := range s.fields {
				if v := s.fields[i].value; v.own && dom.HasAttr(c, v.attr) {
					inner.fields[i] = append(inner.fields[i], found{node: c, attr: dom.Attr(c, v.attr)})
				}
			}
			s.items, s.of[c] = append(s.items, inner), inner
		} else if in != nil {
			for i := range s.fields {
				if v := s.fields[i].value; !v.own && f.Matches(v.Selectors, c) {
					in.fields[i] = append(in.fields[i], v.found(c))
				}
			}
		}
		s.walk(ctx, f, c, inner, within)
	}
}

// value notes c among the values of a part of the page, its title, author or date, if the recipe's selector for that
// part matches. It keeps as many as a recipe may have fields.
func (s *recipeServing) value(f *css.Finder, list *[]found, v valueSelector, part string, c *html.Node) {
	if s.given[part] && len(*list) < maxRecipeFields && f.Matches(v.Selectors, c) {
		*list = append(*list, v.found(c))
	}
}

// describe puts what the recipe says of the page into its metadata. A value that was removed as hidden says nothing.
func (s *recipeServing) describe(h *head.Head, root *html.Node) {
	if title := s.first(s.title, root); title != "" {
		h.Title = title
	}
	if author := s.first(s.author, root); author != "" {
		h.Meta["author"] = author
	}
	if d := s.first(s.date, root); d != "" {
		h.Meta["date"] = cmp.Or(dayIn(d), d)
	}
}

// dayIn returns, as a recipe serves it, the date in a text in RFC 3339 or as a day; "" without one. It reads dates that
// are written for machines, and those in words.
func dayIn(text string) string { return cmp.Or(head.Date(text), head.WordedDate(text)) }

// first returns the first value of a part of the page that is not empty.
func (s *recipeServing) first(list []found, root *html.Node) string {
	for _, f := range list {
		if v := s.text(f, root); v != "" {
			return v
		}
	}
	return ""
}

// text returns a value on one line. What was removed as hidden has none. Values end at maxFieldText characters.
func (s *recipeServing) text(f found, root *html.Node) string {
	if !dom.Attached(f.node, root) {
		return ""
	}
	text := f.attr
	if f.text {
		text = s.textBelow(f.node)
	}
	text, _ = chars.Visible(text)
	return clip.Ellipsis(chars.OneLine(text), maxFieldText)
}

// textBelow returns the text below n without what the recipe drops. Blocks in it are parted by spaces.
func (s *recipeServing) textBelow(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && b.Len() < 8*maxFieldText; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Type == html.ElementNode && !s.dropped[c]:
				if dom.IsBlock(c) || dom.Is(c, atom.Br) {
					b.WriteByte(' ')
				}
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}

// chooses reports whether the recipe itself says what the content is. One that only drops or describes leaves the
// choice to the rules and the model.
func (s *recipeServing) chooses() bool { return s.given["content"] || s.given["item"] }

// roots returns the elements to render in the place of what the rules would choose, and what the recipe did. It returns
// no elements if the recipe matches nothing. Elements are copies: the page's own tree stays for other conversions.
func (s *recipeServing) roots(d *Document) ([]*html.Node, *RecipeUse) {
	use := &RecipeUse{Name: s.name}
	if s.overflow {
		use.Missed = true
		return nil, use
	}
	var roots []*html.Node
	if s.given["item"] {
		roots = s.list(d, use)
	} else {
		for _, n := range s.content {
			if dom.Attached(n, d.body) && (dom.HasText(n) || dom.Contains(n, atom.Img)) {
				roots = append(roots, s.copied(n))
			}
		}
		roots = housed(roots)
	}
	use.Missed = len(roots) == 0
	return roots, use
}

// copied returns a copy of n without what the recipe drops and without items in it. Items that lie in another are
// written on their own.
func (s *recipeServing) copied(n *html.Node) *html.Node {
	c := &html.Node{
		Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Namespace: n.Namespace,
		Attr: slices.Clone(n.Attr),
	}
	for child := n.FirstChild; child != nil; child = child.NextSibling {
		if !s.dropped[child] && s.of[child] == nil {
			c.AppendChild(s.copied(child))
		}
	}
	return c
}

// list returns the title of the page and the items that the recipe chose, as elements to render: as sections if they
// have a body, as nested comments if one lies in another or says how deep it is, else as a list. It notes in use how
// many there are, and which fields none of them has.
func (s *recipeServing) list(d *Document, use *RecipeUse) []*html.Node {
	has := make([]bool, len(s.fields))
	nested, sections := false, len(s.fields) == 0
	for i := range s.fields {
		sections = sections || s.fields[i].name == fieldBody
	}
	var written []*html.Node
	for _, h := range s.items {
		if !dom.Attached(h.node, d.body) {
			continue
		}
		box, depth, titled := dom.NewElement(atom.Div), h.depth, false
		if len(s.fields) == 0 {
			inner := s.copied(h.node)
			if dom.Is(inner, atom.Li, atom.Tr, atom.Td, atom.Dd, atom.Dt, atom.Tbody) {
				dom.Rename(inner, atom.Div)
			}
			box.AppendChild(inner)
		} else {
			depth, titled = s.write(box, h, d, has, sections)
		}
		if !dom.HasText(box) && !dom.Contains(box, atom.Img) {
			continue
		}
		nested = nested || depth > 0
		if !titled || !sections { // else it is what the comments are about
			dom.SetAttr(box, dom.DepthAttr, strconv.Itoa(depth))
		}
		written = append(written, box)
	}
	if use.Items = len(written); use.Items == 0 {
		return nil
	}
	for i := range s.fields {
		if !has[i] {
			use.Missing = append(use.Missing, s.fields[i].name)
		}
	}
	all := dom.NewElement(atom.Div)
	if d.head.Title != "" {
		all.AppendChild(dom.NewElement(atom.H1, dom.NewText(d.head.Title)))
	}
	if nested { // comments that answer one another
		for _, box := range written {
			all.AppendChild(box)
		}
		return []*html.Node{all}
	}
	in := all
	if !sections {
		in = dom.NewElement(atom.Ul)
		all.AppendChild(in)
	}
	for _, box := range written {
		dom.DropAttr(box, dom.DepthAttr)
		if !sections {
			dom.Rename(box, atom.Li)
		}
		in.AppendChild(box)
	}
	return []*html.Node{all}
}

// write writes the fields of an item into box: its title, a line of short fields, and its body. It returns how deep the
// item is in its thread and whether it has a title, and notes in has which fields it has. sections says that items are
// sections, whose title is a heading. A line joins its fields by " · ".
func (s *recipeServing) write(box *html.Node, h *helping, d *Document, has []bool, sections bool) (
	depth int, titled bool,
) {
	depth = h.depth
	line := dom.NewElement(atom.P)
	var bodies []*html.Node
	add := func(n *html.Node) {
		if line.FirstChild != nil {
			line.AppendChild(dom.NewText(" · "))
		}
		line.AppendChild(n)
	}
	for i := range s.fields {
		f := &s.fields[i]
		if f.name == fieldBody {
			last := (*html.Node)(nil)
			for _, one := range h.fields[i] {
				if dom.Attached(one.node, d.body) && (last == nil || !dom.Attached(one.node, last)) {
					last, has[i] = one.node, true
					bodies = append(bodies, one.node)
				}
			}
			continue
		}
		values := s.values(h.fields[i], d.body)
		if len(values) == 0 {
			continue
		}
		has[i] = true
		switch f.name {
		case fieldDepth:
			if n, ok := chars.Number(values[0]); ok {
				depth = int(min(max(n, 0), guard.MaxNesting))
			}
		case fieldTitle:
			titled = true
			title := linked(values[0], h.fields[i], d)
			if sections {
				box.AppendChild(dom.NewElement(atom.H2, title))
			} else {
				add(dom.NewElement(atom.Strong, title))
			}
		case fieldAuthor:
			add(dom.NewElement(atom.Strong, dom.NewText(values[0])))
		case fieldDate, fieldPrice:
			add(dom.NewText(values[0]))
		default:
			value := strings.Join(values, ", ")
			if !strings.ContainsFunc(value, unicode.IsLetter) {
				value = f.name + ": " + value
			}
			add(dom.NewText(value))
		}
	}
	if line.FirstChild != nil && !sections {
		dom.MoveChildren(line, box)
	} else if line.FirstChild != nil {
		box.AppendChild(line)
	}
	for _, n := range bodies {
		body := s.copied(n)
		if !dom.IsBlock(body) || dom.Is(body, atom.Li, atom.Tr, atom.Td, atom.Dd, atom.Dt, atom.Blockquote) {
			dom.Rename(body, atom.Div) // it is a box to whoever names it
		}
		box.AppendChild(body)
	}
	return depth, titled
}

// values returns the different values of a field, at most as many as a recipe has fields. root is the page's body:
// values that are not in it any more were hidden.
func (s *recipeServing) values(list []found, root *html.Node) (values []string) {
	for _, f := range list {
		if len(values) == maxRecipeFields {
			break
		}
		if v := s.text(f, root); v != "" && !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	return values
}

// linked returns a title that a recipe chose, in the link that one of its elements is, holds or lies in. It is plain
// text if there is no link.
func linked(title string, list []found, d *Document) *html.Node {
	text := dom.NewText(title)
	for _, f := range list {
		a := f.node
		for up := 0; a != nil && !dom.Is(a, atom.A) && up < 3; up++ {
			a = a.Parent
		}
		if !dom.Is(a, atom.A) {
			a = dom.Find(f.node, func(n *html.Node) bool { return dom.Is(n, atom.A) && dom.Attr(n, "href") != "" })
		}
		if a != nil && dom.Attached(a, d.body) && dom.Attr(a, "href") != "" {
			link := dom.NewElement(atom.A, text)
			dom.SetAttr(link, "href", dom.Attr(a, "href"))
			return link
		}
	}
	return text
}

// nextPage returns the address of the next page of the same content, if there is one. Which sites may be followed is
// for the caller to decide.
func (s *recipeServing) nextPage(base *url.URL) *url.URL {
	if s.next == "" || base == nil {
		return nil
	}
	next, err := page.Resolve(base, strings.TrimSpace(s.next))
	if err != nil || next.Scheme != "http" && next.Scheme != "https" || next.Host == "" {
		return nil
	}
	return next
}
