package normalise

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
)

// The signs that begin the items of a list that is typed: rows between line breaks. Dashes also begin what people say,
// asterisks notes, and no-break spaces paragraphs.
const (
	rowBullets = "•●▪■◦‣·►"
	rowDashes  = "-–—*"
)

// fewestRows is how many rows in a row begin with one sign where they are a list.
const fewestRows = 3

// row is what stands between two line breaks.
type textRow struct {
	first, last *html.Node // inline
	text        *html.Node // its first text
	sign        rune       // that it begins with, or 0
}

// listRows makes lists of the rows of n that begin with one sign.
func listRows(n *html.Node) {
	found := 0
	for c := n.FirstChild; c != nil && found < fewestRows-1; c = c.NextSibling {
		if dom.Is(c, atom.Br) {
			found++
		}
	}
	if found < fewestRows-1 {
		return
	}
	var run []textRow
	lead := "" // the row above the run
	for c := n.FirstChild; c != nil; {
		r := rowAt(c)
		next := r.last.NextSibling
		if dom.Is(next, atom.Br) {
			next = next.NextSibling
		}
		if len(run) > 0 && r.sign != run[0].sign {
			makeList(n, run, lead)
			run = run[:0]
		}
		if r.sign != 0 {
			run = append(run, r)
		} else if r.text != nil {
			lead = dom.Text(r.last)
		}
		c = next
	}
	makeList(n, run, lead)
}

// rowAt returns the row that begins with c.
func rowAt(c *html.Node) (r textRow) {
	r.first, r.last = c, c
	block := dom.IsBlock(c)
	for !block && !dom.Is(r.last, atom.Br) && r.last.NextSibling != nil && !dom.Is(r.last.NextSibling, atom.Br) &&
		!dom.IsBlock(r.last.NextSibling) {
		r.last = r.last.NextSibling
	}
	if block || dom.Is(c, atom.Br) {
		return r
	}
	for d := c; d != r.last.NextSibling && r.text == nil; d = d.NextSibling {
		if d.Type == html.TextNode && strings.Trim(d.Data, " \t\r\n") != "" {
			r.text = d
		} else if d.Type == html.ElementNode {
			r.text = dom.FirstText(d)
		}
	}
	if r.text == nil {
		return r
	}
	begin := strings.TrimLeft(r.text.Data, " \t\r\n")
	sign, size := utf8.DecodeRuneInString(begin)
	after, _ := utf8.DecodeRuneInString(begin[size:])
	switch {
	case strings.ContainsRune(rowBullets, sign), strings.ContainsRune(rowDashes, sign) && unicode.IsSpace(after),
		sign == '\u00a0' && after != utf8.RuneError:
		r.sign = sign
	}
	return r
}

// makeList makes a list of rows, unless there are too few or they may be something else: rows that begin with a dash or
// an indent are none if one of them is a sentence, nor are indented rows that no colon leads to.
func makeList(n *html.Node, rows []textRow, lead string) {
	if len(rows) < fewestRows {
		return
	}
	sign := rows[0].sign
	if sign == '\u00a0' && !strings.HasSuffix(strings.TrimSpace(lead), ":") {
		return
	}
	items := make([]string, len(rows))
	for i, r := range rows {
		var b strings.Builder
		for d := r.first; d != r.last.NextSibling; d = d.NextSibling {
			b.WriteString(dom.Text(d))
		}
		items[i] = strings.TrimRightFunc(b.String(), unicode.IsSpace)
		if chars.Fold(items[i]) == "" ||
			!strings.ContainsRune(rowBullets, sign) && (len(items[i]) > 200 || strings.ContainsAny(items[i], ".?!…")) {
			return
		}
	}
	if dom.Within(n, atom.Table) || dom.Is(n.Parent, atom.Li) {
		return
	}
	list := dom.NewElement(atom.Ul)
	n.InsertBefore(list, rows[0].first)
	for _, r := range rows {
		item := dom.NewElement(atom.Li)
		end := r.last.NextSibling
		for d := r.first; d != end; {
			next := d.NextSibling
			n.RemoveChild(d)
			item.AppendChild(d)
			d = next
		}
		if dom.Is(end, atom.Br) {
			n.RemoveChild(end)
		}
		r.text.Data = strings.TrimLeftFunc(strings.TrimLeft(r.text.Data, " \t\r\n")[utf8.RuneLen(sign):], unicode.IsSpace)
		list.AppendChild(item)
	}
	if before := list.PrevSibling; dom.Is(before, atom.Br) {
		n.RemoveChild(before)
	}
	dom.Rename(n, atom.Div)
}
