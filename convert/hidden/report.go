package hidden

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// The limits of a report. They keep a hostile page's report small; counts go on.
const (
	maxPiece  = 200 // code points shown of one piece
	maxOfKind = 12  // pieces shown of one kind

	maxCompared = 50 // pieces compared with what the page shows
)

// markup are the kinds of what is not the page's text wherever it stands: it counts in the report, not as hidden text.
// Such pieces are in the source of most pages.
var markup = map[string]bool{
	"comment": true, "template": true, "textarea": true, "select": true, "object": true, "canvas": true, "dialog": true,
	"svg": true, "noframes": true, "noembed": true, "audio": true, "video": true, "datalist": true, "script-link": true,
	"tracking-link": true, "alt": true,
}

// Report says what was removed from a page. Package convert makes its warnings of it, and stores Removed with the page.
type Report struct {
	Removed   page.Removed // shared: do not change it
	Hidden    int          // pieces of hidden text that are more than menus, forms and labels
	Notes     int          // pieces of it that tell agents how to read the site
	PageShown bool         // styles hide the page itself until a script has run; it was kept
	Beside    bool         // and they show some text beside it, so that quotes in the page say what they hide
	StylesCut bool         // the page has more style rules than were read; text that they hide may be left
}

// With returns a report of what r and more say. Parts of a page, and frames in it, have reports of their own. Neither
// is changed.
func (r Report) With(more Report) Report {
	unsure := slices.Clone(r.Removed.Unsure)
	for _, why := range more.Removed.Unsure {
		if !slices.Contains(unsure, why) {
			unsure = append(unsure, why)
		}
	}
	if len(r.Removed.Counts) == 0 {
		more.Removed.Unsure = unsure
		return more
	}
	r.Removed.Unsure = unsure
	r.Removed.Counts = maps.Clone(r.Removed.Counts)
	for kind, n := range more.Removed.Counts {
		r.Removed.Counts[kind] += n
	}
	r.Removed.Pieces = slices.Concat(r.Removed.Pieces, more.Removed.Pieces)
	r.Hidden += more.Hidden
	r.Notes += more.Notes
	r.PageShown, r.StylesCut = r.PageShown || more.PageShown, r.StylesCut || more.StylesCut
	r.Beside = r.Beside || more.Beside
	return r
}

// reporter is a report in the making. telling is compared with the page when it is clean; see [unsaid].
type reporter struct {
	Report
	telling []string // pieces that are more than furniture, unless the page shows them too
}

// add notes a piece of text that n held, unless it is blank. n decides whether it is furniture, and is nil for what was
// in no tree. Its text is on one line in the report.
func (r *reporter) add(kind, text string, n *html.Node) {
	if chars.Blank(text) {
		return
	}
	text, _ = chars.Visible(text)
	if text = chars.OneLine(text); text == "" {
		return
	}
	r.note(kind, text)
	switch {
	case markup[kind] || furniture(kind, text, n):
	case len(r.telling) < maxCompared:
		r.telling = append(r.telling, text)
	default:
		r.Hidden++
	}
}

// addNode notes the text below n. Blocks in it are parted by spaces.
func (r *reporter) addNode(kind string, n *html.Node) {
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Type == html.TextNode && !dom.Is(d.Parent, atom.Script, atom.Style, atom.Noscript):
			b.WriteString(d.Data)
		case dom.IsBlock(d):
			b.WriteByte(' ')
		}
	}
	r.add(kind, b.String(), n)
}

// addSmuggled notes the characters of a text that carry words past a reader's eyes, decoded where they spell some. It
// always counts as hidden text, for nobody writes such characters by chance.
func (r *reporter) addSmuggled(text string) {
	if words := spelt(text); words != "" {
		r.note("characters", words)
		r.Hidden++
	}
}

