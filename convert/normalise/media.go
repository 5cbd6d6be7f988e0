package normalise

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/links"
)

// longestTitle is the most bytes that the title of a frame, a film or a recording has. Longer ones are descriptions or
// lists of keywords.
const longestTitle = 100

// linkMedia puts a link before each film and recording that the page plays and each PDF that it shows, and a picture
// before each drawing that it embeds. The elements themselves stay, for the report of what text they hide. A film
// without controls that plays by itself, or without sound, is a background. It also collects the maps of pictures with
// several links, and lists these. Addresses are resolved against base.
func linkMedia(body *html.Node, base *url.URL) {
	maps := map[string]*html.Node{}
	for _, n := range dom.FindAll(body, func(n *html.Node) bool {
		return dom.Is(n, atom.Video, atom.Audio, atom.Object, atom.Embed, atom.Map)
	}) {
		if dom.Is(n, atom.Map) {
			maps[dom.Attr(n, "name")] = n
			continue
		}
		address, kind := mediaOf(n)
		address = links.Absolute(base, address)
		if kind == "" || !strings.HasPrefix(address, "http") {
			continue
		}
		shown := embedded(address, cmp.Or(titleOf(n), kind))
		if kind == picture {
			shown.Attr = []html.Attribute{{Key: "src", Val: address}, {Key: "alt", Val: titleOf(n)}}
		}
		place := dom.NewElement(atom.P, shown)
		place.Attr = slices.Clone(n.Attr) // it may be hidden
		n.Parent.InsertBefore(place, n)
	}
	if len(maps) > 0 {
		listAreas(body, base, maps)
	}
}

// picture is the kind of what is shown as it is. linkMedia writes it as an image instead of a link.
const picture = "picture"

// mediaOf returns the address of what an element plays or shows, and what that is, "" if it is nothing to follow. A
// film or recording has its address itself, or in its first source element; data-src counts, since players load late.
// Objects and embedded things go by their type, or by the end of their address.
func mediaOf(n *html.Node) (address, kind string) {
	controls := dom.HasAttr(n, "controls")
	switch n.DataAtom {
	case atom.Audio:
		if controls { // else no reader sees it
			kind = "Audio"
		}
	case atom.Video:
		if controls || !dom.HasAttr(n, "autoplay") && !dom.HasAttr(n, "loop") && !dom.HasAttr(n, "muted") {
			kind = "Video"
		}
	default:
		address = dom.Attr(n, map[bool]string{true: "data", false: "src"}[n.DataAtom == atom.Object])
		path, _, _ := strings.Cut(address, "#")
		path, _, _ = strings.Cut(path, "?")
		switch media := dom.Attr(n, "type"); {
		case media == "application/pdf" || strings.HasSuffix(strings.ToLower(path), ".pdf"):
			return address, "PDF"
		case strings.HasPrefix(media, "image/") || IsPicture(address):
			return address, picture
		case strings.HasPrefix(media, "video/"):
			return address, "Video"
		case strings.HasPrefix(media, "audio/"):
			return address, "Audio"
		}
		return "", ""
	}
	for d := n; d != nil; d = dom.Find(n, func(d *html.Node) bool { return dom.Is(d, atom.Source) }) {
		for _, key := range [...]string{"src", "data-src"} {
			if address = dom.Attr(d, key); address != "" {
				return address, kind
			}
		}
		if d != n {
			break
		}
	}
	return "", ""
}

// embedded returns an image that stands for what is at an address, and is written as a link to it. Unlike a link it
// goes with the text around it. name is what the link says.
func embedded(address, name string) *html.Node {
	img := dom.NewElement(atom.Img)
	img.Attr = []html.Attribute{{Key: "src", Val: address}, {Key: "alt", Val: name}, {Key: dom.EmbedAttr}}
	return img
}

// titleOf returns what a page calls a frame, a film, an object or an area, by title or aria-label, or "". Longer names
// than longestTitle are left out.
func titleOf(n *html.Node) string {
	for _, key := range [...]string{"title", "aria-label"} {
		if title, _ := chars.Visible(chars.OneLine(dom.Attr(n, key))); title != "" && len(title) <= longestTitle {
			return title
		}
	}
	return ""
}

// listAreas puts a list of links below each picture that leads to several places, depending on where it is pressed.
// maps are these places, by their names. An area without a name or an address is left out. The list is hidden where the
// picture is.
func listAreas(body *html.Node, base *url.URL, maps map[string]*html.Node) {
	for _, img := range dom.FindAll(body, func(n *html.Node) bool { return dom.Is(n, atom.Img) }) {
		name, ok := strings.CutPrefix(dom.Attr(img, "usemap"), "#")
		areas := maps[name]
		if !ok || areas == nil {
			continue
		}
		delete(maps, name) // a second picture leads to the same places
		list := dom.NewElement(atom.Ul)
		for _, area := range dom.FindAll(areas, func(n *html.Node) bool { return dom.Is(n, atom.Area) }) {
			label := chars.OneLine(dom.Attr(area, "alt"))
			if label == "" {
				label = titleOf(area)
			}
			address := links.Absolute(base, dom.Attr(area, "href"))
			if strings.HasPrefix(address, "http") && label != "" && len(label) <= longestTitle {
				list.AppendChild(dom.NewElement(atom.Li, embedded(address, label)))
			}
		}
		if list.FirstChild == nil {
			continue
		}
		for _, a := range img.Attr { // it may be hidden
			if a.Key == "class" || a.Key == "style" || a.Key == "hidden" || a.Key == "id" {
				list.Attr = append(list.Attr, a)
			}
		}
		img.Parent.InsertBefore(list, img.NextSibling)
	}
}
