package hidden

import (
	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// Apart returns the elements, of those that stand in a line by their names, that styles take out of it: blocks, items
// of a flexible box or a grid, and what is placed elsewhere. Package normalise puts spaces where the texts of such
// elements meet. It is known after [Cleaner.Clean].
func (w *Cleaner) Apart() map[*html.Node]bool { return w.apart }

// Boxed returns the elements that styles make boxes in a line: they may have a margin between them, or none. It is
// known after [Cleaner.Clean].
func (w *Cleaner) Boxed() map[*html.Node]bool { return w.boxed }

// setApart notes whether the styles of n take it or what it holds out of their lines. What it notes are the results of
// [Cleaner.Apart] and [Cleaner.Boxed].
func (w *Cleaner) setApart(n *html.Node, style css.Values) {
	if len(style) == 0 {
		return
	}
	display := style.Get("display")
	switch display {
	case "flex", "grid", "inline-flex", "inline-grid", "-webkit-box", "-webkit-flex":
		for c := range n.ChildNodes() {
			if c.Type == html.ElementNode {
				w.apart[c] = true
			}
		}
	}
	switch display {
	case "flex", "grid", "-webkit-box", "-webkit-flex":
	case "inline-block", "inline-flex", "inline-grid", "inline-table":
		w.boxed[n] = true
		return
	case "block", "flow-root", "list-item", "table":
	default:
		if position := style.Get("position"); position != "absolute" && position != "fixed" {
			return
		}
	}
	if !dom.IsBlock(n) {
		w.apart[n] = true
	}
}
