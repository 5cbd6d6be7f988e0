package mcp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/clip"
)

// A kind is the type that a parameter of a tool has in JSON Schema.
type kind string

const (
	text    kind = "string"
	integer kind = "integer"
	flag    kind = "boolean"
)

// param is a parameter of a tool.
type param struct {
	name     string
	kind     kind
	about    string
	required bool
	def      any    // default, which the schema has; nil if it is false, 0 or empty
	min, max int    // of an integer: below min is an error, above max is clamped with a note; the schema has neither
	aliases  string // names that models invent for it, separated by spaces; case, _ and - are ignored
}

// schema returns the JSON Schema of a tool's parameters, which are its arguments, in their order, for the list of
// tools. It is written by hand, because a map would sort the names, and models fill in parameters in the order in which
// they stand. It allows others than these: read ignores an unknown argument and names it in the answer, where a
// validating client would refuse the whole call.
func schema(params []param) json.RawMessage {
	var b bytes.Buffer
	put := func(v any) {
		enc := json.NewEncoder(&b)
		// HTML is not escaped: a < in a description would cost the agent six bytes.
		enc.SetEscapeHTML(false)
		_ = enc.Encode(v) // strings, numbers and lists of them
		b.Truncate(b.Len() - 1)
	}
	var required []string
	b.WriteString(`{"type":"object","properties":{`)
	for i, p := range params {
		if i > 0 {
			b.WriteByte(',')
		}
		put(p.name)
		b.WriteString(`:{"type":`)
		put(p.kind)
		if p.about != "" {
			b.WriteString(`,"description":`)
			put(p.about)
		}
		if p.def != nil {
			b.WriteString(`,"default":`)
			put(p.def)
		}
		b.WriteByte('}')
		if p.required {
			required = append(required, p.name)
		}
	}
	b.WriteByte('}')
	if required != nil {
		b.WriteString(`,"required":`)
		put(required)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// arguments are the values of a call of a tool by the names of its parameters, as read returns them: text is a string,
// an integer is an int, a flag is a bool. A missing argument has its default, or is not in the map.
type arguments map[string]any

// text, number and flag return an argument, and the zero value of its type if it is missing and has no default.
func (a arguments) text(name string) string { s, _ := a[name].(string); return s }
func (a arguments) number(name string) int  { n, _ := a[name].(int); return n }
func (a arguments) flag(name string) bool   { f, _ := a[name].(bool); return f }

// An argumentError is a mistake in an argument, in the words of the reference server.
type argumentError struct{ what string }

// Error returns the mistake in the argument.
func (e argumentError) Error() string { return "Input validation error: " + e.what }

// read reads a call's arguments: each under its name or an alias, numbers and booleans also as text, null as missing.
// An optional one is missing, too, if it is empty, or "null" as text, which clients make of null. notes name what was
// ignored or clamped.
func read(raw json.RawMessage, params []param) (args arguments, notes []string, err error) {
	given := map[string]any{}
	// Clients leave the arguments of a tool without any out, or send null.
	if raw = bytes.TrimSpace(raw); len(raw) > 0 && !bytes.Equal(raw, []byte("null")) {
		dec := json.NewDecoder(bytes.NewReader(raw))
		dec.UseNumber()
		if err := dec.Decode(&given); err != nil {
			return nil, nil, argumentError{"the arguments are not a JSON object"}
		}
	}
	args = arguments{}
	var unknown []string
	for _, exact := range []bool{true, false} { // a parameter's own name has precedence over its aliases
		// In the order of names, so that the same call gets the same notes.
		for _, name := range sortedKeys(given) {
			value := given[name]
			i := slices.IndexFunc(params, func(p param) bool { return p.name == name })
			if exact != (i >= 0) {
				continue
			}
			if !exact {
				i = slices.IndexFunc(params, func(p param) bool { return p.means(name) })
			}
			if i >= 0 && (value == nil || !params[i].required && (value == "" || value == "null")) {
				continue
			}
			if i < 0 || args[params[i].name] != nil {
				unknown = append(unknown, name)
				continue
			}
			// An argument of the wrong type ends the call; one that is unknown does not, because models invent names, and the
			// call is still useful.
			v, note, err := params[i].take(value)
			if err != nil {
				return nil, nil, err
			}
			if note != "" {
				notes = append(notes, note)
			}
			args[params[i].name] = v
		}
	}
	for _, p := range params {
		if args[p.name] == nil && p.def != nil {
			args[p.name] = p.def
		}
		if p.required && args[p.name] == nil {
			return nil, nil, argumentError{fmt.Sprintf("'%s' is a required property", p.name)}
		}
		if p.required && args[p.name] == "" {
			return nil, nil, argumentError{fmt.Sprintf("'%s' is empty", p.name)}
		}
	}
	if len(unknown) > 0 {
		notes = append(notes, "Unknown arguments, ignored: "+enumerate(unknown))
	}
	return args, notes, nil
}

// sortedKeys returns the names of the arguments that a client gave, in order.
func sortedKeys(m map[string]any) []string {
	keys := slices.Sorted(maps.Keys(m))
	return keys
}

// enumerate lists names of arguments that a model has invented, quoted, for a note. It names ten at most and 40
// characters of each: a call may have thousands.
func enumerate(words []string) string {
	const most = 10
	var b strings.Builder
	for i, w := range words[:min(len(words), most)] {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(strconv.Quote(clip.Line(w, 40)))
	}
	if n := len(words) - most; n > 0 {
		fmt.Fprintf(&b, " and %d more", n)
	}
	return b.String()
}

// means reports whether a name that a model gave an argument is the parameter's or an alias of it, apart from case, _
// and -: maxLength, max-length and max_length are the same.
func (p param) means(name string) bool {
	plain := func(s string) string { return strings.NewReplacer("_", "", "-", "").Replace(strings.ToLower(s)) }
	name = plain(name)
	return name == plain(p.name) || slices.ContainsFunc(strings.Fields(p.aliases),
		func(alias string) bool { return plain(alias) == name })
}

// take converts the value of an argument to the type of its parameter, for read. Models send numbers and booleans as
// text and text as numbers, so that each scalar is read by way of its text; a boolean is no number. A number below the
// minimum is an error, because it has no sense; one above the maximum is clamped, and note says so.
func (p param) take(value any) (v any, note string, err error) {
	wrong := func() error {
		b, _ := json.Marshal(value) // it comes from JSON
		return argumentError{fmt.Sprintf("'%s' must be of type %s: %s", p.name, p.kind, clip.Line(string(b), 80))}
	}
	var s string
	switch value := value.(type) {
	case string:
		s = value
	case json.Number:
		s = value.String()
	case bool:
		s = strconv.FormatBool(value)
		if p.kind == integer {
			return nil, "", wrong()
		}
	default:
		return nil, "", wrong()
	}
	switch p.kind {
	case text:
		return strings.ToValidUTF8(s, "\uFFFD"), "", nil
	case flag:
		f, err := strconv.ParseBool(strings.ToLower(strings.TrimSpace(s)))
		if err != nil {
			return nil, "", wrong()
		}
		return f, "", nil
	}
	// As a float first: models write 5.0, and 1e400 has to be clamped like any number that is too large.
	f, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil && !math.IsInf(f, 0) || math.IsNaN(f) || f != math.Trunc(f) {
		return nil, "", wrong()
	}
	switch {
	case f < float64(p.min):
		return nil, "", argumentError{fmt.Sprintf("'%s' must be %d or more: %s", p.name, p.min, clip.Line(s, 40))}
	case p.max > 0 && f > float64(p.max):
		return p.max, fmt.Sprintf("%s was clamped from %s to %d, its maximum", p.name, clip.Line(s, 40), p.max), nil
	}
	// 1<<53 is the last integer that a float holds exactly, and fits an int of 64 bits.
	return int(min(f, 1<<53)), "", nil
}
