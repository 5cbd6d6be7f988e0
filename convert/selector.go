package convert

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
)

// simple is one compound selector: a tag, an id, classes and attributes that must all match.
type simple struct {
	tag     string // "" for any
	id      string
	classes []string
	attrs   [][2]string // name and value; a value of "\x00" asks for presence alone
}

// selector is a list of alternatives, each a chain of compounds from the outermost ancestor to the element.
type selector [][]simple

// parseSelector reads a small part of CSS selectors: tag, #id, .class, [attr], [attr=value], descendants by space, and lists
// by comma. Anything else is an error that names it.
func parseSelector(s string) (selector, error) {
	var list selector
	for alternative := range strings.SplitSeq(s, ",") {
		var chain []simple
		for part := range strings.FieldsSeq(alternative) {
			c, err := parseSimple(part)
			if err != nil {
				return nil, fmt.Errorf("parse selector %q: %w", s, err)
			}
			chain = append(chain, c)
		}
		if len(chain) == 0 {
			return nil, fmt.Errorf("parse selector %q: a part is empty", s)
		}
		list = append(list, chain)
	}
	return list, nil
}

func parseSimple(part string) (c simple, err error) {
	rest := part
	name := func() string {
		end := strings.IndexAny(rest, "#.[")
		if end < 0 {
			end = len(rest)
		}
		s := rest[:end]
		rest = rest[end:]
		return s
	}
	c.tag = strings.ToLower(name())
	if c.tag == "*" {
		c.tag = ""
	}
	if i := strings.IndexAny(c.tag, ">+~:*()]=\"'"); i >= 0 {
		return c, fmt.Errorf("%q is not supported", part)
	}
	for rest != "" {
		kind := rest[0]
		rest = rest[1:]
		if kind == '[' {
			inside, after, ok := strings.Cut(rest, "]")
			if !ok {
				return c, fmt.Errorf("%q has no closing bracket", part)
			}
			rest = after
			key, value, hasValue := strings.Cut(inside, "=")
			if !hasValue {
				value = "\x00"
			}
			if key == "" || strings.ContainsAny(key, "~|^$*") {
				return c, fmt.Errorf("%q is not supported", part)
			}
			c.attrs = append(c.attrs, [2]string{strings.ToLower(key), strings.Trim(value, `"'`)})
			continue
		}
		s := name()
		if s == "" || strings.ContainsAny(s, ">+~:*()]=\"'") {
			return c, fmt.Errorf("%q is not supported", part)
		}
		if kind == '#' {
			c.id = s
		} else {
			c.classes = append(c.classes, s)
		}
	}
	return c, nil
}

func (c simple) matches(n *html.Node) bool {
	if n.Type != html.ElementNode || c.tag != "" && n.Data != c.tag || c.id != "" && attr(n, "id") != c.id {
		return false
	}
	for _, class := range c.classes {
		if !hasClass(n, class) {
			return false
		}
	}
	for _, a := range c.attrs {
		if !hasAttr(n, a[0]) || a[1] != "\x00" && attr(n, a[0]) != a[1] {
			return false
		}
	}
	return true
}

func (s selector) matches(n *html.Node) bool {
	for _, chain := range s {
		last := len(chain) - 1
		if !chain[last].matches(n) {
			continue
		}
		for p := n.Parent; last > 0 && p != nil; p = p.Parent {
			if chain[last-1].matches(p) {
				last--
			}
		}
		if last == 0 {
			return true
		}
	}
	return false
}

// all returns the outermost matches below body, in document order.
func (s selector) all(body *html.Node) []*html.Node {
	var found []*html.Node
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		if s.matches(n) {
			found = append(found, n)
			return
		}
		for c := n.FirstChild; c != nil; c = c.NextSibling {
			walk(c)
		}
	}
	walk(body)
	return found
}
