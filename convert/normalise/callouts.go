package normalise

import (
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// callouts maps names in the classes of an element to kinds of callouts. Kinds are those that markdown of GitHub knows;
// names of other generators become the nearest of them. Names are in lower case.
var callouts = map[string]string{
	"note": "NOTE", "info": "NOTE", "information": "NOTE", "seealso": "NOTE", "secondary": "NOTE",
	"todo":     "NOTE",
	"abstract": "NOTE", "example": "NOTE", "quote": "NOTE", "question": "NOTE", "primary": "NOTE",
	"tip": "TIP", "hint": "TIP", "success": "TIP", "check": "TIP", "important": "IMPORTANT", "warning": "WARNING",
	"warn": "WARNING", "attention": "WARNING", "deprecated": "WARNING",
	"caution": "CAUTION", "danger": "CAUTION", "error": "CAUTION", "bug": "CAUTION", "failure": "CAUTION",
}

// calloutBoxes name the boxes of callouts; their kind is another class. Those of titledBoxes are used for much else,
// and count only with a title. The programs that write them are Docutils, Asciidoctor, Docusaurus, Starlight,
// VitePress, GitBook, Nextra and Confluence among others.
var (
	calloutBoxes = chars.Set(`admonition admonitionblock notecard theme-admonition markdown-alert starlight-aside
		custom-block hint-container book-hint nextra-callout confluence-information-macro bd-callout`)
	titledBoxes = chars.Set("alert callout hint")
)

// These stand before the kind in one class. Those of the first list make an element a callout by themselves. Those of
// the second list count beside a box's name, a title or an icon; "" is a bare name such as class="warning".
var (
	boxPrefixes = []string{
		"theme-admonition-", "markdown-alert-", "starlight-aside--", "callout-", "bd-callout-",
		"confluence-information-macro-", "admonish-", "hint-style-",
	}
	kindPrefixes = []string{"alert--", "alert-", "admonition-", "hint-", "is-", ""}
)

// calloutTitles are parts of the classes of a callout's own title. They are looked for anywhere in the class, in lower
// case.
var calloutTitles = []string{
	"admonition-title", "admonition-heading", "admonitionheading", "alert-title", "alert-heading", "callout-title",
	"callout-heading", "admonition-header", "aside__title", "custom-block-title", "hint-container-title", "hint-title",
}

// callout returns the kind of callout that n is, or "". It goes by the names that generators give to boxes and kinds,
// and asks for a title, an icon or a label where a name alone says little: "alert" and "note" are also names of banners
// and of footnotes. A quotation counts if its text begins with a mark of markdown. Calling it may take such a mark
// away.
func callout(n *html.Node) string {
	if !dom.Is(n, atom.Div, atom.Aside, atom.Section, atom.Blockquote, atom.P, atom.Details) {
		return ""
	}
	if dom.Is(n, atom.Blockquote) {
		if kind := writtenCallout(n); kind != "" {
			return kind
		}
	}
	class := strings.ToLower(dom.Attr(n, "class"))
	if class == "" {
		return ""
	}
	kind, box, titled := "", false, false
	for word := range strings.FieldsSeq(class) {
		box, titled = box || calloutBoxes[word], titled || titledBoxes[word]
		k, own := calloutKind(word)
		if k != "" {
			kind, box = k, box || own
		}
	}
	if dom.Is(n, atom.Details) && kind != "" && dom.Is(dom.FirstElement(n), atom.Summary) {
		return kind
	}
	if titled && !box || dom.HasClass(n, "callout", "alert") && !dom.HasClass(n, "admonition", "theme-admonition") {
		box = kind != "" && dom.Is(n, atom.Aside) || calloutTitle(n) != nil
	}
	if !box && (kind == "" || iconTable(n) == nil && calloutLabel(n, kind) == nil) {
		return ""
	}
	if own := dom.Attr(n, "data-callout"); own != "" && dom.HasClass(n, "callout") { // Obsidian's form
		return calloutName(own)
	}
	if kind == "" && dom.HasClass(n, "admonition", "admonitionblock", "notecard") {
		return "NOTE"
	}
	return kind
}

// writtenCallout returns the kind of a callout that is still as its author wrote it in markdown, [!NOTE], and takes the
// mark away. It returns "" if the quotation begins otherwise. Pages have it where a program does not know GitHub's
// callouts.
func writtenCallout(quote *html.Node) string {
	first := dom.FirstText(quote)
	if first == nil {
		return ""
	}
	name, rest, ok := strings.Cut(strings.TrimSpace(first.Data), "]")
	name, marked := strings.CutPrefix(name, "[!")
	if !ok || !marked || callouts[strings.ToLower(name)] == "" {
		return ""
	}
	if first.Data = strings.TrimLeft(rest, "+- \n"); first.Data == "" && dom.Is(first.NextSibling, atom.Br) {
		dom.Remove(first.NextSibling)
	}
	return calloutName(name)
}

// calloutKind returns the kind of callout that the end of a class names, "" for none, and whether the class makes the
// element a callout by itself. A class that begins with no known prefix names nothing.
func calloutKind(word string) (kind string, box bool) {
	cut := strings.LastIndexByte(word, '-') + 1
	kind = callouts[word[cut:]]
	box = kind != "" && slices.Contains(boxPrefixes, word[:cut])
	if !box && !slices.Contains(kindPrefixes, word[:cut]) {
		return "", false
	}
	return kind, box
}

// calloutLabel returns the paragraph that begins n and only says which kind of callout it is, such as "Note". In a box
// whose class is in capitals (DocFX) it may say so in any language, and be a heading. It returns nil if there is none.
// Something must follow it: a paragraph "Note" that is all of its box is no label.
func calloutLabel(n *html.Node, kind string) *html.Node {
	label := dom.FirstElement(n)
	if label == nil || label.NextSibling == nil || !dom.OpensParent(label) {
		return nil
	}
	class, text := dom.Attr(n, "class"), dom.OneLine(label)
	if dom.Is(label, atom.P) && callouts[chars.Fold(text)] == kind ||
		strings.ToUpper(class) == class && len(text) < 30 && (dom.Is(label, atom.P) || dom.IsHeading(label)) {
		return label
	}
	return nil
}

// calloutName returns the kind of callout that a page names itself, in capitals, or NOTE when it is no word of at most
// 24 letters. It stands in the markdown as it is.
func calloutName(own string) string {
	for _, r := range own {
		if (r|0x20 < 'a' || r|0x20 > 'z') && r != '-' {
			return "NOTE"
		}
	}
	if len(own) > 24 {
		return "NOTE"
	}
	return strings.ToUpper(own)
}

// calloutTitle returns the element that holds a callout's own title, or nil. Asciidoctor and Docutils name a paragraph
// "title" and no more.
func calloutTitle(n *html.Node) *html.Node {
	return dom.Find(n, func(d *html.Node) bool {
		if len(d.Attr) == 0 {
			return false
		}
		class := strings.ToLower(dom.Attr(d, "class"))
		for _, title := range calloutTitles {
			if strings.Contains(class, title) {
				return true
			}
		}
		return dom.Is(d, atom.P) && class == "title"
	})
}

// openCallouts shows the content of Obsidian's folded callouts, because a reader can unfold them as with details. It
// must come before package hidden removes what styles hide.
func openCallouts(body *html.Node) {
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.HasClass(n, "callout-content") &&
			dom.HasAttr(n, "style")
	}) {
		if n.Parent != nil && dom.HasAttr(n.Parent, "data-callout-fold") {
			dom.DropAttr(n, "style")
		}
	}
}

