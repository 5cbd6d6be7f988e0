package normalise

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
)

// maxTabLists is the number of tab lists on a page that pairTabs may pair with panels. Each costs a walk over its box.
const maxTabLists = 200

// labelTabs writes the name of the tab before each panel that a tab shows, and makes the panel visible: every panel is
// content, though a reader sees one at a time. A panel without a tab stays hidden. A tab names its panel by
// aria-controls or by a link, or the panel its tab by aria-labelledby; where neither does, order tells. It must come
// before package hidden removes the panels that are not open.
func labelTabs(body *html.Node) {
	var lists, panels, blocks []*html.Node
	labels, ids := map[string]string{}, map[string]string{} // of panels by their id, of tabs by theirs
	for d := range body.Descendants() {
		if d.Type != html.ElementNode || len(d.Attr) == 0 {
			continue
		}
		switch dom.Attr(d, "role") {
		case "tablist":
			lists = append(lists, d)
		case "tabpanel":
			panels = append(panels, d)
		case "tab":
			label := dom.OneLine(d)
			for _, id := range [...]string{dom.Attr(d, "aria-controls"), strings.TrimPrefix(dom.Attr(d, "href"), "#")} {
				if id != "" {
					if _, ok := labels[id]; ok {
						label = "" // tabs that share a panel filter what it shows
					}
					labels[id] = label
				}
			}
			if id := dom.Attr(d, "id"); id != "" {
				ids[id] = label
			}
		}
		if dom.HasClass(d, "tabbed-set") { // Python-Markdown
			blocks = append(blocks, d)
		}
	}
	labelled := map[*html.Node]bool{}
	for _, panel := range panels {
		label := labels[dom.Attr(panel, "id")]
		if label == "" {
			label = ids[dom.Attr(panel, "aria-labelledby")]
		}
		if label != "" {
			showPanel(panel, label)
			labelled[panel] = true
		}
	}
	if len(panels) > 0 {
		for _, list := range lists[:min(len(lists), maxTabLists)] {
			pairTabs(list, labelled)
		}
	}
	for _, set := range blocks {
		tabbedSet(set)
	}
}

// showPanel puts the label of a tab before what its panel holds, and takes away what hides the panel.
func showPanel(panel *html.Node, label string) {
	panel.InsertBefore(dom.NewElement(atom.P, dom.NewElement(atom.Strong, dom.NewText(label))), panel.FirstChild)
	for _, key := range [...]string{"hidden", "aria-hidden", "style", "inert"} {
		dom.DropAttr(panel, key)
	}
}

// pairTabs labels panels by the order of their tabs if neither names the other and the box around the list of tabs
// holds as many panels as tabs. labelled are the panels that have a label, and those that it gives one.
func pairTabs(list *html.Node, labelled map[*html.Node]bool) {
	tabs := dom.FindAll(list, func(n *html.Node) bool { return dom.Attr(n, "role") == "tab" })
	box := list.Parent
	if box == nil || len(tabs) == 0 || dom.Is(box, atom.Body) {
		return
	}
	panels := dom.FindAll(box, func(n *html.Node) bool { return dom.Attr(n, "role") == "tabpanel" })
	if len(panels) != len(tabs) {
		return
	}
	for i, panel := range panels {
		if label := dom.OneLine(tabs[i]); label != "" && !labelled[panel] {
			showPanel(panel, label)
			labelled[panel] = true
		}
	}
}

// tabbedSet labels the blocks of a set of tabs of Python-Markdown, whose tabs are the labels of radio buttons, and
// removes the labels. It does nothing where their numbers differ.
func tabbedSet(set *html.Node) {
	labels := dom.FindAll(set, func(n *html.Node) bool { return dom.Is(n, atom.Label) && dom.HasAttr(n, "for") })
	blocks := dom.FindAll(set, func(n *html.Node) bool { return dom.HasClass(n, "tabbed-block") })
	if len(blocks) == 0 {
		blocks = dom.FindAll(set, func(n *html.Node) bool { return dom.HasClass(n, "tabbed-content") })
	}
	if len(labels) != len(blocks) {
		return
	}
	for i, block := range blocks {
		if label := dom.OneLine(labels[i]); label != "" {
			showPanel(block, label)
			dom.Remove(labels[i])
		}
	}
}
