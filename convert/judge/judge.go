package judge

import (
	"context"
	"math"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/head"
	"github.com/readthru/readthru/convert/rules"
	"github.com/readthru/readthru/convert/signs"
)

// Rules are the tables of this package, which count in the version of the rules.
var Rules = []any{
	labels, commentNames, extras, postNames, packedModel,
}

// Nothing is the name of the choice to keep nothing of a page. It comes with the warning thin. Package convert looks
// for it in [rules.Choice].
const Nothing = "nothing"

// noContentCut is the best cut below which a page of few words has no content. Such a page consists of footers and
// notices around the place that scripts would fill. An empty answer makes the caller use a browser. It is a chance, as
// [outline.bestCut] returns it.
const noContentCut = .275

// menusCut is the same for a page that is menus alone: mostly links, without a sentence and a heading of level one.
const menusCut = .35

// maxJudged is the number of blocks of a page that are judged, because judging takes time. No page that is made for
// readers has as many. A page with more is left to the rules.
const maxJudged = 30_000

// Page is a normalised page, with what is known of it. Kind is the type that package rules has found, Head what package
// head has read. Body is not changed.
type Page struct {
	Body  *html.Node
	Kind  rules.PageType
	Head  *head.Head
	Words int // that a reader sees
}

// Choose judges which part of the page is its content. On documentation the rules alone decide, because they lose
// nothing there. Elsewhere a model judges every block of text; the decision of the rules is one of its features. The
// steps are: divide the page into blocks, judge each, choose those above the best cut, then mend the choice by what is
// known of lists, titles, forums, products and articles. Where the result has next to nothing of what the rules would
// keep, the rules decide. It panics, by guard.Check, when ctx ends.
func Choose(ctx context.Context, p Page) rules.Choice {
	prior := rules.Choose(ctx, p.Body, p.Kind)
	if p.Kind == rules.Documentation {
		return prior
	}
	m := contentModel()
	t := newOutline(ctx, p.Body, prior, m.odds)
	defer t.free()
	t.about(p.Head)
	if len(t.blocks) > maxJudged {
		return prior
	}
	chance := t.judge(p.Kind, m.forest)
	cut := t.bestCut(chance)
	if t.empty(cut) && p.Words > 20 && p.Words < signs.ShellWords {
		return rules.Choice{Root: p.Body, Name: Nothing, Dropped: t.dropped(make([]bool, len(t.blocks)))}
	}
	keep := t.decide(chance, cut*cutFactor(p.Kind))
	t.keepFields(keep)
	t.keepTitle(keep, chars.Fold(p.Head.Title))
	t.dropEchoes(keep)
	switch p.Kind {
	case rules.Forum:
		t.dropExtras(keep)
		t.keepNames(keep)
	case rules.Product:
		t.keepPrice(keep, p.Head.Price)
	case rules.Article, rules.Service:
		t.dropLabels(keep)
	}
	kept, ruled := int32(0), int32(0)
	for i := range t.blocks {
		b := &t.blocks[i]
		if keep[i] {
			kept += b.words
		}
		if x := &t.boxes[b.box]; x.inRoot && !x.dropped {
			ruled += b.words
		}
	}
	if kept == 0 || kept < rules.FewWords && kept*4 < ruled {
		return prior
	}
	if t.kind == rules.Article || t.kind == rules.Service {
		t.dropFrame(keep, p.Head.Base)
	}
	return rules.Choice{Root: p.Body, Name: "blocks", Stage: rules.AllRules, Dropped: t.dropped(keep)}
}

// empty judges whether a page of few words with this best cut has no content. Only pages with few words come here;
// between the two bounds a page is empty if it is menus alone.
func (t *outline) empty(cut float32) bool {
	if cut < noContentCut || cut >= menusCut {
		return cut < noContentCut
	}
	const said = 8 // words of a block outside links, as a short post has them
	words, linked := int32(0), int32(0)
	for i := range t.blocks {
		b := &t.blocks[i]
		if b.tag == atom.H1 || b.words-b.linked >= said {
			return false
		}
		words, linked = words+b.words, linked+b.linked
	}
	return linked*2 > words
}

// cutFactor returns, to judge blocks by it, the factor of the best cut for a type of page. Outside articles, losing a
// short block loses structure, such as the title of a card or an item of a list, while keeping it costs a few words.
// The values are the best of five on sites that the model was not trained on. A lower cut keeps more.
func cutFactor(kind rules.PageType) float32 {
	if kind == rules.Article {
		return 1
	}
	return .8
}

