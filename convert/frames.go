package convert

import (
	"bytes"
	"context"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/charset"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/convert/normalise"
	"github.com/readthru/readthru/page"
)

// Frames are the frames of a page that a reader sees. The documents of those of the page's own site can be put in their
// places. [FindFrames] finds them, the caller fetches their documents, [Frames.Put] takes each, and [Frames.HTML] gives
// the page with them. It must not be used by several goroutines at once.
type Frames struct {
	root  *html.Node
	nodes []*html.Node
	urls  []*url.URL
	// Others is the number of frames that show documents of other sites, which are left out.
	Others int
	// Hidden is the number of pieces of hidden text that Put took out of documents, as [WarnHidden] counts them.
	Hidden int
}

// Frames of at least this size, in CSS pixels, show something to read; counters and advertisements are smaller. The
// size is that of the attributes: style sheets are not asked.
const minFrameWidth, minFrameHeight = 100, 50

// minFrameWords is the number of words from which on a frame with scripts holds a text, and no shell of one.
const minFrameWords = 10

// FindFrames returns the frames of a page in HTML. It is nil if there are none. u is the page's address, by which
// frames of its own site are told from those of others. Videos and posts that become links are none of either.
func FindFrames(ctx context.Context, content []byte, contentType string, u *url.URL) *Frames {
	if !mayHaveFrames(content) {
		return nil
	}
	root := parsedFrame(ctx, content, contentType)
	if root == nil {
		return nil
	}
	f := &Frames{root: root}
	base := head.Read(root, u).Base
	for _, n := range dom.FindAll(root, shownFrame) {
		src := dom.Attr(n, "src")
		if src == "" || strings.HasPrefix(src, "about:") {
			src = dom.Attr(n, "data-src")
		}
		to, err := url.Parse(links.Absolute(base, src))
		if err != nil || src == "" || to.Hostname() == "" || to.Scheme != "http" && to.Scheme != "https" {
			continue
		}
		if embedded, _ := normalise.EmbeddedPage(to); embedded != "" {
			continue
		}
		if !page.SameSite(to.Hostname(), u.Hostname()) {
			f.Others++
			continue
		}
		f.nodes, f.urls = append(f.nodes, n), append(f.urls, to)
	}
	if len(f.nodes) == 0 && f.Others == 0 {
		return nil
	}
	return f
}

// mayHaveFrames is a look at a page that costs little. Most pages have no frames, and are not parsed for it.
func mayHaveFrames(content []byte) bool {
	return slices.ContainsFunc([]string{"<iframe", "<frame", "<IFRAME", "<FRAME"}, func(tag string) bool {
		return bytes.Contains(content, []byte(tag))
	})
}

// parsedFrame returns the parsed content; nil if it cannot be read. It serves the page as well as the documents in its
// frames.
func parsedFrame(ctx context.Context, content []byte, contentType string) *html.Node {
	text, _, err := charset.Decode(content, contentType, guard.MaxPage)
	if err != nil {
		return nil
	}
	root, _, err := dom.Parse(ctx, text)
	if err != nil {
		return nil
	}
	return root
}

// shownFrame reports whether n is a frame that is as large as one to read, by its attributes, and not hidden. Hidden is
// what attributes and styles of it or of anything around it say.
func shownFrame(n *html.Node) bool {
	if !dom.Is(n, atom.Iframe, atom.Frame) {
		return false
	}
	small := func(key string, least int) bool {
		size, err := strconv.Atoi(strings.TrimSuffix(dom.Attr(n, key), "px"))
		return err == nil && size < least
	}
	if small("width", minFrameWidth) || small("height", minFrameHeight) {
		return false
	}
	for e := n; e != nil; e = e.Parent {
		style := strings.ReplaceAll(strings.ToLower(dom.Attr(e, "style")), " ", "")
		if dom.HasAttr(e, "hidden") || dom.Is(e, atom.Template) || strings.Contains(style, "display:none") ||
			strings.Contains(style, "visibility:hidden") {
			return false
		}
	}
	return true
}

// URLs returns the addresses of the documents of the page's site, in the order of the page. Their indices are those of
// [Frames.Put].
func (f *Frames) URLs() []*url.URL { return f.urls }

// Put puts what a reader sees of the document of a frame, which was found at u, in the place of the frame. It reports
// false for a document that has no text, or none without its scripts. The document stands in a shadow root there: the
// rules of the page are not about it, as its own, which hide some of it, are not about the page. i is the frame's index
// in URLs. Addresses in the document become absolute, as its base is not that of the page.
func (f *Frames) Put(ctx context.Context, i int, content []byte, contentType string, u *url.URL) bool {
	root := parsedFrame(ctx, content, contentType)
	if root == nil {
		return false
	}
	scripts := dom.Contains(root, atom.Script)
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil {
		return false
	}
	base := head.Read(root, u).Base
	w := hidden.New(root)
	err := guard.Run(func() {
		normalise.UnwrapShadowRoots(body, w)
		normalise.LinkEmbeds(body, base)
		w.Clean(ctx, body)
	})
	if err != nil {
		return false
	}
	if words := chars.Words(dom.OneLine(body)); words == 0 || scripts && words < minFrameWords {
		return false
	}
	f.Hidden += w.Report().Hidden
	for _, n := range dom.FindAll(body, func(n *html.Node) bool { return dom.Is(n, atom.A, atom.Img) }) {
		for _, key := range []string{"href", "src"} {
			if to := links.Absolute(base, dom.Attr(n, key)); to != "" && to[0] != '#' {
				dom.SetAttr(n, key, to)
			}
		}
	}
	section, inside := dom.NewElement(atom.Section), dom.NewElement(atom.Template)
	dom.SetAttr(inside, "shadowrootmode", "open")
	dom.MoveChildren(body, inside)
	section.AppendChild(inside)
	dom.Replace(f.nodes[i], section)
	return true
}

// HTML returns the page with what was put in the places of its frames, in UTF-8. A page that consists of frames has a
// body then. It is then parsed like a page that was sent so.
func (f *Frames) HTML() ([]byte, error) {
	first := true
	for _, n := range dom.FindAll(f.root, func(n *html.Node) bool { return dom.Is(n, atom.Frameset) }) {
		for _, c := range dom.FindAll(n, func(n *html.Node) bool { return dom.Is(n, atom.Noframes) }) {
			dom.Remove(c) // it is for readers who do not get the frames
		}
		n.Attr = nil
		if dom.Rename(n, atom.Div); first {
			dom.Rename(n, atom.Main)
			body := dom.NewElement(atom.Body)
			n.Parent.InsertBefore(body, n)
			dom.Remove(n)
			body.AppendChild(n)
		}
		first = false
	}
	var b bytes.Buffer
	err := html.Render(&b, f.root)
	return b.Bytes(), err
}
