package mcp

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/clip"

	"github.com/readthru/readthru/api"
)

// list collects the items of a result until its budget is spent. Each item is a text and a value; the longer of the
// text and the value's JSON counts.
type list struct {
	server *Server
	text   strings.Builder
	items  []any
	left   int // tokens
}

// newList returns an empty list with the usual budget of a result. items is never nil, which JSON would show as null.
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

// result makes a tool's result of the list, under a name in the structured value. next is the cursor to continue with,
// if it is not empty; none is the text if the list is empty.
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

// maxOffset bounds cursors that count items, which are numbers that a model could make up.
const maxOffset = 1_000_000

// offset reads the cursor of a call that counts the items before it, 0 without one. An error tells the model that it
// has taken the cursor of another tool.
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

// take makes a result of all items of a list from the call's cursor on, as many as fit the budget. It suits operations
// that return everything at once; their next cursor is the number of the items shown. item returns the text and the
// value of an item.
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

// indent puts margin before every line of a snippet and drops blank lines, so that foreign text in a list is seen to be
// quoted.
func indent(text, margin string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			b.WriteString(margin + line + "\n")
		}
	}
	return b.String()
}

// cut returns the beginning of a text that has at most so many tokens. Pages are cut where they are read, so that the
// list of requests says what an agent got of them.
func (s *Server) cut(whole string, tokens int) api.Piece {
	return api.CutPiece(whole, 0, 0, tokens, s.o.Tokens)
}

// Budgets of one result, in tokens as [Options.Tokens] counts them. Clients warn of results over 10,000 tokens and
// refuse those over 25,000; the count is off by up to a tenth.
const (
	usualTokens = 8_000  // of a result by default
	mostTokens  = 20_000 // of a result whose caller asks for more
)
