package hidden

import (
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
)

// noTrack reports whether a row or column of a grid has no size but what its items insist on. size is as it is written
// in the style sheet.
func noTrack(size string) bool {
	switch size {
	case "0fr", "0", "0px", "minmax(0,0)", "minmax(0, 0)", "minmax(0,0fr)", "minmax(0, 0fr)", "minmax(0px,0px)":
		return true
	}
	return false
}

// fixedNarrow reports whether n stands in a column of no width, whatever it holds. Its items cannot widen such a
// column, as they can one of 0fr.
func (w *Cleaner) fixedNarrow(n *html.Node, outer look) bool {
	size := w.column(n, outer)
	return size == "0" || size == "0px"
}

// widens reports whether an element may have a width where the box round it, such as a column of a grid, has none. Text
// in it is then seen beside the box.
func widens(style css.Values) bool {
	position, display := style.Get("position"), style.Get("display")
	return style.Get("width") != "" || style.Get("min-width") != "" || position == "absolute" || position == "fixed" ||
		strings.HasPrefix(display, "inline") || display == "table"
}

// column returns the size of the column of a grid in which n stands, or "". Columns are filled in order, so that an
// item's place gives its column, as long as items do not choose their own.
func (w *Cleaner) column(n *html.Node, outer look) string {
	if len(outer.columns) == 0 {
		return ""
	}
	at, last := 0, w.items[n.Parent]
	for p := n; p != nil; p = p.PrevSibling { // from the item that was counted last: a grid may have many
		if p != n && p.Type == html.ElementNode {
			at++
		}
		if p == last.item {
			at += last.at
			break
		}
	}
	if w.items == nil {
		w.items = map[*html.Node]gridItem{}
	}
	w.items[n.Parent] = gridItem{n, at}
	return outer.columns[at%len(outer.columns)]
}

// gridItem is an item of a grid, and how many stand before it. It spares long grids a count from the beginning for each
// item.
type gridItem struct {
	item *html.Node
	at   int
}

// narrow reports whether n, in a box with this look, is given no width: it stands in a column of none, or is told to
// have none and not to grow. An item that chooses its own column is not judged.
func (w *Cleaner) narrow(n *html.Node, style css.Values, outer look) bool {
	if outer.flexible {
		basis, ok := css.ParseLength(style.Get("flex-basis"), outer.size)
		grow, _ := css.Fraction(style.Get("flex-grow"))
		return ok && basis.Px == 0 && basis.Share == 0 && grow == 0
	}
	if style.Get("grid-column") != "" || style.Get("grid-area") != "" {
		return false
	}
	return noTrack(w.column(n, outer))
}