// spelt writes out, for the report, what tag characters and variation selectors in text spell, and names the other
// invisible characters. Tag characters are ASCII shifted by 0xE0000, variation selectors carry a byte each. It stops
// when it has enough for a piece.
func spelt(text string) string {
	var b strings.Builder
	shown := 0
	for _, c := range text {
		if shown++; shown > 64<<10 || b.Len() > 8*maxPiece {
			break
		}
		switch {
		case c >= 0xe0020 && c <= 0xe007e:
			b.WriteRune(c - 0xe0000)
		case c >= 0xfe00 && c <= 0xfe0f && printable(c-0xfe00):
			b.WriteRune(c - 0xfe00)
		case c >= 0xe0100 && c <= 0xe01ef && printable(c-0xe0100+16):
			b.WriteRune(c - 0xe0100 + 16) // bytes as selectors: 16 and on begin here
		case chars.Invisible(c):
			fmt.Fprintf(&b, "[U+%04X]", c)
		}
	}
	return chars.OneLine(b.String())
}

// printable reports whether c, in a report, is a character of ASCII that can be seen, or a space.
func printable(c rune) bool { return c >= ' ' && c < 0x7f }

// note counts a piece of removed text, and keeps it for the report while there are few of its kind. Notes to agents are
// kept beyond that, as agents are told of them.
func (r *reporter) note(kind, text string) {
	if text == "" {
		return
	}
	if r.Removed.Counts == nil {
		r.Removed.Counts = map[string]int{}
	}
	r.Removed.Counts[kind]++
	speaks := agentNote(text)
	if speaks {
		r.Notes++
	}
	if n := r.Removed.Counts[kind]; n > maxOfKind && (!speaks || r.Notes > maxOfKind) {
		return
	}
	r.Removed.Pieces = append(r.Removed.Pieces, page.Piece{
		Kind: kind, Text: clip.Runes(text, maxPiece), Chars: utf8.RuneCountInString(text), Note: speaks,
	})
}

// Report returns what [Cleaner.Clean] removed. Called before it, it has what was removed until then.
func (w *Cleaner) Report() Report {
	r := w.reported.Report
	r.PageShown, r.Beside, r.StylesCut = w.kept, w.beside, w.sheet.Cut()
	if w.sheet.Unknown {
		r.Removed.Unsure = append(r.Removed.Unsure, page.UnsureSheets)
	}
	if w.scripts && !w.final {
		r.Removed.Unsure = append(r.Removed.Unsure, page.UnsureScripts)
	}
	return r
}

// Unshown reports n, which has been taken out of the page because browsers do not show it. Package normalise calls it
// for children of a host without a slot, and for sources of formulas.
func (w *Cleaner) Unshown(n *html.Node) {
	if n.Type == html.TextNode {
		w.reported.add("display", n.Data, nil)
		return
	}
	w.reported.addNode("display", n)
}

// Left reports a text that the file of a document has, and does not show. Its kind is "" if it is hidden. Package
// convert calls it for what the readers of such files have left out.
func (w *Cleaner) Left(kind, text string) { w.reported.add(cmp.Or(kind, "display"), text, nil) }

// whole returns the report of a text, in which every piece counts as hidden text: nobody sees markup in it. It replaces
// the count that add has made.
func (r *reporter) whole() Report {
	r.Hidden = 0
	for _, n := range r.Removed.Counts {
		r.Hidden += n
	}
	return r.Report
}

// unsaid counts the pieces of a report that a page does not also say to its readers: in another place, or in another
// form for other windows. It compares letters alone, since forms for other windows differ in spaces and punctuation.
// body is what is left of the page.
func unsaid(pieces []string, body *html.Node) (count int) {
	if len(pieces) == 0 {
		return 0
	}
	var b strings.Builder
	for n := range body.Descendants() {
		if n.Type == html.TextNode && !dom.Is(n.Parent, atom.Script, atom.Style, atom.Noscript, atom.Template) {
			writeLetters(&b, n.Data)
		}
	}
	said := b.String()
	for _, text := range pieces {
		if commands(text) || !strings.Contains(said, letters(text)) {
			count++
		}
	}
	return count
}

// letters returns the letters of a text in lower case, by which a report compares hidden pieces with the page.
func letters(text string) string {
	var b strings.Builder
	writeLetters(&b, text)
	return b.String()
}

// writeLetters writes to b the letters of a text in lower case, by which a report compares hidden pieces with the page.
func writeLetters(b *strings.Builder, text string) {
	for _, r := range text {
		if unicode.IsLetter(r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
}
