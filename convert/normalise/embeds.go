package normalise

import (
	"cmp"
	"net/url"
	"path"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

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
