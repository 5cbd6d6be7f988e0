package head

import (
	"strings"
	"time"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/internal/lazy"
)

// revised reports whether the text before a date in its line says that it is the date of a change. It looks at the text
// before, or before the element around it.
func revised(n *html.Node) bool {
	before := n.PrevSibling
	if before == nil && dom.Is(n.Parent, atom.Span, atom.P, atom.B, atom.Strong, atom.Em, atom.Small) {
		before = n.Parent.PrevSibling
	}
	for before != nil && before.Type == html.TextNode && chars.Blank(before.Data) {
		before = before.PrevSibling
	}
	if before == nil {
		return false
	}
	text := chars.OneLine(dom.Text(before))
	return len(text) < 200 && revision().MatchString(text)
}

// revision ends what stands before the date of a change. The date of publication is wanted.
var revision = lazy.Pattern(
	`(?i)\b(?:modified|updated|edited|revised|reviewed|changed|geändert|aktualisiert)\b\W{0,3}(?:on|at|by|am)?\W*$`)

// elementDate returns the date in the attributes of an element or, when its name says that it is a date, in its text.
// The date of a change is none. It is a day, or a time in RFC 3339.
func elementDate(n *html.Node) string {
	stated := dom.Is(n, atom.Time) || strings.HasPrefix(dom.Attr(n, "itemprop"), "date")
	if !stated && !dom.Named(n, dateNames) || revised(n) {
		return ""
	}
	if stated {
		for _, s := range []string{dom.Attr(n, "datetime"), dom.Attr(n, "content")} {
			if d := Date(s); d != "" {
				return d
			}
		}
	}
	text := chars.OneLine(dom.Text(n))
	if len(text) > 400 {
		return ""
	}
	if at := writtenDate().FindStringIndex(text); at == nil || revision().MatchString(text[:at[0]]) {
		return ""
	}
	return WordedDate(text)
}

// dateNames are the names of elements that hold the date of a page.
var dateNames = dom.Names(`date published publish-date pub-date posted posted-on post-date entry-date time-stamp
	dateline article-date meta-date byline post-meta entry-meta`)

// writtenDate matches a day in words or in figures, whose month has a name or whose year stands first: 3/4/2024 is left
// alone, as nobody knows which is the day.
var writtenDate = lazy.Pattern(`(?i)\b(?:` +
	`(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? (\d{1,2})(?:st|nd|rd|th)?,? (\d{4})|` +
	`(\d{1,2})(?:st|nd|rd|th)?\.? (jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?,? (\d{4})|` +
	`(\d{4}-\d{2}-\d{2})\b)`)

// WordedDate returns the first day that a text names, or "". Values of a recipe's date are read by it, too.
func WordedDate(text string) string {
	m := writtenDate().FindStringSubmatch(chars.OneLine(text))
	switch {
	case m == nil:
		return ""
	case m[1] != "":
		return Date(titleCase(m[1]) + " " + m[2] + ", " + m[3])
	case m[5] != "":
		return Date(m[4] + " " + titleCase(m[5]) + " " + m[6])
	}
	return Date(m[7])
}

// titleCase returns the name of a month as [Date] reads it.
func titleCase(month string) string { return strings.ToUpper(month[:1]) + strings.ToLower(month[1:]) }

// Date returns a date in RFC 3339, or only its day, or "" if s is neither. It guesses nothing. Years up to 1900 are
// none.
func Date(s string) string {
	s = strings.TrimSpace(s)
	if len(s) < 8 || len(s) > 40 {
		return ""
	}
	for _, form := range dateForms {
		if t, err := time.Parse(form, s); err == nil && t.Year() > 1900 {
			return t.Format(time.RFC3339)
		}
	}
	for _, form := range dayForms {
		if t, err := time.Parse(form, s); err == nil && t.Year() > 1900 {
			return t.Format(time.DateOnly)
		}
	}
	if len(s) > 10 && s[10] == 'T' {
		return Date(s[:10])
	}
	return ""
}

// dateForms are formats of dates in metadata. A format without a time gives a day. All of them state a zone.
var dateForms = []string{
	time.RFC3339, "2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00",
	"2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05 -0700", time.RFC1123Z, time.RFC1123,
}

// dayForms have no zone, so that only their day is sure.
var dayForms = []string{
	"2006-01-02", "2006/01/02", "2006/1/2", "20060102", "January 2, 2006", "Jan 2, 2006",
	"2 January 2006", "2 Jan 2006", "2006-01-02T15:04:05", "2006-01-02 15:04:05", "2006-01-02T15:04",
}
