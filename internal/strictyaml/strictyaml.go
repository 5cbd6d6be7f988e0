// Package strictyaml reads YAML into structs, and refuses what the structs do not have.
//
// [Decode] walks the tree of YAML by hand, so that every error has a line, a column and a key: an unknown key, a key
// that comes twice, a value of the wrong kind. The tag yaml of a field is its key, and its tag oneof lists the values
// that a text may have. A field of type [Map] takes a mapping whose keys are not known beforehand, in order.
// Anchors, aliases, merge keys and tags are refused, so that a text never gives more than stands in it.
package strictyaml

import (
	"encoding"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/parser"
)

// maxNesting is how many brackets may be open, and how many lists may begin in one line. The parser takes quadratic
// time: 20,000 levels take two seconds.
const maxNesting = 1000

// Place is a place in a YAML text, counted from 1. It is zero where the place is not known.
type Place struct{ Line, Column int }

// Error is a mistake at a place of a YAML text.
type Error struct {
	Place

	Key string // such as rules[0].host; empty for a mistake that concerns no value of a key
	Err error
}

// Error names the key and the mistake in its value, and not the place.
func (e *Error) Error() string {
	if e.Key == "" {
		return e.Err.Error()
	}
	return e.Key + ": " + e.Err.Error()
}

// Unwrap returns the mistake.
func (e *Error) Unwrap() error { return e.Err }

// Map is a mapping of names to texts in the order of its keys.
type Map []Pair

// Pair is a key of a [Map] with its value.
type Pair struct{ Key, Value string }

// Decode sets the fields of the struct to which v points from the document of text. It calls found, which may be nil,
// with each key that it set and the key's place, also for those of elements of lists: rules[0].host. A text without a
// document sets nothing; one with two is refused. Every error is an [*Error].
func Decode(text []byte, v any, found func(key string, at Place)) error {
	docs, err := documents(text)
	if err != nil || len(docs) == 0 {
		return err
	}
	if len(docs) > 1 {
		return &Error{Place: placeOf(docs[1]), Err: errors.New("the file has a second document: write one per file")}
	}
	return decode(reflect.ValueOf(v).Elem(), docs[0], "", nil, found)
}

// DecodeValue sets v, the value of a key, from a text that holds this value alone.
func DecodeValue(text []byte, v reflect.Value, key string) error {
	docs, err := documents(text)
	if err != nil {
		return err
	}
	if len(docs) != 1 {
		return &Error{Key: key, Err: fmt.Errorf("want %s", kindName(v))}
	}
	return decode(v, docs[0], key, nil, nil)
}

// documents parses a YAML text, and returns its documents that are not empty.
func documents(text []byte) (docs []ast.Node, err error) {
	defer func() {
		if r := recover(); r != nil {
			docs, err = nil, &Error{Err: errors.New("this is not YAML")} // a bug of the parser
		}
	}()
	if at, deep := tooDeep(text); deep {
		return nil, &Error{Place: at, Err: fmt.Errorf("more than %d levels of brackets or lists", maxNesting)}
	}
	file, err := parser.ParseBytes(text, 0)
	if err != nil {
		if ye, ok := errors.AsType[yaml.Error](err); ok && ye.GetToken() != nil {
			return nil, &Error{
				Place: Place{ye.GetToken().Position.Line, ye.GetToken().Position.Column}, Err: errors.New(ye.GetMessage()),
			}
		}
		return nil, &Error{Err: err}
	}
	for _, d := range file.Docs {
		if d.Body != nil && d.Body.Type() != ast.CommentType {
			docs = append(docs, d.Body)
		}
	}
	return docs, nil
}

// tooDeep reports whether brackets, or the dashes of lists in one line, nest too deep, and where. It does not look for
// quotes and blocks of text: a text in which so many brackets stay open is none that a person writes.
func tooDeep(text []byte) (at Place, deep bool) {
	line, begin, open, dashes := 1, 0, 0, 0
	for i, c := range text {
		switch c {
		case '\n':
			line, begin, dashes = line+1, i+1, 0
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '-', '?', ':':
			if i+1 < len(text) && text[i+1] == ' ' {
				dashes++
			}
		}
		if open > maxNesting || dashes > maxNesting {
			return Place{line, i - begin + 1}, true
		}
	}
	return Place{}, false
}

// decode sets v, the value of a key, from a node of the YAML text.
func decode(v reflect.Value, n ast.Node, key string, oneof []string, found func(string, Place)) error {
	at := placeOf(n)
	wrong := func(format string, args ...any) error { return &Error{at, key, fmt.Errorf(format, args...)} }
	switch n := n.(type) {
	case *ast.AnchorNode, *ast.AliasNode, *ast.MergeKeyNode:
		return wrong("anchors and aliases are not supported: write the value itself")
	case *ast.TagNode:
		return wrong("tags are not supported: write the plain value")
	case *ast.NullNode, nil:
		return nil // a key without a value keeps its default
	case *ast.MappingNode:
		return decodeMapping(v, n.Values, at, key, found)
	case *ast.MappingValueNode:
		return decodeMapping(v, []*ast.MappingValueNode{n}, at, key, found)
	case *ast.SequenceNode:
		if v.Kind() != reflect.Slice || v.Type() == mapType {
			return wrong("want %s, not a list", kindName(v))
		}
		list := reflect.MakeSlice(v.Type(), len(n.Values), len(n.Values))
		for i, e := range n.Values {
			name := fmt.Sprintf("%s[%d]", key, i)
			if found != nil {
				found(name, placeOf(e))
			}
			if err := decode(list.Index(i), e, name, oneof, found); err != nil {
				return err
			}
		}
		v.Set(list)
		return nil
	}
	if v.Kind() == reflect.Struct || v.Kind() == reflect.Slice {
		return wrong("want %s, not %.60s", kindName(v), scalar(n))
	}
	if err := SetText(v, scalar(n), oneof); err != nil {
		return wrong("%w", err)
	}
	return nil
}

