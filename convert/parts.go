package convert

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/internal/clip"
)

// partSize is the length of the parts in which a page over guard.MaxInput is converted, in bytes. The tree of a page
// may take forty times its length. For a part that is some 160 MiB.
const partSize = 4 << 20

// part is a piece of a page that is converted as a page of its own: the start tags of what is open where it begins, and
// what follows. page joins them.
type part struct{ open, text []byte }

// page returns the part as the source of a page.
func (p part) page() []byte { return slices.Concat(p.open, p.text) }

// tag is a start tag that is open in a page that is cut into parts.
type tag struct {
	name, raw string
	row       string // of a table: its first row, if that is a header
	items     int    // of an ordered list: the items before
}

// cutter cuts a page into parts. It reads tokens and builds no tree. Elements that HTML closes by itself are closed as
// browsers do, as far as this matters for what is open.
type cutter struct {
	text   []byte
	size   int // of a part
	styles []byte
	open   []tag
	parts  []part
	begun  int    // where the present part begins
	prefix []byte // what is open there
	row    int    // where the first row of a table begins that may be a header, or -1
	header bool   // that row has header cells
}

// cutPage cuts the text of a page into parts, at the beginnings of blocks. Each part after the first one begins with
// the page's style sheets, and with the start tags that are open there, a list with its next number and a table with
// its header. The parts are of about equal length. There is one at least.
func cutPage(ctx context.Context, text []byte) []part {
	n := max(len(text)/partSize, 1)
	c := cutter{text: text, size: len(text)/n + 1, row: -1}
	tokens := dom.NewTokenizer(ctx, text)
	for at := 0; ; {
		kind := tokens.Next()
		if kind == html.ErrorToken {
			break
		}
		raw := tokens.Raw()
		end := at + len(raw)
		switch kind {
		case html.StartTagToken:
			name, _ := tokens.TagName()
			c.start(string(name), string(raw), at)
		case html.EndTagToken:
			name, _ := tokens.TagName()
			c.end(string(name), end)
		case html.TextToken:
			c.words(at, end)
		}
		at = end
	}
	c.parts = append(c.parts, part{c.prefix, text[c.begun:]})
	return c.parts
}

// implied names, for start tags before which HTML closes elements that have no end tag, these elements. p is closed by
// any block; see start.
var implied = map[string]map[string]bool{
	"li": chars.Set("li p"), "dt": chars.Set("dt dd p"), "dd": chars.Set("dt dd p"), "option": chars.Set("option"),
	"td": chars.Set("td th p"), "th": chars.Set("td th p"), "tr": chars.Set("td th tr p"),
	"thead": chars.Set("td th tr tbody p"), "tbody": chars.Set("td th tr thead tbody p"),
	"tfoot": chars.Set("td th tr thead tbody p"),
}

// partStarts are elements before which a page may be cut. They are blocks, and rows and items within such.
var partStarts = chars.Set(`p div section article h1 h2 h3 h4 h5 h6 ul ol dl li dt dd table tr pre blockquote figure hr
	details`)

// void are elements without content. They need no end tag, and are never open.
var void = chars.Set("area base br col embed hr img input link meta param source track wbr")

// top returns the innermost element that is open where a part may end; an empty tag if none is open.
func (c *cutter) top() *tag {
	if len(c.open) == 0 {
		return &tag{}
	}
	return &c.open[len(c.open)-1]
}

// start takes, of a page that is cut into parts, a start tag that begins at an offset. If the present part is long
// enough and the tag may begin a part, it cuts before it; a part of twice the size is cut anywhere.
func (c *cutter) start(name, raw string, at int) {
	closes := implied[name]
	if closes == nil && partStarts[name] {
		closes = chars.Set("p")
	}
	for closes[c.top().name] {
		c.open = c.open[:len(c.open)-1]
	}
	long := at - c.begun
	if long >= 2*c.size || long >= c.size && partStarts[name] && !c.within("pre", "select", "svg", "math") {
		c.cut(at)
	}
	switch name {
	case "base":
		c.styles = append(c.styles, raw...)
	case "tr":
		if t := c.table(); t != nil && t.row == "" && c.row < 0 {
			c.row, c.header = at, false
		} else if c.row >= 0 {
			c.endRow(at)
		}
	case "th":
		c.header = c.header || c.row >= 0
	case "li":
		if t := c.top(); t.name == "ol" {
			t.items++
		}
	}
	if name == "html" || name == "head" || void[name] || len(c.open) >= dom.MaxOpen {
		return
	}
	c.open = append(c.open, tag{name: name, raw: raw})
}

// end takes, of a page that is cut into parts, an end tag that ends at an offset, and closes the elements up to the one
// of its name. An end tag of what is not open is ignored.
func (c *cutter) end(name string, at int) {
	for i := range slices.Backward(c.open) {
		if c.open[i].name == name {
			if name == "tr" && c.row >= 0 {
				c.endRow(at)
			}
			c.open = c.open[:i]
			return
		}
	}
}