// judge returns the chance of each block of the page to be content, by the trees of the model. On articles, comments
// have none.
func (t *outline) judge(kind rules.PageType, trees forest) []float32 {
	facts := t.facts(kind)
	t.kind = kind
	chance := make([]float32, len(t.blocks))
	var fs [together][featureCount]float32
	for from := 0; from < len(chance); from += together {
		some := chance[from:min(from+together, len(chance))]
		for n := range some {
			guard.Check(t.ctx)
			t.features(from+n, facts, &fs[n])
		}
		odds := trees.sum(&fs)
		for n := range some {
			some[n] = sigmoid(odds[n])
		}
	}
	if kind == rules.Article {
		t.dropComments(chance)
	}
	return chance
}

// sigmoid turns, to judge it, the log odds of a block into a chance.
func sigmoid(v float32) float32 { return float32(1 / (1 + math.Exp(-float64(v)))) }

// bestCut returns, to judge blocks by it, the chance above which to keep blocks for the best expected F1 of words: half
// of that F1. F1 itself depends on what is kept, so that it is found by repetition, which ends after ten steps at the
// latest. p are the chances of the blocks. The worse the model can tell content from the rest, the lower it is.
func (t *outline) bestCut(p []float32) float32 {
	total := float32(0)
	for i, q := range p {
		total += q * float32(t.blocks[i].words)
	}
	if total == 0 {
		return 0
	}
	f := float32(.9)
	for range 10 {
		kept, good := float32(0), float32(0)
		for i, q := range p {
			if q > f/2 {
				kept += float32(t.blocks[i].words)
				good += q * float32(t.blocks[i].words)
			}
		}
		f = 2 * good / (kept + total)
	}
	return f / 2
}

// decide judges which blocks to keep: those with a chance above cut, and those that belong to them. Code, lists, tables
// and quotations go first, since headings depend on what is kept below them.
func (t *outline) decide(chance []float32, cut float32) []bool {
	keep := make([]bool, len(chance))
	for i, p := range chance {
		keep[i] = p > cut
	}
	t.keepCode(chance, keep)
	t.keepWhole(keep)
	t.keepPlain(keep)
	t.keepHeadings(chance, cut, keep)
	return keep
}

// keepPlain keeps, once blocks are judged, a quotation, a table or a list that is plainly the author's: it has no names
// and no links, and stands in an article or main element beside prose that is kept. Next to a long text of few words
// the model takes it for what is left over. On a forum it leaves lists alone, as keepWhole does. What generators write
// has classes and ids nearly everywhere.
func (t *outline) keepPlain(keep []bool) {
	prose := map[*box]bool{} // of articles: whether prose of theirs is kept
	lists := t.kind != rules.Forum
	for i := range t.blocks {
		b := &t.blocks[i]
		x := &t.boxes[b.box]
		if keep[i] || !x.inRoot || x.dropped || b.linked > 0 {
			continue
		}
		n := b.first
		if b.tag != atom.Table {
			for ; x.parent >= 0 && !dom.Is(x.node, atom.Blockquote, atom.Article, atom.Main) &&
				(!lists || !dom.Is(x.node, atom.Ul, atom.Ol, atom.Dl)); x = &t.boxes[x.parent] {
				guard.Check(t.ctx)
			}
			if n = x.node; !dom.Is(n, atom.Blockquote, atom.Ul, atom.Ol, atom.Dl) || x.parent < 0 {
				continue
			}
			x = &t.boxes[x.parent]
		}
		if len(n.Attr) > 0 || !dom.Is(x.node, atom.Article, atom.Main) {
			continue
		}
		has, known := prose[x]
		for j := x.begin; j < x.end && !has && !known; j++ {
			has = keep[j] && t.blocks[j].long()
		}
		prose[x], keep[i] = has, has
	}
}

// keepCode keeps code, once blocks are judged, next to those that are kept. Code has few sentences, by which the model
// knows content.
func (t *outline) keepCode(chance []float32, keep []bool) {
	for i := range t.blocks {
		if t.blocks[i].tag != atom.Pre || keep[i] {
			continue
		}
		keep[i] = chance[i] > .2 || i > 0 && keep[i-1] || i+1 < len(keep) && keep[i+1]
	}
}

