package convert

import (
	"bytes"
	"net/url"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/links"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// rememberedTargets is how many links back CompactLinks looks for the target of a link.
const rememberedTargets = 24

// CompactLinks shortens the addresses of links and images in the markdown of a page, which cost a reader more than they
// tell. Addresses on the page's own host become relative to its root, and those of places on the page fragments. A link
// to where one of the 24 links before it leads becomes its text: the picture, the name and the label of a card lead to
// one place. Code, autolinks and bare URLs stay. If nothing changes, or if md is over 4 MiB, CompactLinks returns md
// itself. It is the form of links called compact ([Options.Links]).
func CompactLinks(md []byte, self *url.URL) []byte {
	if self == nil || len(md) > maxRewrite {
		return md
	}
	place, host := links.OfPage(self), self.Scheme+"://"+self.Host

	type edit struct {
		start, end int
		text       string
	}
	var edits []edit
	var targets []string // of the last links
	for l := range markdown.Links(md) {
		if l.Kind > markdown.Definition {
			continue
		}
		address := string(md[l.Start:l.End])
		if l.Kind == markdown.InlineLink {
			if slices.Contains(targets, address) && !beginsBlock(md, &l) {
				edits = append(edits, edit{l.Begin, l.TextStart, ""}, edit{l.TextEnd, l.After, ""})
				continue
			}
			if len(targets) == rememberedTargets {
				targets = append(targets[:0], targets[1:]...)
			}
			targets = append(targets, address)
		}
		if fragment, ok := strings.CutPrefix(address, place); ok {
			edits = append(edits, edit{l.Start, l.End, "#" + fragment})
			continue
		}
		rest, ok := strings.CutPrefix(address, host)
		if ok && strings.HasPrefix(rest, "/") && !strings.HasPrefix(rest, "//") {
			edits = append(edits, edit{l.Start, l.End, rest})
		}
	}
	if len(edits) == 0 {
		return md
	}
	slices.SortFunc(edits, func(a, b edit) int { return a.start - b.start }) // a link may hold an image
	var out bytes.Buffer
	end := 0
	for _, e := range edits {
		out.Write(md[end:e.start])
		out.WriteString(e.text)
		end = e.end
	}
	out.Write(md[end:])
	return out.Bytes()
}

// beginsBlock reports whether the text of a link in markdown that is to be compact could begin a heading, a list or a
// quotation without its bracket. Such a link stays: without its bracket the text would change its meaning.
func beginsBlock(md []byte, l *markdown.Link) bool {
	line := md[bytes.LastIndexByte(md[:l.Begin], '\n')+1 : l.Begin]
	text := md[l.TextStart:l.TextEnd]
	return len(bytes.TrimLeft(line, " \t>*+-.)0123456789")) == 0 && len(text) > 0 &&
		strings.IndexByte("#>*+-=~0123456789", text[0]) >= 0
}

// AbsoluteLinks makes the addresses of links and images in markdown absolute, resolved against base. Fragments and code
// stay as they are. If nothing changes, or if md is over 4 MiB, AbsoluteLinks returns md itself. Markdown from an
// origin is read away from it, where relative addresses lead nowhere.
func AbsoluteLinks(md []byte, base *url.URL) []byte {
	if base == nil {
		return md
	}
	return RelativeLinks(md, func(address string) *url.URL {
		u, err := page.Resolve(base, address)
		if err != nil {
			return nil
		}
		return u
	})
}

// RelativeLinks replaces each relative address of a link or an image in markdown by the URL that resolve returns; if
// resolve returns nil, the address stays. Fragments and code stay as they are. If nothing changes, or if md is over 4
// MiB, RelativeLinks returns md itself. Package github resolves the links of a repository's files by it.
func RelativeLinks(md []byte, resolve func(address string) *url.URL) []byte {
	if len(md) > maxRewrite {
		return md
	}
	var b bytes.Buffer
	end := 0
	for l := range markdown.Links(md) {
		if l.Kind == markdown.Autolink || l.Kind == markdown.BareURL {
			continue
		}
		if full, ok := resolved(l.Address(md), resolve); ok {
			b.Write(md[end:l.Start])
			b.WriteString(full)
			end = l.End
		}
	}
	if end == 0 {
		return md
	}
	b.Write(md[end:])
	return b.Bytes()
}

// resolved returns the URL that resolve returns for the address of a link in markdown. ok is false if the address stays
// as it is: a fragment, an address with a scheme, and an address that resolve cannot resolve. What has a dot before its
// colon counts as a host with its port, as "example.com:80".
func resolved(address string, resolve func(string) *url.URL) (full string, ok bool) {
	if address == "" || address[0] == '#' {
		return "", false
	}
	if scheme, _, found := strings.Cut(address, ":"); found && links.ValidScheme(scheme) &&
		!strings.Contains(scheme, ".") {
		return "", false
	}
	u := resolve(address)
	if u == nil {
		return "", false
	}
	return links.Escape(u.String()), true
}
