package hidden

import (
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/internal/lazy"
)

// streamedPart finds where the parts of a page go that React sent after the page: a hidden element each, which a script
// puts in the place of a template. React writes a call of $RC for each, with the ids of the template and of the part.
var streamedPart = lazy.Pattern(`\$RC\("(B:[0-9a-zA-Z_:-]{1,40})","(S:[0-9a-zA-Z_:-]{1,40})"\)`)

// placeStreamed puts the parts of a page that are streamed after it where the script would. Without it such a part
// would be hidden text. A template that lies within its own part stays; the part then is shown where it is.
func placeStreamed(body *html.Node) {
	places := map[string]string{} // id of a part to id of its template
	for d := range body.Descendants() {
		if dom.Is(d, atom.Script) && d.FirstChild != nil && strings.Contains(d.FirstChild.Data, "$RC(") {
			for _, m := range streamedPart().FindAllStringSubmatch(d.FirstChild.Data, 1000) {
				places[m[2]] = m[1]
			}
		}
	}
	if len(places) == 0 {
		return
	}
	templates := map[string]*html.Node{}
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Template) &&
			dom.Attr(n, "id") != ""
	}) {
		templates[dom.Attr(n, "id")] = n
	}
	for _, part := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Div) && dom.HasAttr(n, "hidden") &&
			places[dom.Attr(n, "id")] != ""
	}) {
		template := templates[places[dom.Attr(part, "id")]]
		if template == nil || template.Parent == nil || dom.Attached(template, part) {
			dom.DropAttr(part, "hidden")
			continue
		}
		// What stood there until the part came ends with a comment.
		for s := template.NextSibling; s != nil && (s.Type != html.CommentNode || s.Data != "/$"); s = template.NextSibling {
			template.Parent.RemoveChild(s)
		}
		for c := part.FirstChild; c != nil; c = part.FirstChild {
			part.RemoveChild(c)
			template.Parent.InsertBefore(c, template)
		}
		dom.Remove(part)
		dom.Remove(template)
	}
}