var mapType = reflect.TypeFor[Map]()

func decodeMapping(v reflect.Value, pairs []*ast.MappingValueNode, begin Place, path string,
	found func(string, Place),
) error {
	if v.Kind() != reflect.Struct && v.Type() != mapType {
		return &Error{begin, path, fmt.Errorf("want %s, not a mapping", kindName(v))}
	}
	for _, pair := range pairs {
		key := scalar(pair.Key)
		full := strings.TrimPrefix(path+"."+key, ".")
		at := placeOf(pair.Key)
		if _, merge := pair.Key.(*ast.MergeKeyNode); merge {
			return &Error{at, path, errors.New("anchors and aliases are not supported: write the value itself")}
		}
		if v.Type() == mapType {
			p := Pair{Key: key}
			if err := decode(reflect.ValueOf(&p.Value).Elem(), pair.Value, full, nil, nil); err != nil {
				return err
			}
			v.Set(reflect.Append(v, reflect.ValueOf(p)))
			if found != nil {
				found(full, at)
			}
			continue
		}
		field, tag, ok := fieldOf(v, key)
		if !ok {
			return &Error{Place: at, Err: fmt.Errorf("unknown key %q", full)}
		}
		if err := decode(field, pair.Value, full, strings.Fields(tag.Get("oneof")), found); err != nil {
			return err
		}
		if found != nil && field.Kind() != reflect.Struct && pair.Value.Type() != ast.NullType {
			found(full, at)
		}
	}
	return nil
}

// fieldOf finds the field of a struct by its key in the YAML text.
func fieldOf(v reflect.Value, key string) (reflect.Value, reflect.StructTag, bool) {
	for i := range v.NumField() {
		f := v.Type().Field(i)
		if f.Anonymous { // its keys belong to the outer struct
			if field, tag, ok := fieldOf(v.Field(i), key); ok {
				return field, tag, true
			}
		} else if f.Tag.Get("yaml") == key {
			return v.Field(i), f.Tag, true
		}
	}
	return reflect.Value{}, "", false
}

// scalar returns the text of a key or a plain value in YAML.
func scalar(n ast.Node) string {
	switch n := n.(type) {
	case *ast.StringNode:
		return n.Value
	case *ast.LiteralNode:
		return n.Value.Value
	}
	return n.GetToken().Value
}

// placeOf returns the place of a node in the YAML text; zero if it is not known.
func placeOf(n ast.Node) Place {
	if n == nil || n.GetToken() == nil || n.GetToken().Position == nil {
		return Place{}
	}
	return Place{n.GetToken().Position.Line, n.GetToken().Position.Column}
}

// kindName names the kind of value that a key has in YAML.
func kindName(v reflect.Value) string {
	switch {
	case v.Kind() == reflect.Struct || v.Type() == mapType:
		return "a mapping of keys"
	case v.Kind() == reflect.Slice:
		return "a list"
	}
	return "one value"
}

// SetText sets a text, number, boolean, duration, or what reads itself from a text, to the value that a text names. A
// *bool is nil for auto. oneof lists the values that are allowed for a text; empty: all.
func SetText(v reflect.Value, text string, oneof []string) error {
	if v.CanAddr() {
		if reader, ok := reflect.TypeAssert[encoding.TextUnmarshaler](v.Addr()); ok {
			return reader.UnmarshalText([]byte(text))
		}
	}
	switch v.Interface().(type) {
	case time.Duration:
		d, err := time.ParseDuration(text)
		if err != nil {
			return fmt.Errorf("%q is not a duration: write it like 30s, 15m or 24h", text)
		}
		v.SetInt(int64(d))
		return nil
	case *bool:
		if text == "auto" {
			v.SetZero()
			return nil
		}
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is not auto, true or false", text)
		}
		v.Set(reflect.ValueOf(new(text == "true")))
		return nil
	}
	switch v.Kind() {
	case reflect.String:
		if len(oneof) > 0 && !slices.Contains(oneof, text) {
			return fmt.Errorf("%q is not one of %s", text, strings.Join(oneof, ", "))
		}
		v.SetString(text)
	case reflect.Bool:
		if text != "true" && text != "false" {
			return fmt.Errorf("%q is not true or false", text)
		}
		v.SetBool(text == "true")
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return fmt.Errorf("%q is not a whole number", text)
		}
		v.SetInt(int64(n))
	default:
		panic("a struct has a field of type " + v.Type().String())
	}
	return nil
}