// iconTable returns the table that is all of n and shows a callout: an icon in the first cell, a title in the head of
// the first row, and the text below it. Otherwise it returns nil. DocBook's style sheets write callouts so.
func iconTable(n *html.Node) *html.Node {
	table := dom.FirstElement(n)
	if !dom.Is(table, atom.Table) || len(dom.OneLine(table)) != len(dom.OneLine(n)) {
		return nil
	}
	rows := dom.Rows(table)
	if len(rows) != 2 || dom.HasText(dom.FirstElement(rows[0])) || !dom.Contains(rows[0], atom.Img) ||
		!dom.Contains(rows[0], atom.Th) || !dom.Is(dom.FirstElement(rows[1]), atom.Td) {
		return nil
	}
	return table
}

// normaliseCallout rewrites the callout n into a blockquote that carries its kind, as the renderer expects. Its title
// becomes a bold first paragraph, unless it says no more than the kind. Ids and classes go.
func normaliseCallout(n *html.Node, kind string) {
	if dom.HasClass(n, "admonitionblock") { // Asciidoctor: a table of an icon and the text
		if content := dom.Find(n, func(d *html.Node) bool {
			return dom.Is(d, atom.Td) &&
				dom.HasClass(d, "content")
		}); content != nil {
			inner := dom.NewElement(atom.Div)
			dom.MoveChildren(content, inner)
			dom.Empty(n)
			n.AppendChild(inner)
		}
	}
	title := calloutTitle(n)
	if table := iconTable(n); table != nil { // DocBook: a table of an icon, the title and the text
		title = dom.Find(table, func(d *html.Node) bool { return dom.Is(d, atom.Th) })
		rows := dom.Rows(table)
		text := rows[len(rows)-1].LastChild
		for !dom.Is(text, atom.Td) {
			text = text.PrevSibling
		}
		dom.Remove(text)
		dom.Rename(text, atom.Div)
		dom.Replace(table, text)
	}
	if title == nil && dom.Is(n, atom.Details) {
		title = dom.FirstElement(n)
	}
	if title == nil {
		title = calloutLabel(n, kind)
	}
	text := ""
	if title != nil {
		text = strings.Trim(dom.OneLine(title), ": ")
		dom.Remove(title)
	}
	dom.Rename(n, atom.Blockquote)
	n.Attr = []html.Attribute{{Key: dom.CalloutAttr, Val: kind}}
	if name := chars.Fold(text); name != "" && !strings.EqualFold(name, kind) && callouts[name] != kind {
		n.InsertBefore(dom.NewElement(atom.P, dom.NewElement(atom.Strong, dom.NewText(text))), n.FirstChild)
	}
}
