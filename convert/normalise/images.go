package normalise

import (
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/links"
)

// lazySources are the attributes in which scripts that load images late store the address. src is empty then, or has a
// placeholder.
var lazySources = []string{
	"data-src", "data-original", "data-lazy-src", "data-lazy", "data-original-src", "data-url",
	"data-image-src", "data-full-src",
}

// trackers are parts of the addresses of images that only count visitors. Such images are removed.
var trackers = []string{
	"/pixel.gif", "/spacer.gif", "/blank.gif", "/1x1.", "/transparent.gif", "doubleclick.net/",
	"google-analytics.com/", "facebook.com/tr", "scorecardresearch.com/", "/__utm.gif", "stats.wordpress.com/",
	"pixel.wp.com/",
}

// smallest is the side, in pixels, under which an image is an icon, a spacer or a counter and not content. It is asked
// of the size that the page states, as the image itself is not at hand.
const smallest = 24

// normaliseImage leaves an image with its real address, absolute, and its alternative text, or removes it. Pictures
// without a text whose file only fills space go, too. An image that stands for an embedded page is left as it is.
func normaliseImage(n *html.Node, base *url.URL) {
	if dom.HasAttr(n, dom.EmbedAttr) {
		return
	}
	src := imageAddress(n, base)
	alt, _ := chars.Visible(dom.Attr(n, "alt"))
	if src == "" || tooSmall(n) || tracker(src) || chars.Blank(alt) && spacer(src) {
		dom.Remove(n)
		return
	}
	n.Attr = []html.Attribute{{Key: "src", Val: src}, {Key: "alt", Val: chars.OneLine(alt)}}
}

// imageAddress returns the absolute address of an image, "" if it has none. The largest of a srcset goes first, then
// what a script would load, then src, then sources of the picture around it, and at last any attribute that looks like
// an address: loaders of images have names of their own.
func imageAddress(n *html.Node, base *url.URL) string {
	sets := []string{dom.Attr(n, "data-srcset"), dom.Attr(n, "data-lazy-srcset"), dom.Attr(n, "srcset")}
	for _, s := range sets { // src is the one for browsers that cannot choose
		if address, width := largest(s); width >= smallest {
			if src := imageURL(base, address); src != "" {
				return src
			}
		}
	}
	for _, key := range append(lazySources, "src") {
		if src := imageURL(base, dom.Attr(n, key)); src != "" {
			return src
		}
	}
	if dom.Is(n.Parent, atom.Picture) {
		for c := n.Parent.FirstChild; c != nil; c = c.NextSibling {
			if dom.Is(c, atom.Source) {
				sets = append(sets, dom.Attr(c, "data-srcset"), dom.Attr(c, "srcset"))
			}
		}
	}
	for _, s := range sets {
		address, _ := largest(s)
		if src := imageURL(base, address); src != "" {
			return src
		}
	}
	for _, a := range n.Attr { // a loader of its own
		address := ""
		switch {
		case a.Key != "src" && strings.HasSuffix(a.Key, "src"):
			address = a.Val
		case strings.HasSuffix(a.Key, "srcset"):
			address, _ = largest(a.Val)
		case strings.HasPrefix(a.Key, "data-") && IsPicture(a.Val):
			address = a.Val
		}
		if src := imageURL(base, address); src != "" {
			return src
		}
	}
	return ""
}

// imageURL returns the absolute URL of what an attribute says, or "" if that is no address of an image: a word such as
// "false", a template that a script fills, or the home page. Addresses in data: are none: they would put a picture's
// bytes into the text.
func imageURL(base *url.URL, value string) string {
	if !strings.ContainsAny(value, "/.") || strings.Contains(value, "{") || strings.TrimSpace(value) == "/" {
		return ""
	}
	if src := links.Absolute(base, value); strings.HasPrefix(src, "http") {
		return src
	}
	return ""
}

// IsPicture reports whether an address ends like that of an image. Package judge asks it of links around pictures.
func IsPicture(address string) bool {
	address, _, _ = strings.Cut(address, "?")
	switch strings.ToLower(path.Ext(address)) {
	case ".jpg", ".jpeg", ".png", ".webp", ".gif", ".avif", ".svg":
		return len(address) < 2000 && !strings.ContainsAny(address, " {}<>")
	}
	return false
}

