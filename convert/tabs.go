package convert

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

// maxTabLists is how many lists of tabs of one page are paired with panels by their order.
const maxTabLists = 200

// labelTabs puts the name of its tab before every panel that a tab shows, and shows the panel: all of them are content,
// one at a time. A panel that no tab leads to stays as hidden as it is.
func labelTabs(body *html.Node) {
	var lists, panels, blocks []*html.Node
	labels, ids := map[string]string{}, map[string]string{} // of panels by their id, of tabs by theirs
	for d := range body.Descendants() {
		if d.Type != html.ElementNode || len(d.Attr) == 0 {
			continue
		}
		switch attr(d, "role") {
		case "tablist":
			lists = append(lists, d)
		case "tabpanel":
			panels = append(panels, d)
		case "tab":
			label := plain(d)
			for _, id := range [...]string{attr(d, "aria-controls"), strings.TrimPrefix(attr(d, "href"), "#")} {
				if id != "" {
					labels[id] = label
				}
			}
			if id := attr(d, "id"); id != "" {
				ids[id] = label
			}
		}
		if hasClass(d, "tabbed-set") { // Python-Markdown
			blocks = append(blocks, d)
		}
	}
	labelled := map[*html.Node]bool{}
	for _, panel := range panels {
		label := labels[attr(panel, "id")]
		if label == "" {
			label = ids[attr(panel, "aria-labelledby")]
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

// showPanel puts label before what panel holds, and makes panel visible.
func showPanel(panel *html.Node, label string) {
	panel.InsertBefore(elementNode(atom.P, elementNode(atom.Strong, textNode(label))), panel.FirstChild)
	for _, key := range [...]string{"hidden", "aria-hidden", "style", "inert"} {
		dropAttr(panel, key)
	}
}

// pairTabs labels panels by the order of their tabs, where neither names the other: the box round a list of tabs holds
// as many panels as there are tabs.
func pairTabs(list *html.Node, labelled map[*html.Node]bool) {
	tabs := findAll(list, func(n *html.Node) bool { return attr(n, "role") == "tab" })
	box := list.Parent
	if box == nil || len(tabs) == 0 || is(box, atom.Body) {
		return
	}
	panels := findAll(box, func(n *html.Node) bool { return attr(n, "role") == "tabpanel" })
	if len(panels) != len(tabs) {
		return
	}
	for i, panel := range panels {
		if label := plain(tabs[i]); label != "" && !labelled[panel] {
			showPanel(panel, label)
			labelled[panel] = true
		}
	}
}

// tabbedSet labels the blocks of a set whose tabs are labels of radio buttons.
func tabbedSet(set *html.Node) {
	labels := findAll(set, func(n *html.Node) bool { return is(n, atom.Label) && hasAttr(n, "for") })
	blocks := findAll(set, func(n *html.Node) bool { return hasClass(n, "tabbed-block") })
	if len(blocks) == 0 {
		blocks = findAll(set, func(n *html.Node) bool { return hasClass(n, "tabbed-content") })
	}
	if len(labels) != len(blocks) {
		return
	}
	for i, block := range blocks {
		if label := plain(labels[i]); label != "" {
			showPanel(block, label)
			remove(labels[i])
		}
	}
}
