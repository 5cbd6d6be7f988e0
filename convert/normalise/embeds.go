package normalise

import (
	"cmp"
	"net/url"
	"path"
	"slices"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/links"
)

// LinkEmbeds replaces the frames that show a video or a post of another site by images that stand for them. Other
// frames are left out with the rest that is no text: they are advertisements and counters more often than not. base is
// the address against which theirs are resolved. It must come before package hidden, so that a frame that is hidden is
// reported as such.
func LinkEmbeds(body *html.Node, base *url.URL) {
	frame := func(n *html.Node) bool { return dom.Is(n, atom.Iframe) || n.Data == "lite-youtube" }
	for _, n := range dom.FindAll(body, frame) {
		address := dom.Attr(n, "src")
		if address == "" || strings.HasPrefix(address, "about:") || strings.HasPrefix(address, "data:") {
			address = dom.Attr(n, "data-src")
		}
		if id := dom.Attr(n, "videoid"); id != "" {
			address = "https://www.youtube.com/embed/" + id
		}
		u, err := url.Parse(links.Absolute(base, address))
		if err != nil {
			continue
		}
		page, kind := EmbeddedPage(u)
		if page == "" {
			continue
		}
		kind = cmp.Or(titleOf(n), kind)
		place := dom.NewElement(atom.P, embedded(page, kind))
		place.Attr = n.Attr // it may be hidden
		dom.Replace(n, place)
	}
}

// EmbeddedPage returns the page of what a frame shows, and what that is. u is the address of the frame. It returns ""
// for a frame that shows anything else. Package convert asks it which frames need not be read.
func EmbeddedPage(u *url.URL) (address, kind string) {
	id := path.Base(u.Path)
	switch strings.TrimPrefix(u.Hostname(), "www.") {
	case "youtube.com", "youtube-nocookie.com":
		if dir := path.Dir(u.Path); (dir == "/embed" || dir == "/v") && id != "videoseries" {
			return "https://www.youtube.com/watch?v=" + url.QueryEscape(id), "YouTube video"
		}
	case "player.vimeo.com":
		if path.Dir(u.Path) == "/video" {
			return "https://vimeo.com/" + url.PathEscape(id), "Vimeo video"
		}
	case "platform.twitter.com":
		if id := u.Query().Get("id"); id != "" {
			return "https://x.com/i/status/" + url.PathEscape(id), "Post on X"
		}
	}
	return "", ""
}

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
		file, _, _ := strings.Cut(address, "#")
		file, _, _ = strings.Cut(file, "?")
		switch media := dom.Attr(n, "type"); {
		case media == "application/pdf" || strings.HasSuffix(strings.ToLower(file), ".pdf"):
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

// picture is the kind of what is shown as it is. linkMedia writes it as an image instead of a link.
const picture = "picture"

// embedded returns an image that stands for what is at an address, and is written as a link to it. Unlike a link it
// goes with the text around it. name is what the link says.
func embedded(address, name string) *html.Node {
	img := dom.NewElement(atom.Img)
	img.Attr = []html.Attribute{{Key: "src", Val: address}, {Key: "alt", Val: name}, {Key: dom.EmbedAttr}}
	return img
}

// longestTitle is the most bytes that the title of a frame, a film or a recording has. Longer ones are descriptions or
// lists of keywords.
const longestTitle = 100

// titleOf returns what a page calls what it embeds, a frame, a film, an object or an area, by title or aria-label, or
// "". Longer names than longestTitle are left out.
func titleOf(n *html.Node) string {
	for _, key := range [...]string{"title", "aria-label"} {
		if title, _ := chars.Visible(chars.OneLine(dom.Attr(n, key))); title != "" && len(title) <= longestTitle {
			return title
		}
	}
	return ""
}
