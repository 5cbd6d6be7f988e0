package formats

import (
	"bytes"
	"context"
	"encoding/json"
	"iter"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/mdwrite"
)

// The sizes of arrays that become tables.
const (
	minTableRows    = 5  // arrays of at least as many equal flat objects become a table: shorter ones read as well as JSON
	maxTableColumns = 24 // and with at most as many members each: wider rows do not
)

// JSON returns valid JSON (RFC 8259) as markdown: indented code between fences, with numbers and order unchanged. An
// array of flat objects with the same keys, alone or as a member of the outermost object, becomes a table. raw must be
// valid. What became a table is named in its place.
func JSON(ctx context.Context, raw []byte) string {
	if table, ok := jsonTable(ctx, raw); ok {
		return table
	}
	// The outermost object may have tables as members: they are written below it, and the rest stays JSON.
	members, ok := jsonMembers(raw)
	if !ok {
		return mdwrite.Fence(indented(raw), "json")
	}
	var tables strings.Builder
	rest := bytes.NewBufferString("{")
	for _, m := range members {
		if rest.Len() > 1 {
			rest.WriteByte(',')
		}
		rest.Write(m.key)
		rest.WriteByte(':')
		if table, ok := jsonTable(ctx, m.value); ok {
			tables.WriteString("\n\n## ")
			tables.WriteString(mdwrite.Escaped(chars.Clip(unquoted(m.key)), true, '\n'))
			tables.WriteString("\n\n" + table)
			rest.WriteString(`"(the table below)"`)
			continue
		}
		rest.Write(m.value)
	}
	if tables.Len() == 0 {
		return mdwrite.Fence(indented(raw), "json")
	}
	rest.WriteByte('}')
	return mdwrite.Fence(indented(rest.Bytes()), "json") + tables.String()
}

// indented returns valid JSON indented by two spaces a level, or unchanged if indenting would make it grow out of
// proportion. Deep nesting would make output of the square of the input.
func indented(raw []byte) string {
	size, depth := 0, 0
	for _, c := range punctuation(raw) {
		switch c {
		case '{', '[':
			depth++
			size += 2 * depth
		case '}', ']':
			depth--
			size += 2 * depth
		case ',':
			size += 2 * depth
		}
	}
	var out bytes.Buffer
	if size > 3*len(raw)+1<<16 || json.Indent(&out, raw, "", "  ") != nil {
		return string(raw)
	}
	return out.String()
}

// punctuation yields the bytes of JSON that stand in no string, with their places. It reads JSON without decoding it,
// so that numbers and order stay as they are.
func punctuation(raw []byte) iter.Seq2[int, byte] {
	return func(yield func(int, byte) bool) {
		quoted := false
		for i := 0; i < len(raw); i++ {
			switch c := raw[i]; {
			case quoted && c == '\\':
				i++
			case c == '"':
				quoted = !quoted
			case !quoted && !yield(i, c):
				return
			}
		}
	}
}

// member is a member of an object; key and value are JSON. They are slices of the text.
type member struct{ key, value []byte }

// jsonMembers returns the members of an object in order, or false if raw is not an object.
func jsonMembers(raw []byte) ([]member, bool) {
	var list []member
	ok := eachValue(raw, '{', func(key, value []byte) bool {
		list = append(list, member{key, value})
		return true
	})
	return list, ok
}

// eachValue calls do for each member of an object or element of an array until do returns false. raw must be valid
// JSON; open is the bracket that begins an object or an array. It returns false if raw does not begin with open or do
// returned false. key is nil for elements of an array.
func eachValue(raw []byte, open byte, do func(key, value []byte) bool) bool {
	raw = bytes.TrimSpace(raw)
	if len(raw) < 2 || raw[0] != open {
		return false
	}
	var key []byte
	depth, start := 0, 1
	for i, c := range punctuation(raw) {
		switch {
		case c == '{' || c == '[':
			depth++
		case c == ':' && depth == 1 && open == '{':
			key, start = bytes.TrimSpace(raw[start:i]), i+1
		case c == ',' && depth == 1, (c == '}' || c == ']') && depth == 1:
			if value := bytes.TrimSpace(raw[start:i]); len(value) > 0 && !do(key, value) {
				return false
			}
			start = i + 1
			if c != ',' {
				depth--
			}
		case c == '}' || c == ']':
			depth--
		}
	}
	return true
}

// jsonTable returns an array of flat objects with the same keys as a table. It returns false for other values, short
// arrays and wide objects. Values are written as they stand, strings without quotes. More than minTableRows lines, with
// the header, make a table.
func jsonTable(ctx context.Context, raw []byte) (string, bool) {
	var header []string
	table := mdwrite.Rows{}
	ok := eachValue(raw, '[', func(_, element []byte) bool {
		guard.Check(ctx)
		var names, cells []string
		flat := eachValue(element, '{', func(key, value []byte) bool {
			if value[0] == '{' || value[0] == '[' || len(names) == maxTableColumns {
				return false
			}
			names, cells = append(names, string(key)), append(cells, unquoted(value))
			return true
		})
		if !flat || len(names) == 0 {
			return false
		}
		if header == nil {
			header = names
			titles := make([]string, len(names))
			for i, name := range names {
				titles[i] = unquoted([]byte(name))
			}
			table.Add(titles)
		}
		if len(names) != len(header) {
			return false
		}
		for i := range names {
			if names[i] != header[i] {
				return false
			}
		}
		table.Add(cells)
		return true
	})
	return strings.TrimRight(table.String(), "\n"), ok && table.N > minTableRows
}

// unquoted returns the text of a JSON string, and other values unchanged. It is what a cell or a heading shows.
func unquoted(raw []byte) string {
	var s string
	if len(raw) > 0 && raw[0] == '"' && json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}
