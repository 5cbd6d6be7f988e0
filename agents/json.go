package agents

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// maxDepth is the maximum nesting of a settings file.
const maxDepth = 1000

// jsonText is a settings file in JSON, which may have comments and trailing commas, with the texts added to it. The
// file is never reformatted: additions are inserted between the existing bytes.
type jsonText struct {
	text []byte
	bom  int // length of the byte order mark
	root hujson.Value
	put  splices
}

// parseJSON reads a settings file, which may begin with a byte order mark.
func parseJSON(text []byte) (*jsonText, error) {
	j := &jsonText{text: text}
	if bytes.HasPrefix(text, []byte("\ufeff")) {
		j.bom = len("\ufeff")
	}
	return j, j.parse()
}

// parse reads the text of a settings file as JSON with comments and trailing commas. An empty file is an empty object;
// what nests deeper than maxDepth is refused, because the parser recurses.
func (j *jsonText) parse() (err error) {
	if j.blank() {
		return nil
	}
	body := j.text[j.bom:]
	if deeper(body, maxDepth) {
		return fmt.Errorf("the file nests deeper than %d levels", maxDepth)
	}
	if j.root, err = hujson.Parse(body); err != nil {
		return errors.New(strings.TrimPrefix(err.Error(), "hujson: "))
	}
	if _, ok := j.root.Value.(*hujson.Object); !ok {
		return errors.New("the file is not a JSON object")
	}
	return nil
}

// blank reports whether the file is empty.
func (j *jsonText) blank() bool { return len(bytes.TrimSpace(j.text[j.bom:])) == 0 }