// largest returns the candidate of a srcset with the greatest width or density, and which it is. size is 0 for one
// without a descriptor, and -1 for an empty srcset. It follows the HTML standard in that an address ends at white space
// and may itself contain commas.
func largest(srcset string) (best string, size float64) {
	size = -1
	const space = " \t\r\n\f"
	for srcset = strings.Trim(srcset, space+","); srcset != ""; srcset = strings.TrimLeft(srcset, space+",") {
		candidate, descriptor := srcset, ""
		if end := strings.IndexAny(srcset, space); end >= 0 {
			candidate, srcset = srcset[:end], srcset[end:]
		} else {
			srcset = ""
		}
		if last := strings.TrimRight(candidate, ","); last != candidate {
			candidate = last // which has no descriptor
		} else {
			descriptor, srcset, _ = strings.Cut(srcset, ",")
		}
		width := 0.0
		if w, unit, ok := css.Number(strings.Trim(descriptor, space)); ok && (unit == "w" || unit == "x") {
			width = w
		}
		if width > size && candidate != "" {
			best, size = candidate, width
		}
	}
	return best, size
}

// tooSmall reports whether an attribute or the style of an image states a side of less than smallest pixels.
func tooSmall(n *html.Node) bool {
	for _, key := range []string{"width", "height"} {
		if v, err := strconv.Atoi(strings.TrimSuffix(strings.TrimSpace(dom.Attr(n, key)), "px")); err == nil && v < smallest {
			return true
		}
	}
	if style := dom.Attr(n, "style"); style != "" {
		set := css.Declarations(style)
		for _, key := range []string{"width", "height"} {
			if least, _, ok := css.Number(set.Get("min-" + key)); ok && least >= smallest {
				continue // a picture that fills its box has a size of 0 and at least all of it
			}
			if v, unit, ok := css.Number(set.Get(key)); ok && (unit == "px" || v == 0) && v < smallest {
				return true
			}
		}
	}
	return false
}

// tracker reports whether the address of an image is one that only counts visitors.
func tracker(src string) bool {
	return slices.ContainsFunc(trackers, func(mark string) bool { return strings.Contains(src, mark) })
}

// spacerNames are names of image files that only fill space.
var spacerNames = chars.Set("clear cleardot spacer space blank pixel transparent trans 1x1 dot shim empty placeholder")

// spacer reports whether an address of an image names a file that only fills space. Only formats in which spacers are
// made are asked.
func spacer(src string) bool {
	src, _, _ = strings.Cut(src, "?")
	name := path.Base(src)
	switch ext := strings.ToLower(path.Ext(name)); ext {
	case ".gif", ".png", ".svg":
		return spacerNames[strings.ToLower(name[:len(name)-len(ext)])]
	}
	return false
}

// lazyImages replaces the empty image that a script would fill by the image in the noscript element beside it. The
// parser leaves what is in noscript as text, so that it is parsed here; one that holds more than an image, or more than
// 4 KiB, is left alone.
func lazyImages(body *html.Node) {
	for _, noscript := range dom.FindAll(body, func(n *html.Node) bool { return dom.Is(n, atom.Noscript) }) {
		text := dom.Text(noscript)
		if len(text) > 4<<10 || !strings.Contains(text, "<img") {
			continue
		}
		nodes, err := html.ParseFragment(strings.NewReader(text), dom.NewElement(atom.Div))
		if err != nil {
			continue
		}
		holder := dom.NewElement(atom.Div)
		for _, n := range nodes {
			holder.AppendChild(n)
		}
		img := dom.Find(holder, func(n *html.Node) bool { return dom.Is(n, atom.Img) })
		if img == nil || !chars.Blank(dom.OneLine(holder)) {
			continue
		}
		dom.Remove(img)
		for p := noscript.PrevSibling; p != nil; p = p.PrevSibling {
			if p.Type == html.TextNode && chars.Blank(p.Data) {
				continue
			}
			if dom.Is(p, atom.Img) {
				dom.Remove(p)
			}
			break
		}
		dom.Replace(noscript, img)
	}
}

// listAreas puts a list of links below each image that leads to several places, depending on where it is pressed. maps
// are these places, by their names. An area without a name or an address is left out. The list is hidden where the
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
