package normalise

import (
	"cmp"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// maxFrames is how many frames of a page are listed. Pages with frames have a handful; a hostile one must not become a
// list without end.
const maxFrames = 50

// Frameset makes the body of a page that consists of frames: what it says to readers without frames, and links to its
// frames, which are pages of their own. root is the whole tree of a page whose parser made no body. Addresses stay as
// they are written, for [Body] to resolve. The result is never nil, and empty for a page that says nothing.
func Frameset(root *html.Node) *html.Node {
	body := dom.NewElement(atom.Body)
	if page := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Html) }); page != nil {
		page.AppendChild(body)
	}
	list := dom.NewElement(atom.Ul)
	frames := 0
	for _, n := range dom.FindAll(root, func(n *html.Node) bool { return dom.Is(n, atom.Noframes, atom.Frame) }) {
		switch {
		case dom.Is(n, atom.Noframes) && dom.Within(n, atom.Frameset):
			text := dom.Text(n)
			parsed, err := html.ParseFragment(strings.NewReader(text), dom.NewElement(atom.Body))
			if err != nil {
				parsed = []*html.Node{dom.NewText(text)}
			}
			for _, c := range parsed {
				body.AppendChild(c)
			}
		case dom.Is(n, atom.Frame) && frames < maxFrames:
			src := dom.Attr(n, "src")
			if src == "" || strings.HasPrefix(src, "about:") {
				continue
			}
			frames++
			name := cmp.Or(dom.Attr(n, "title"), dom.Attr(n, "name"), path.Base(src))
			link := dom.NewElement(atom.A, dom.NewText(name))
			dom.SetAttr(link, "href", src)
			list.AppendChild(dom.NewElement(atom.Li, link))
		}
	}
	if frames > 0 {
		body.AppendChild(list)
	}
	return body
}
