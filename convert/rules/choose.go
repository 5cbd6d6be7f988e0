package rules

import (
	"context"

	"golang.org/x/net/html"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	manualRoots, manualLabels, tocNames, badNames, elsewhereHeadings, forumKeeps, manualKeeps, tableMenus,
	weakNames, chromeRoles, generators, bookRelations, directions, turnRelations, controls, sourceLinks,
	documentationClasses, ForumMarks,
}

// Choice is the content of a page by the rules: a root, and the elements dropped below it. Package judge returns its
// own choices in the same form.
type Choice struct {
	Root    *html.Node
	Name    string              // which rule chose the root
	Stage   Stage               // the strictest at which enough was left
	Dropped map[*html.Node]bool // elements below the root that are not content
}

// FewWords is the number of words under which a result is suspicious when the page has more. Package judge and the
// choice of stages go by it.
const FewWords = 50

// Choose prunes a page and chooses its root. When too little is left, it tries again with gentler rules: the first
// stage that keeps a quarter of the body's text wins, and the last stage keeps everything. Agreement between two
// results is not a measure, because both may be wrong in the same way. body is normalised. It panics, by guard.Check,
// when ctx ends.
func Choose(ctx context.Context, body *html.Node, kind PageType) Choice {
	bodyText := contentText(ctx, body)
	all, forget := measureAll(ctx, body)
	defer forget()
	var c Choice
	for s := AllRules; s <= WholeBody; s++ {
		c = Choice{Root: body, Name: "body", Stage: s, Dropped: prune(ctx, body, all, s, kind)}
		left := newRemainder(ctx, body, all, c.Dropped)
		if s < WholeBody {
			c.Root, c.Name = chooseRoot(body, left)
			if kind == Documentation {
				c.Root, c.Name = manualRoot(c.Root, c.Name, left)
				c.Root = withTitle(c.Root, body, left)
			}
		}
		kept := left.of(c.Root).text
		if kind == Documentation && left.of(c.Root).own()*5 >= all[body].own()*2 && left.of(c.Root).own() >= 2*FewWords {
			break // what is dropped is links, however many
		}
		if kept*4 >= bodyText && (kept >= 6*FewWords || kept*2 >= bodyText) && kept > 0 {
			break
		}
	}
	return c
}