// keepWhole keeps, once blocks are judged, a list or table whole when most of its words are kept, and drops it whole
// when hardly any are. On a forum it leaves lists alone: they hold authors, times and buttons. Most is three quarters,
// hardly any less than a tenth.
func (t *outline) keepWhole(keep []bool) {
	for i := len(t.boxes) - 1; i >= 0; i-- { // the inner ones first
		x := &t.boxes[i]
		if x.end-x.begin < 2 || !dom.Is(x.node, atom.Table) &&
			(t.kind == rules.Forum || !dom.Is(x.node, atom.Ul, atom.Ol, atom.Dl)) {
			continue
		}
		kept, all := int32(0), int32(0)
		for j := x.begin; j < x.end; j++ {
			all += t.blocks[j].words
			if keep[j] {
				kept += t.blocks[j].words
			}
		}
		most := kept*4 >= all*3
		if !most && kept*10 >= all {
			continue
		}
		for j := x.begin; j < x.end; j++ {
			keep[j] = most
		}
	}
}

// keepHeadings keeps, once blocks are judged, a heading when most of its section is kept and the heading itself is not
// unlikely, or when prose that is kept follows it. It drops a heading when nothing of its section is kept. It goes from
// the last heading to the first, so that a heading with nothing but dropped headings below it goes, too. The page's
// title is not dropped so.
func (t *outline) keepHeadings(chance []float32, cut float32, keep []bool) {
	for i := len(keep) - 1; i >= 0; i-- {
		if level := t.blocks[i].tag; !headingTag(level) {
			continue
		}
		kept, all := t.headed(i, keep)
		switch {
		case kept*2 > all && (chance[i]*2 > cut || t.blocks[i].tag != atom.H1 && keep[i+1] && t.blocks[i+1].long()):
			keep[i] = true
		case t.blocks[i].tag != atom.H1 && kept == 0 && all > 0:
			keep[i] = false
		}
	}
}

// headed returns the number of words in the section of heading i, and how many of them are kept. The section is the
// rest of the smallest box that holds more than the heading; if that is only a line or two, as under the title of a
// card, it is the rest of the next larger box. It looks at 200 blocks at most.
func (t *outline) headed(i int, keep []bool) (kept, all int32) {
	const (
		most = 200 // blocks
		few  = 25  // words
	)
	level := t.blocks[i].tag.String()
	j := i + 1
	for x := &t.boxes[t.blocks[i].box]; ; x = &t.boxes[x.parent] {
		for ; j < min(int(x.end), i+most); j++ {
			b := &t.blocks[j]
			if headingTag(b.tag) && b.tag.String() <= level {
				return kept, all
			}
			all += b.words
			if keep[j] {
				kept += b.words
			}
		}
		if all >= few || kept > 0 || x.parent < 0 || x.begin != int32(i) {
			return kept, all
		}
	}
}

// keepTitle keeps, once blocks are judged, the heading that is the title of the page when it precedes the blocks that
// are kept. No set asks for it, because references begin below it, but a reader of the markdown alone would miss it.
// title is in the form of [chars.Fold].
func (t *outline) keepTitle(keep []bool, title string) {
	for i := range t.blocks {
		if keep[i] {
			return
		}
		if t.blocks[i].tag == atom.H1 && dom.Is(t.blocks[i].first.Parent, atom.H1) &&
			chars.Fold(dom.OneLine(t.blocks[i].first.Parent)) == title {
			keep[i] = true
			return
		}
	}
}

// dropEchoes drops, once blocks are judged, a block that repeats the kept block before it, as pages do for two widths
// of screen, and placeholders that a script would replace. Code and tables may repeat lines.
func (t *outline) dropEchoes(keep []bool) {
	last := -1 // kept
	for i := range t.blocks {
		b := &t.blocks[i]
		if !keep[i] || b.tag == atom.Pre || b.tag == atom.Table {
			continue
		}
		if b.words == 1 && b.letters == 7 && foldedText(b.first.Parent, longestLabel) == "loading" {
			keep[i] = false
			continue
		}
		if last >= 0 && repeats(b, &t.blocks[last]) {
			keep[i] = false
			continue
		}
		last = i
	}
}

// repeats judges whether b is an echo: it has the same text as the block before it, of three words or more. Items of a
// list may repeat one another. The hash is of letters and digits alone, so that the spelling may differ.
func repeats(b, before *block) bool {
	return b.words >= 3 && b.hash == before.hash && b.words == before.words && b.tag == before.tag && b.tag != atom.Li &&
		b.tag != atom.Dd
}
