package agents

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// addTOML adds the missing settings to a TOML file: as tables between two marks at its end or, if a table exists,
// between marks below its header. It parses the result of every edit and discards an edit that changes anything else.
func addTOML(text []byte, wants []Want) (edited, error) {
	before, err := readTOML(text)
	if err != nil {
		return edited{}, err
	}
	e := edited{text: text}
	for _, table := range tables(wants) {
		next, note := addTable(e.text, before, table)
		if note != "" {
			e.notes = append(e.notes, note)
		}
		if next.text == nil {
			continue
		}
		at := next.put[0].At
		put := splices(e.put)
		put.insert(at, next.put[0].Text)
		e.text, e.put, e.wants = next.text, put, append(e.wants, next.wants...)
		if before, err = readTOML(e.text); err != nil {
			return edited{}, err
		}
	}
	return e, nil
}

// table has the wanted settings of one TOML table.
type table struct {
	path  []string
	wants []Want
	group string
}

// tables groups the settings of a TOML file by their table, in order.
func tables(wants []Want) (list []table) {
	for _, w := range wants {
		path := w.Path[:len(w.Path)-1]
		i := slices.IndexFunc(list, func(t table) bool { return slices.Equal(t.path, path) })
		if i < 0 {
			i = len(list)
			list = append(list, table{path: path, group: w.Group})
		}
		list[i].wants = append(list[i].wants, w)
	}
	return list
}

// addTable adds one table of TOML. It returns no text if there is nothing to do or the edit is not possible.
func addTable(text []byte, before map[string]any, t table) (next edited, note string) {
	name := strings.Join(t.path, ".")
	var missing []Want
	for _, w := range t.wants {
		switch have, ok := lookup(before, w.Path); {
		case !ok:
			missing = append(missing, w)
		case reflect.DeepEqual(have, tomlOf(w.Value)):
		case t.group != "":
			return edited{}, fmt.Sprintf("%s already has another value: %s was not added", w.Name(), t.group)
		default:
			return edited{}, name + " already exists with other values and was not changed"
		}
	}
	if len(missing) == 0 {
		return edited{}, ""
	}
	keys, err := settings(missing)
	if err != nil {
		return edited{}, err.Error()
	}
	want := maps.Clone(before)
	for _, w := range missing {
		want = with(want, w.Path, tomlOf(w.Value))
	}
	ways := []func() edited{
		func() edited { return addBlock(text, "["+tomlKey(t.path)+"]\n"+keys, hashMarks) },
		func() edited { return addBelow(text, t.path, keys) },
	}
	for _, way := range ways {
		next := way()
		if after, err := readTOML(next.text); err == nil && len(next.put) == 1 && reflect.DeepEqual(after, want) {
			next.wants = missing
			return next, ""
		}
	}
	return edited{}, name + " has a form that cannot be edited automatically; add this by hand:\n" + keys
}

// addBelow inserts a block below the header of a TOML table.
func addBelow(text []byte, path []string, body string) edited {
	at := 0
	for line := range strings.Lines(string(text)) {
		at += len(line)
		inner, ok := strings.CutPrefix(strings.TrimSpace(line), "[")
		inner, _, closed := strings.Cut(inner, "]")
		if !ok || !closed || strings.HasPrefix(inner, "[") || !slices.Equal(headerNames(inner), path) {
			continue
		}
		block := addBlock(nil, body, hashMarks).put[0].Text
		if !strings.HasSuffix(line, "\n") {
			block = "\n" + block
		}
		return edited{text: slices.Concat(text[:at], []byte(block), text[at:]), put: []Splice{{at, block}}}
	}
	return edited{}
}

// headerNames splits the name of a table of TOML and removes quotes. It does not support dots in quotes.
func headerNames(header string) []string {
	names := strings.Split(header, ".")
	for i, n := range names {
		names[i] = strings.Trim(strings.TrimSpace(n), `"'`)
	}
	return names
}

// takeTOML removes our blocks from a TOML file.
func takeTOML(text []byte) (rest []byte, n int, err error) {
	if _, err := readTOML(text); err != nil {
		return nil, 0, err
	}
	rest, blocks := takeBlocks(text, hashMarks)
	after, err := readTOML(rest)
	if err != nil || blocks == 0 {
		return text, 0, err
	}
	before, err := readTOML(text)
	return rest, leaves(before) - leaves(after), err
}

// leaves counts the values of a TOML file, so that takeTOML can tell how many settings it removed.
func leaves(v any) (n int) {
	m, ok := v.(map[string]any)
	if !ok {
		return 1
	}
	for _, e := range m {
		n += leaves(e)
	}
	return n
}

// readTOML reads a TOML file. The error says where a mistake is, or that the file nests too deep for the parser.
func readTOML(text []byte) (map[string]any, error) {
	if deeper(text, maxDepth) {
		return nil, fmt.Errorf("the file nests deeper than %d levels", maxDepth)
	}
	m := map[string]any{}
	err := toml.Unmarshal(text, &m)
	if de, ok := errors.AsType[*toml.DecodeError](err); ok {
		row, column := de.Position()
		return nil, fmt.Errorf("line %d, column %d: %s", row, column, strings.TrimPrefix(de.Error(), "toml: "))
	}
	return m, err
}

// settings returns settings as the lines of a TOML table.
func settings(wants []Want) (string, error) {
	var b strings.Builder
	for _, w := range wants {
		line, err := toml.Marshal(map[string]any{w.Path[len(w.Path)-1]: w.Value})
		if err != nil {
			return "", err
		}
		b.Write(line)
	}
	return b.String(), nil
}

// tomlKey returns names as the key of a TOML table. Our names need no quotes.
func tomlKey(path []string) string { return strings.Join(path, ".") }

// tomlOf returns a value of this package as the TOML parser decodes it.
func tomlOf(v any) any {
	if list, ok := v.([]string); ok {
		out := make([]any, len(list))
		for i, s := range list {
			out[i] = s
		}
		return out
	}
	return plainOf(v)
}

// lookup returns the value of TOML at a path of tables. It reports true also for another value in the place of a table.
func lookup(m map[string]any, path []string) (any, bool) {
	v, ok := m[path[0]]
	if !ok || len(path) == 1 {
		return v, ok
	}
	inner, ok := v.(map[string]any)
	if !ok {
		return v, true // another value is in its place
	}
	return lookup(inner, path[1:])
}

// with returns a copy of m, the tables of a TOML file, with a value at a path.
func with(m map[string]any, path []string, v any) map[string]any {
	out := maps.Clone(m)
	if out == nil {
		out = map[string]any{}
	}
	if len(path) == 1 {
		out[path[0]] = v
		return out
	}
	inner, _ := out[path[0]].(map[string]any)
	out[path[0]] = with(inner, path[1:], v)
	return out
}
