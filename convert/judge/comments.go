package judge

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/rules"
)

// articleWords is the number of words of prose outside comments, weighted by the chance that they are content, from
// which a page has an article. Below it the comments may be what the page is about.
const articleWords = 40

// dropComments drops the comments under an article, if the page has an article besides them. A comment by itself looks
// like content, and a short article may have ten times as much text in comments. It sets their chance to 0 before
// blocks are chosen. Only pages that are articles are asked: on a forum comments are the content.
func (t *outline) dropComments(chance []float32) {
	said := make([]bool, len(t.blocks))
	next := int32(1) // the first block not looked at; what stands first is no comment
	for i := range t.boxes {
		if x := &t.boxes[i]; x.begin >= next && commentBox(x.node) {
			for j := x.begin; j < x.end; j++ {
				said[j] = true
			}
			next = max(next, x.end)
		}
	}
	prose := float32(0)
	for i := range t.blocks {
		if b := &t.blocks[i]; !said[i] && b.long() {
			prose += chance[i] * float32(b.words)
		}
	}
	if prose < articleWords {
		return
	}
	for i := range said {
		if said[i] {
			chance[i] = 0
		}
	}
}

// commentNames are names of comment boxes that do not begin with "comment". WordPress and Disqus give them.
var commentNames = chars.Set("respond disqus_thread")

// commentBox reports whether a class or the id of n begins like the name of a comment box. Names that also say forum
// are for the posts of a thread. A name in the middle of another does not count: it may be the commentary on a match.
// The page itself and its main element are none, whatever their names say.
func commentBox(n *html.Node) bool {
	if dom.Is(n, atom.Html, atom.Body, atom.Main) {
		return false
	}
	found := false
	for name := range strings.FieldsSeq(strings.ToLower(dom.Attr(n, "class") + " " + dom.Attr(n, "id"))) {
		if commentNames[name] {
			return true
		}
		found = found || strings.HasPrefix(name, "comment")
	}
	if !found {
		return false
	}
	for word := range namesOf(n) {
		if rules.ForumMarks[word] {
			return false
		}
	}
	return true
}
