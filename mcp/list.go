package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

// list collects the items of a result until its budget is spent. Each item is a text and a value; the longer of the
// text and the value's JSON counts.
type list struct {
	server *Server
	text   strings.Builder
	items  []any
	left   int // tokens
}

func (s *Server) newList() *list { return &list{server: s, items: []any{}, left: usualTokens} }

// add adds an item and reports whether it fits. The first item always fits, or a caller could not continue after it.
func (l *list) add(text string, item any) bool {
	b, err := json.Marshal(item)
	if err != nil {
		return false // never: our items can be encoded
	}
	cost := max(l.server.o.Tokens(text), l.server.o.Tokens(string(b)))
	if cost > l.left && len(l.items) > 0 {
		return false
	}
	l.left -= cost
	l.text.WriteString(text)
	l.items = append(l.items, item)
	return true
}

// result returns the list under a name. next is the cursor to continue with, if it is not empty.
func (l *list) result(name, next, none string) *result {
	text := l.text.String()
	if len(l.items) == 0 {
		text = none + "\n"
	}
	value := map[string]any{name: l.items}
	if next != "" {
		text += fmt.Sprintf("There are more: call again with cursor %q.\n", next)
		value["next_cursor"] = next
	}
	return &result{text: text, value: value}
}

// maxOffset bounds cursors that count items.
const maxOffset = 1_000_000

// offset reads a cursor that counts the items before it.
func (c *call) offset() (int, error) {
	cursor := c.args.text("cursor")
	if cursor == "" {
		return 0, nil
	}
	n, err := strconv.Atoi(cursor)
	if err != nil || n < 0 || n > maxOffset {
		return 0, argumentError{fmt.Sprintf("'cursor' is not a next_cursor of this tool: %s", clip.Line(cursor, 40))}
	}
	return n, nil
}

// take lists the items of all from the cursor on. item returns the text and the value of an item.
func take[T any](c *call, all []T, name, none string, item func(i int, v T) (string, any)) (*result, error) {
	from, err := c.offset()
	if err != nil {
		return nil, err
	}
	l := c.server.newList()
	next := ""
	for i := min(from, len(all)); i < len(all); i++ {
		text, value := item(i, all[i])
		if !l.add(text, value) {
			next = strconv.Itoa(i)
			break
		}
	}
	if from > 0 && from >= len(all) {
		none = "No more."
	}
	return l.result(name, next, none), nil
}

// indent puts margin before every line of a text and drops blank lines.
func indent(text, margin string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(margin + line + "\n")
		}
	}
	return b.String()
}
