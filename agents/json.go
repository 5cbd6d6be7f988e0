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

	"github.com/readthru/readthru/internal/lazy"
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

// blank reports whether the JSON file is empty.
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

// splice inserts text at an offset of the JSON file.
func (j *jsonText) splice(at int, text string) {
	j.text = slices.Concat(j.text[:at], []byte(text), j.text[at:])
	j.put.insert(at, text)
}

// cut removes bytes of the JSON file.
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

// member returns the index of the member of a JSON object with a name. Of several it returns the last, as JSON parsers
// do.
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

// newline returns the line ending of the JSON file.
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

// plain returns a value of the JSON file as encoding/json decodes it.
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

// same reports whether a value of the JSON file is one of this package.
func same(v hujson.Value, value any) bool { return reflect.DeepEqual(plain(v), plainOf(value)) }

// addJSON adds the missing settings to a JSON file. An empty file becomes an object.
func addJSON(text []byte, wants []Want) (edited, error) {
	j, err := parseJSON(text)
	if err != nil {
		return edited{}, err
	}
	if j.blank() {
		j.splice(len(j.text), "{}\n")
		if err := j.parse(); err != nil {
			return edited{}, err
		}
	}
	e := edited{}
	taken := map[string]string{} // groups that cannot be added completely, with the setting that prevents it
	for _, w := range wants {
		if state, err := j.state(w); err != nil {
			return edited{}, err
		} else if state == other && w.Group != "" && taken[w.Group] == "" {
			taken[w.Group] = w.Name()
			e.notes = append(e.notes, fmt.Sprintf("%s already has another value: %s was not added", w.Name(), w.Group))
		}
	}
	for _, w := range wants {
		state, err := j.state(w)
		switch {
		case err != nil:
			return edited{}, err
		case taken[w.Group] != "":
		case state == equal:
		case state == other:
			e.notes = append(e.notes, w.Name()+" already has another value and was not changed")
		default:
			made, err := j.want(w)
			if err != nil {
				return edited{}, err
			}
			e.wants, e.made = append(e.wants, w), append(e.made, made...)
		}
	}
	if len(j.put) == 1 && string(j.text[j.put[0].At:]) == "{}\n" {
		j.text, j.put = text, nil // there is nothing to add: the file stays empty
	}
	e.text, e.put = j.text, j.put
	return e, nil
}

// state is the state of a wanted setting in a file.
type state int

const (
	absent state = iota
	equal
	other // the setting has another value
)

// state returns the state of a wanted setting. It is an error if something else is in its place.
func (j *jsonText) state(w Want) (state, error) {
	c, n, err := j.walk(w.Path[:len(w.Path)-1])
	if err != nil {
		return absent, err
	}
	if !c.object {
		return absent, fmt.Errorf("%s is a list, not an object", strings.Join(w.Path[:n], "."))
	}
	name := w.Path[len(w.Path)-1]
	if n < len(w.Path)-1 {
		return absent, nil
	}
	i, ok := c.member(name)
	if !ok {
		return absent, nil
	}
	if !w.Item {
		if same(c.items[i].value, w.Value) {
			return equal, nil
		}
		return other, nil
	}
	list, ok := j.containerOf(c.items[i].value)
	if !ok || list.object {
		return absent, fmt.Errorf("%s is not a list", w.Name())
	}
	if slices.ContainsFunc(list.items, func(it item) bool { return same(it.value, w.Value) }) {
		return equal, nil
	}
	return absent, nil
}

// want adds an absent setting to the JSON file, with the objects and the list that it needs. It returns the paths of
// those that it created.
func (j *jsonText) want(w Want) (made [][]string, err error) {
	c, n, err := j.walk(w.Path)
	if err != nil {
		return nil, err
	}
	if n == len(w.Path) { // the list exists
		j.add(c, "", w.Value)
		return nil, j.parse()
	}
	value, containers := w.Value, len(w.Path)-1
	if w.Item {
		value, containers = []any{value}, len(w.Path)
	}
	for i := len(w.Path) - 1; i > n; i-- {
		value = map[string]any{w.Path[i]: value}
	}
	for i := n + 1; i <= containers; i++ {
		made = append(made, slices.Clone(w.Path[:i]))
	}
	j.add(c, w.Path[n], value)
	return made, j.parse()
}

// takeJSON removes settings from a JSON file: those that were added, and those in any form with a command that wants
// have too. Then it removes the objects and lists of made that are empty. It returns the number of removed settings.
func takeJSON(text []byte, put, wants []Want, made [][]string) (rest []byte, n int, err error) {
	j, err := parseJSON(text)
	if err != nil || j.blank() {
		return text, 0, err
	}
	for i, w := range slices.Concat(put, wants) {
		is := func(v hujson.Value) bool { return i < len(put) && same(v, w.Value) || ours(v, w) }
		for {
			went, err := j.drop(w, is)
			if err != nil {
				return nil, 0, err
			}
			if !went {
				break
			}
			n++
		}
	}
	if n == 0 {
		return text, 0, nil
	}
	made = slices.Clone(made)
	slices.SortStableFunc(made, func(a, b []string) int { return len(b) - len(a) })
	for _, path := range made {
		c, depth, err := j.walk(path[:len(path)-1])
		if err != nil || depth < len(path)-1 || !c.object {
			continue // others have changed it
		}
		i, ok := c.member(path[len(path)-1])
		if !ok {
			continue
		}
		inner, ok := j.containerOf(c.items[i].value)
		if !ok || len(inner.items) > 0 || len(bytes.TrimSpace(inner.rest)) > 0 {
			continue
		}
		j.remove(c, i)
		if err := j.parse(); err != nil {
			return nil, 0, err
		}
	}
	return j.text, n, nil
}

// drop removes one setting in the place of w, and reports whether there was one. A value of another kind in that place
// belongs to others.
func (j *jsonText) drop(w Want, is func(hujson.Value) bool) (bool, error) {
	path := w.Path
	if !w.Item {
		path = path[:len(path)-1]
	}
	c, n, err := j.walk(path)
	if err != nil || n < len(path) {
		return false, nil //nolint:nilerr // another kind of value is not ours
	}
	for i, it := range c.items {
		if !w.Item && it.name != w.Path[len(w.Path)-1] || c.object == w.Item {
			continue
		}
		if !is(it.value) {
			continue
		}
		j.remove(c, i)
		return true, j.parse()
	}
	return false, nil
}

// ourCommand matches the command lines that this program writes.
var ourCommand = lazy.Pattern(`(?:^|[/\\'" ])readthru(?:\.exe)?['"]? (hook|mcp)(?: |$)`)

// ours reports whether a value of the JSON file has the same command of ours as w.
func ours(v hujson.Value, w Want) bool {
	want := ourCommand().FindStringSubmatch(words(plainOf(w.Value)))
	have := ourCommand().FindStringSubmatch(words(plain(v)))
	return want != nil && have != nil && want[1] == have[1]
}

// words returns the text of the command and arguments that a JSON value has.
func words(v any) string {
	switch v := v.(type) {
	case string:
		return v
	case []any:
		var all []string
		for _, e := range v {
			if s := words(e); s != "" {
				all = append(all, s)
			}
		}
		return strings.Join(all, " ")
	case map[string]any:
		if s := strings.TrimSpace(words(v["command"]) + " " + words(v["args"])); s != "" {
			return s
		}
		return words(v["hooks"])
	}
	return ""
}
