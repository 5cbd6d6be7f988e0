package convert

import (
	"context"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// pruneRules are the rules that are data, for [Version].
var pruneRules = []any{
	manualRoots, manualLabels, tocNames, badNames, elsewhereHeadings, forumKeeps, manualKeeps, tableMenus,
	weakNames, chromeRoles, generators, bookRelations, directions, turnRelations, controls, sourceLinks,
	documentationClasses, forumMarks, elsewhereBeginnings,
}

// choice is the content of a page by the rules: a root, and the elements dropped below it.
type choice struct {
	root    *html.Node
	name    string // which rule chose the root
	stage   stage
	dropped map[*html.Node]bool
}

// fewWords is the number of words under which a result is suspicious when the page has more.
const fewWords = 50

// byRules prunes a page and chooses its root. When too little is left, it tries again with gentler rules: the first
// stage that keeps a quarter of the body's text wins, and the last stage keeps everything. Agreement between two
// results is not a measure, because both may be wrong in the same way.
func byRules(ctx context.Context, body *html.Node, kind pageType) choice {
	bodyText := contentText(ctx, body)
	all := measureAll(ctx, body)
	var c choice
	for s := allRules; s <= wholeBody; s++ {
		c = choice{root: body, name: "body", stage: s, dropped: prune(ctx, body, all, s, kind)}
		left := newRemainder(ctx, body, all, c.dropped)
		if s < wholeBody {
			c.root, c.name = chooseRoot(body, left)
			if kind == documentation {
				c.root, c.name = manualRoot(c.root, c.name, left)
				c.root = withTitle(c.root, body, left)
			}
		}
		kept := left.of(c.root).text
		if s <= withoutNames && kind != documentation {
			linkPass(ctx, c.root, left, c.dropped, kind)
			kept = newRemainder(ctx, c.root, all, c.dropped).of(c.root).text
		}
		if kind == documentation && left.of(c.root).own()*5 >= all[body].own()*2 && left.of(c.root).own() >= 2*fewWords {
			break // what is dropped is links, however many
		}
		if kept*4 >= bodyText && (kept >= 6*fewWords || kept*2 >= bodyText) && kept > 0 {
			break
		}
	}
	return c
}

// contentText returns the amount of text in the body outside elements that are chrome by their tag.
func contentText(ctx context.Context, body *html.Node) int32 {
	chrome := map[*html.Node]bool{}
	for d := range body.Descendants() {
		if dom.Is(d, atom.Nav, atom.Header, atom.Footer, atom.Aside) {
			chrome[d] = true
		}
	}
	return measureOf(ctx, body, chrome).text
}

// mostAroundTitle is how many letters a box may have beside the title and the content for the title's sake.
const mostAroundTitle = 30

// withTitle returns the box around root that holds the title of the page, if root has none and the box has hardly any
// other text; otherwise it returns root.
func withTitle(root, body *html.Node, left *remainder) *html.Node {
	for box := root; ; box = box.Parent {
		h := dom.Find(box, func(d *html.Node) bool { return dom.Is(d, atom.H1) && left.of(d).text > 0 })
		switch {
		case h != nil && left.of(box).text-left.of(root).text <= left.of(h).text+mostAroundTitle:
			return box
		case h != nil, box == body:
			return root
		}
	}
}
