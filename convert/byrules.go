package convert

import (
	"context"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"readthru/convert/dom"
)

// choice is what the rules leave of a page: the root, and what is dropped below it.
type choice struct {
	root    *html.Node
	name    string // which rule chose the root
	stage   stage
	dropped map[*html.Node]bool
}

// fewWords is how few words make a result suspicious where the page has more.
const fewWords = 50

// byRules prunes a page and picks its root. When too little is left it tries again with gentler rules: the first stage
// that keeps a quarter of the body's text wins, and the last one keeps all. The measure is the share of text, never
// whether two results agree: both may be wrong alike.
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
			}
		}
		kept := left.of(c.root).text
		if s <= withoutNames && kind != documentation {
			linkPass(ctx, c.root, left, c.dropped, kind)
			kept = newRemainder(ctx, c.root, all, c.dropped).of(c.root).text
		}
		if kept*4 >= bodyText && (kept >= 6*fewWords || kept*2 >= bodyText) && kept > 0 {
			break
		}
	}
	return c
}

// contentText returns how much text the body holds outside what is chrome by its element alone.
func contentText(ctx context.Context, body *html.Node) int32 {
	chrome := map[*html.Node]bool{}
	for d := range body.Descendants() {
		if dom.Is(d, atom.Nav, atom.Header, atom.Footer, atom.Aside) {
			chrome[d] = true
		}
	}
	return measureOf(ctx, body, chrome).text
}
