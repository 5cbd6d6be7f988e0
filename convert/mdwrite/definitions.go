package mdwrite

import (
	"bytes"
	"iter"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
)

// definitions writes a definition list, each term on a line of its own and what it means below it:
//
//	term
//	: What it means.
//
//	  More of it.
//
// Pandoc, goldmark and PHP Markdown Extra read that, and so does anybody who reads it as text. A definition that does
// not begin with words could not follow the colon where this form is unknown: then its term is a block of its own, and
// blocks follow it.
func (r *renderer) definitions(out *bytes.Buffer, n *html.Node) {
	var terms []*html.Node
	defined := false // the last thing written was a definition
	out.WriteString("\n\n")
	for c := range r.definitionParts(n) {
		guard.Check(r.ctx)
		switch {
		case c.Type == html.TextNode && chars.Blank(c.Data):
		case dom.Is(c, atom.Dt):
			if defined {
				out.WriteString("\n\n")
			}
			terms, defined = append(terms, r.copyOf(c)), false
		case r.isDefinition(c) && (len(terms) > 0 || defined):
			defined = r.definition(out, terms, c)
			terms = nil
		default:
			r.loneTerms(out, terms)
			terms, defined = nil, false
			r.block(out, dom.Around(c))
		}
	}
	r.loneTerms(out, terms)
	out.WriteString("\n\n")
}

// definitionParts yields the children of a definition list, and of the div elements that may group them. HTML allows a
// div around each group of terms and definitions.
func (r *renderer) definitionParts(n *html.Node) iter.Seq[*html.Node] {
	return func(yield func(*html.Node) bool) {
		for c := range r.kept(n) {
			if !dom.Is(c, atom.Div) || !r.groups(c) {
				if !yield(c) {
					return
				}
				continue
			}
			for d := range r.kept(c) {
				if !yield(d) {
					return
				}
			}
		}
	}
}

// groups reports whether n has a term or a definition among its children. Only such a div is one of a group.
func (r *renderer) groups(n *html.Node) bool {
	for c := range r.kept(n) {
		if dom.Is(c, atom.Dt, atom.Dd) {
			return true
		}
	}
	return false
}

// isDefinition reports whether c, in the list that is written, is a definition. One that is nested too deep is a plain
// block.
func (r *renderer) isDefinition(c *html.Node) bool {
	return dom.Is(c, atom.Dd) && (r.copied || r.nesting < guard.MaxNesting)
}

// definition writes terms, which are copies, and their definition. It reports whether another definition of the same
// terms may follow. It does not, where the definition had to be written as blocks.
func (r *renderer) definition(out *bytes.Buffer, terms []*html.Node, n *html.Node) bool {
	r.nesting++
	content := r.inner(n)
	r.nesting--
	if len(content) == 0 {
		r.loneTerms(out, terms)
		return false
	}
	var lines [][]byte
	for _, term := range terms {
		if dom.Contains(term, atom.H1, atom.H2, atom.H3, atom.H4, atom.H5, atom.H6, atom.Pre, atom.Table, atom.Ul, atom.Ol,
			atom.Blockquote) {
			lines = nil
			break
		}
		r.asCopy(func() {
			if line := r.oneLine(term); len(line) > 0 {
				lines = append(lines, line)
			}
		})
	}
	if len(terms) > 0 && len(lines) == 0 || !beginsWithWords(content) {
		r.loneTerms(out, terms)
		out.WriteString("\n\n")
		out.Write(content)
		out.WriteString("\n\n")
		return false
	}
	for i, line := range lines {
		if i > 0 {
			out.WriteByte('\n')
		}
		out.Write(line)
	}
	if len(terms) == 0 {
		out.WriteByte('\n')
	}
	out.WriteString("\n: ")
	r.indented(out, content, 2)
	return true
}

// beginsWithWords reports whether the first block of a definition is a paragraph or a list: neither a fence, a table, a
// quote, a heading, a formula, nor a list of definitions. content must not be empty.
func beginsWithWords(content []byte) bool {
	switch content[0] {
	case '`':
		return !bytes.HasPrefix(content, []byte("```"))
	case '|', '>', '#', ':', '$':
		return content[0] == '$' && !bytes.HasPrefix(content, []byte("$$"))
	}
	first, rest, _ := bytes.Cut(content, []byte{'\n'})
	return !bytes.HasPrefix(rest, []byte(": ")) && !bytes.Equal(first, []byte("---"))
}

// loneTerms writes terms, which are copies, as blocks of their own, in bold where nothing else sets them apart. That is
// how terms without a definition are written, and those whose definition cannot stand behind a colon.
func (r *renderer) loneTerms(out *bytes.Buffer, terms []*html.Node) {
	r.asCopy(func() {
		for _, term := range terms {
			if dom.Contains(term, atom.A, atom.Code, atom.Em, atom.I, atom.Strong, atom.B) {
				r.block(out, term)
				continue
			}
			r.boldBlock(out, term)
		}
	})
}
