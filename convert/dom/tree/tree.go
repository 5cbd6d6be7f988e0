// Package tree builds the tree of a page. It is the parser of golang.org/x/net/html for a page that is in memory: what
// of it costs most is written anew here, the rest is a copy of its source in xnet.go, which a test makes and compares.
// [html.Parse] allocates five bytes for a byte of a page and one piece for each name, value, text and node; this parser
// allocates half of the bytes, in a quarter of the pieces, and gives the same tree.
package tree

import (
	"golang.org/x/net/html"
)

// Node is that of x/net, so that what reads the tree does not see who built it.
type Node = html.Node

// Attribute is that of x/net, too.
type Attribute = html.Attribute

// The kinds of nodes, under the names that the copied source uses.
const (
	ErrorNode    = html.ErrorNode
	TextNode     = html.TextNode
	DocumentNode = html.DocumentNode
	ElementNode  = html.ElementNode
	CommentNode  = html.CommentNode
	DoctypeNode  = html.DoctypeNode

	scopeMarkerNode html.NodeType = 1 << 10 // never in a tree
)

// Parse returns the tree of a page. It does not change text, and keeps nothing of it. It calls stop from time to time,
// and ends with the error that it returns. Other errors are those of [html.Parse].
func Parse(text []byte, stop func() error) (*Node, error) {
	p := &parser{
		tokenizer: &Tokenizer{buf: text, stop: stop, looked: -lookEvery},
		doc:       &Node{Type: DocumentNode}, scripting: true, framesetOK: true, im: initialIM,
	}
	if err := p.parse(); err != nil {
		return nil, err
	}
	return p.doc, nil
}

// parser is a parser as that of x/net. Its fields are explained there.
type parser struct {
	tokenizer             *Tokenizer
	tok                   Token
	hasSelfClosingToken   bool
	doc                   *Node
	oe, afe               nodeStack
	head, form            *Node
	scripting, framesetOK bool
	templateStack         insertionModeStack
	im, originalIM        insertionMode
	fosterParenting       bool
	quirks, fragment      bool
	context               *Node
	textNodes             map[*Node][]byte

	room []Node // for the next nodes
}

// node returns a new node.
func (p *parser) node() *Node {
	const many = 32 // nodes that are allocated together
	if len(p.room) == 0 {
		p.room = make([]Node, many)
	}
	n := &p.room[0]
	p.room = p.room[1:]
	return n
}

// addText adds text where the parser is: to the text before it, or as a node.
func (p *parser) addText(text string) {
	switch last := p.top().LastChild; {
	case text == "":
	case p.shouldFosterParent():
		p.fosterParent(&Node{Type: TextNode, Data: text})
	case last != nil && last.Type == TextNode:
		p.appendText(last, text)
	default:
		n := p.node()
		n.Type, n.Data = TextNode, text
		p.addChild(n)
	}
}

// addElement adds the element that the token opens.
func (p *parser) addElement() {
	n := p.node()
	n.Type, n.DataAtom, n.Data, n.Attr = ElementNode, p.tok.DataAtom, p.tok.Data, p.tok.Attr
	p.addChild(n)
}

// clone returns a node like n outside the tree.
func clone(n *Node) *Node {
	return &Node{Type: n.Type, DataAtom: n.DataAtom, Data: n.Data, Attr: append([]Attribute(nil), n.Attr...)}
}