// endRow ends the row of a table, which no part cuts, that begins at c.row. It is repeated in later parts if it is a
// header of moderate length. A table without such a row is marked by a comment, so that no later row is taken for its
// header.
func (c *cutter) endRow(at int) {
	if t := c.table(); t != nil {
		if t.row = "<!---->"; c.header && at-c.row < 8<<10 {
			t.row = string(c.text[c.row:at])
		}
	}
	c.row = -1
}

// table returns the innermost table that is open where a part may end, or nil.
func (c *cutter) table() *tag {
	for i := range slices.Backward(c.open) {
		if c.open[i].name == "table" {
			return &c.open[i]
		}
	}
	return nil
}

// within reports whether one of these elements is open where a part may end.
func (c *cutter) within(names ...string) bool {
	return slices.ContainsFunc(c.open, func(t tag) bool { return slices.Contains(names, t.name) })
}

// words takes a text of a page that is cut into parts. Of one that is longer than a part, each part ends with a line, a
// word or at least a character. Style sheets are gathered for later parts, 1 MiB of them at most; scripts are passed
// over.
func (c *cutter) words(at, end int) {
	switch c.top().name {
	case "style":
		if len(c.styles)+end-at < 1<<20 {
			c.styles = fmt.Appendf(c.styles, "<style>%s</style>", c.text[at:end])
		}
		return
	case "script", "textarea", "title":
		return
	}
	for end-c.begun > 2*c.size {
		from := max(at, c.begun+c.size)
		i := bytes.IndexAny(c.text[from:end], "\n")
		if i < 0 || i > c.size/2 {
			i = bytes.IndexByte(c.text[from:end], ' ')
		}
		if i < 0 || i > c.size {
			if from+utf8.UTFMax >= end {
				return
			}
			i = len(clip.Bytes(c.text[from:], utf8.UTFMax)) - 1
		}
		c.cut(from + i + 1)
	}
}

// cut ends the present part of the page at an offset, and makes what the next one begins with: style sheets, and the
// tags that are open.
func (c *cutter) cut(at int) {
	c.parts = append(c.parts, part{c.prefix, c.text[c.begun:at]})
	b := []byte("<!doctype html><head>")
	b = append(append(b, c.styles...), "</head>"...)
	for _, t := range c.open {
		if t.name == "ol" && t.items > 0 {
			t.raw = `<ol start="` + strconv.Itoa(t.items+1) + `">`
		}
		b = append(b, t.raw...)
		if strings.HasPrefix(t.row, "<tr") || strings.HasPrefix(t.row, "<TR") {
			b = append(b, t.row...)
		}
	}
	c.begun, c.prefix = at, b
}

// convertRest appends what the further parts of a page give. What a part lacks to be a page, and so what it is warned
// of as a page, says nothing of the whole. When the time is over, the rest is left out with the warning truncated.
// found says whether the first part matched the caller's selector; if none does, the error is [ErrNoMatch].
func (d *Document) convertRest(ctx context.Context, o Options, res *Result, found bool) error {
	texts := []string{res.Markdown}
	for _, p := range d.rest {
		next := &Document{url: d.url, content: p.page(), partOf: d}
		var got *Result
		err := guard.Run(func() { next.parse(ctx) })
		if err == nil {
			got, err = next.Convert(ctx, o)
		}
		switch {
		case errors.Is(err, ErrNoMatch):
			continue
		case errors.Is(ctx.Err(), context.DeadlineExceeded):
			res.Warnings = append(res.Warnings, WarnTruncated)
		case err != nil:
			return err
		default:
			found = true
			texts = append(texts, got.Markdown)
			res.add(got)
			continue
		}
		break
	}
	if !found {
		return ErrNoMatch
	}
	texts = slices.DeleteFunc(texts, func(s string) bool { return s == "" })
	res.Markdown = strings.Join(texts, "\n")
	res.Tokens = Tokens(res.Markdown)
	return nil
}

// add adds the hidden text and the warnings of a further part. Counts in warnings are added up. r and next are results
// of parts of one page.
func (r *Result) add(next *Result) {
	for _, w := range next.Warnings {
		name, count, counted := strings.Cut(w, "=")
		i := slices.IndexFunc(r.Warnings, func(s string) bool { return s == w || strings.HasPrefix(s, name+"=") })
		switch {
		case slices.Contains([]string{WarnDeep, WarnSpans, WarnFallback, WarnStyles}, name) && i < 0, counted && i < 0:
			r.Warnings = append(r.Warnings, w)
		case counted:
			more, _ := strconv.Atoi(count)
			n, _ := strconv.Atoi(r.Warnings[i][len(name)+1:])
			r.Warnings[i] = name + "=" + strconv.Itoa(n+more)
		}
	}
	r.Removed = hidden.Report{Removed: r.Removed}.With(hidden.Report{Removed: next.Removed}).Removed
}
