package convert

import (
	"bytes"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"

	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/page"
)

// CleanEdition counts the changes by which [CleanMarkdown] or [CleanText] takes out more than before. Raise it with
// each: texts that were stored before are then cleaned again when they are read, and the index is made of them anew.
// Packages store and knowledge compare it with the number that they have stored.
const CleanEdition = 1

// Cleaned is a text that others wrote, without what its reader does not see. [CleanMarkdown] and [CleanText] return it
// for texts that are read as they are, not converted.
type Cleaned struct {
	Text     []byte       // the content itself, or else UTF-8
	Changed  bool         // something was removed, or the text is in UTF-8 and the content was not
	Removed  page.Removed // what it was
	Warnings []string     // of what was removed: tokens of X-Readthru-Warning
}

// CleanMarkdown removes from markdown or plain text what its reader does not see or must not follow: invisible
// characters, comments, hidden elements, addresses of scripts. It marks names in front matter that only ours has. Code
// keeps everything but invisible characters. contentType names the charset; base is the URL of the text and may be nil.
// What needs nothing stays as it is, byte for byte, if it is in UTF-8: searches, outlines and agents read nothing else.
func CleanMarkdown(content []byte, contentType string, base *url.URL) Cleaned {
	text := inUTF8(content, contentType)
	c := cleaned(text, "", func(text []byte) ([]byte, hidden.Report) { return hidden.Markdown(text, base) })
	c.Changed = c.Changed || !bytes.Equal(text, content)
	return c
}

// CleanText removes invisible characters from a text of any kind: data, source code, a title.
func CleanText(content []byte, contentType string) Cleaned {
	return cleaned(content, contentType, hidden.Text)
}

// cleaned cleans a text in UTF-8 by clean, and makes the warnings of its report. Where nothing was removed it returns
// the content itself.
func cleaned(content []byte, contentType string, clean func([]byte) ([]byte, hidden.Report)) Cleaned {
	text, report := clean(inUTF8(content, contentType))
	if report.Hidden == 0 {
		return Cleaned{Text: content}
	}
	d := Document{}
	d.reportHidden(report)
	return Cleaned{text, true, d.removed, d.warnings}
}

// inUTF8 returns a text, which is to be cleaned, in UTF-8 if its byte order mark or contentType says that it is in
// another charset, else as it is. A charset that is not known leaves it as it is, too. It has no byte order mark, which
// would hide that a text begins with a heading.
func inUTF8(content []byte, contentType string) []byte {
	name := ""
	switch {
	case bytes.HasPrefix(content, []byte("\ufeff")):
		return content[len("\ufeff"):]
	case bytes.HasPrefix(content, []byte{0xfe, 0xff}):
		name = "utf-16be"
	case bytes.HasPrefix(content, []byte{0xff, 0xfe}):
		name = "utf-16le"
	case contentType != "":
		if _, params, err := mime.ParseMediaType(contentType); err == nil {
			name = params["charset"]
		}
	}
	e, name := charset.Lookup(name)
	if e == nil || name == "utf-8" || name == "replacement" {
		return content
	}
	text, err := e.NewDecoder().Bytes(content)
	if err != nil {
		return content
	}
	return bytes.TrimPrefix(text, []byte("\ufeff"))
}

// reportHidden records what Parse removed as hidden, and warns of it. What was recorded before counts as well: a feed
// is cleaned as a text, and then as a page. The counts in the warnings are those of all reports together.
func (d *Document) reportHidden(r hidden.Report) {
	r = d.unseen.With(r)
	d.unseen, d.removed = r, r.Removed
	d.warnings = slices.DeleteFunc(d.warnings, func(w string) bool {
		return strings.HasPrefix(w, WarnHidden+"=") || strings.HasPrefix(w, WarnNote+"=")
	})
	if r.Hidden > 0 {
		d.warnings = append(d.warnings, WarnHidden+"="+strconv.Itoa(r.Hidden))
	}
	if r.Notes > 0 {
		d.warnings = append(d.warnings, WarnNote+"="+strconv.Itoa(r.Notes))
	}
	if r.PageShown {
		d.warnings = append(d.warnings, WarnShown)
	}
	if r.Beside {
		d.whole = true // what a reader sees may not look like the content
	}
	if r.StylesCut {
		d.warnings = append(d.warnings, WarnStyles)
	}
}