// deeper reports whether brackets nest deeper than limit, including those in comments.
func deeper(text []byte, limit int) bool {
	depth, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case quoted:
		case c == '{' || c == '[':
			if depth++; depth > limit {
				return true
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return false
}

// splice inserts text at an offset.
func (j *jsonText) splice(at int, text string) {
	j.text = slices.Concat(j.text[:at], []byte(text), j.text[at:])
	j.put.insert(at, text)
}

// cut removes bytes.
func (j *jsonText) cut(from, to int) { j.text = slices.Concat(j.text[:from], j.text[to:]) }

// container is an object or a list with its offsets in the file.
type container struct {
	open, end int // of its brackets
	items     []item
	rest      []byte // comments and space after the last item, or in an empty container
	object    bool
}

// item is a member of an object, including its name, or an element of a list.
type item struct {
	name       string
	start, end int
	comma      int    // offset of the comma after it, -1 if there is none
	before     []byte // comments and space
	value      hujson.Value
}

// containerOf returns v as a container. ok is false if v is not one.
func (j *jsonText) containerOf(v hujson.Value) (c container, ok bool) {
	c = container{open: v.StartOffset + j.bom, end: v.EndOffset - 1 + j.bom}
	add := func(name string, start int, before []byte, v hujson.Value) {
		it := item{name: name, start: start + j.bom, end: v.EndOffset + j.bom, comma: -1, before: before, value: v}
		if at := it.end + len(v.AfterExtra); j.text[at] == ',' {
			it.comma = at
		}
		c.items = append(c.items, it)
	}
	switch v := v.Value.(type) {
	case *hujson.Object:
		c.object, c.rest = true, v.AfterExtra
		for _, m := range v.Members {
			name, _ := m.Name.Value.(hujson.Literal)
			add(name.String(), m.Name.StartOffset, m.Name.BeforeExtra, m.Value)
		}
	case *hujson.Array:
		c.rest = v.AfterExtra
		for _, e := range v.Elements {
			add("", e.StartOffset, e.BeforeExtra, e)
		}
	default:
		return c, false
	}
	return c, true
}

// member returns the index of the member of an object with a name. Of several it returns the last, as JSON parsers do.
func (c container) member(name string) (int, bool) {
	for i, it := range slices.Backward(c.items) {
		if it.name == name {
			return i, true
		}
	}
	return 0, false
}

// walk follows path through objects. It returns the deepest container that exists and how many names lead to it. It is
// an error if the value of a name is not a container.
func (j *jsonText) walk(path []string) (c container, n int, err error) {
	c, _ = j.containerOf(j.root)
	for n < len(path) {
		i, ok := c.member(path[n])
		if !ok || !c.object {
			return c, n, nil
		}
		next, ok := j.containerOf(c.items[i].value)
		if !ok {
			return c, n, fmt.Errorf("%s is neither an object nor a list", strings.Join(path[:n+1], "."))
		}
		c, n = next, n+1
	}
	return c, n, nil
}

// add appends an item to a container.
func (j *jsonText) add(c container, name string, value any) {
	newline, unit := j.newline(), j.unit()
	multiline := len(c.items) == 0 || bytes.ContainsAny(j.text[c.open:c.end], "\n")
	base := j.indentAt(c.open)
	indent := base + unit
	if n := len(c.items); n > 0 && multiline {
		if own, alone := j.lineStart(c.items[n-1].start); alone {
			indent = own
		}
	}
	text := render(value, indent, unit, newline, multiline)
	if c.object {
		text = render(name, "", "", newline, false) + ": " + text
	}
	lead := newline + indent
	if !multiline {
		lead = " "
	}
	if len(c.items) == 0 {
		tail := newline + base
		if bytes.ContainsAny(c.rest, "\n") {
			tail = "" // there is a line break before the bracket
		}
		j.splice(c.open+1, lead+text+tail)
		return
	}
	last := c.items[len(c.items)-1]
	if last.comma >= 0 {
		at := last.comma + 1 + len(bytes.TrimRight(c.rest, " \t\r\n"))
		j.splice(at, lead+text+",")
		return
	}
	if kept := len(bytes.TrimRight(c.rest, " \t\r\n")); kept > 0 { // a comment follows: it stays with its item
		j.splice(last.end+kept, lead+text)
		j.splice(last.end, ",")
		return
	}
	j.splice(last.end, ","+lead+text)
}

// remove removes the item i of a container, with the space before it and its comma.
func (j *jsonText) remove(c container, i int) {
	it := c.items[i]
	if len(c.items) == 1 && len(bytes.TrimSpace(it.before)) == 0 && len(bytes.TrimSpace(c.rest)) == 0 &&
		len(bytes.TrimSpace(it.value.AfterExtra)) == 0 {
		j.cut(c.open+1, c.end)
		return
	}
	comma := it.comma
	if comma < 0 && i > 0 {
		comma = c.items[i-1].comma
	}
	from := it.start - len(it.before) + len(bytes.TrimRight(it.before, " \t\r\n"))
	if last := it.before[bytes.LastIndexByte(bytes.TrimRight(it.before, " \t\r\n"), '\n')+1:]; bytes.Contains(last,
		[]byte("//")) && !j.lineEnds(it.end, it.comma) {
		from = it.start // the line break before it ends a comment
	}
	if comma > from {
		j.cut(comma, comma+1)
		comma = -1
	}
	j.cut(from, it.end)
	if comma >= 0 {
		j.cut(comma, comma+1)
	}
}

// lineEnds reports whether only space follows an offset in its line, apart from a comma.
func (j *jsonText) lineEnds(at, comma int) bool {
	rest := j.text[at:]
	if comma >= at {
		rest = slices.Concat(j.text[at:comma], j.text[comma+1:])
	}
	line, _, found := bytes.Cut(rest, []byte("\n"))
	return found && len(bytes.TrimSpace(line)) == 0
}

// newline returns the line ending of the file.
func (j *jsonText) newline() string {
	if bytes.Contains(j.text, []byte("\r\n")) {
		return "\r\n"
	}
	return "\n"
}

// unit returns the indentation of one level: that of the first indented line, else two spaces.
func (j *jsonText) unit() string {
	for line := range bytes.Lines(j.text) {
		body := bytes.TrimLeft(line, " \t")
		indent := line[:len(line)-len(body)]
		if len(indent) > 0 && len(indent) <= 8 && len(bytes.TrimSpace(body)) > 0 && body[0] != '*' {
			return string(indent)
		}
	}
	return "  "
}

// indentAt returns the indentation of the line at an offset.
func (j *jsonText) indentAt(at int) string {
	start := max(bytes.LastIndexByte(j.text[:at], '\n')+1, j.bom)
	line := j.text[start:at]
	return string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
}

// lineStart returns the indentation of the line at an offset, and whether there is nothing else before the offset.
func (j *jsonText) lineStart(at int) (indent string, alone bool) {
	indent = j.indentAt(at)
	start := max(bytes.LastIndexByte(j.text[:at], '\n')+1, j.bom)
	return indent, at-start == len(indent)
}

// render returns a value as JSON for a settings file, on several indented lines if multiline is set.
func render(value any, indent, unit, newline string, multiline bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if multiline {
		enc.SetIndent(indent, unit)
	}
	if err := enc.Encode(value); err != nil {
		panic(err) // values are made in this package
	}
	return strings.ReplaceAll(strings.TrimSuffix(b.String(), "\n"), "\n", newline)
}

// plain returns a value of the file as encoding/json decodes it.
func plain(v hujson.Value) any {
	v = v.Clone()
	v.Standardize()
	var out any
	if json.Unmarshal(v.Pack(), &out) != nil {
		return nil
	}
	return out
}

// plainOf returns a value of this package as encoding/json decodes it.
func plainOf(value any) any {
	b, err := json.Marshal(value)
	if err != nil {
		panic(err) // values are made in this package
	}
	var out any
	_ = json.Unmarshal(b, &out) // b was encoded above
	return out
}

func same(v hujson.Value, value any) bool { return reflect.DeepEqual(plain(v), plainOf(value)) }
