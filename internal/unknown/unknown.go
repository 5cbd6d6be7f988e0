// Package unknown keeps the fields of records in JSON that this program does not know, since a newer one wrote them: a
// record that is read, changed and written loses nothing, also while nodes of a fleet run different versions.
//
// A struct keeps them in a field of type [Fields], over which encoding/json is to pass (json:"-"). [Unmarshal] fills
// such fields in a value and in the structs in it, and [Marshal] writes them. Other readers and writers of JSON neither
// see nor show them.
package unknown

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
)

// Fields are the unknown fields of a struct: a JSON object, or empty if there are none.
type Fields string

// Unmarshal is [json.Unmarshal], and keeps unknown fields. V points to a zero value.
func Unmarshal(data []byte, v any) error {
	value := reflect.ValueOf(v).Elem()
	if shapeOf(value.Type()) == nil {
		return json.Unmarshal(data, v)
	}
	strict := json.NewDecoder(bytes.NewReader(data))
	strict.DisallowUnknownFields()
	if strict.Decode(v) == nil && len(bytes.TrimSpace(data[strict.InputOffset():])) == 0 {
		return nil
	}
	if err := json.Unmarshal(data, v); err != nil {
		return err
	}
	_, err := change(value, data, func(v reflect.Value, s *shape, object map[string]json.RawMessage) error {
		for name := range object {
			if s.knows(name) {
				delete(object, name)
			}
		}
		if s.own == nil || len(object) == 0 {
			return nil
		}
		text, err := json.Marshal(object)
		v.FieldByIndex(s.own).SetString(string(text))
		return err
	})
	return err
}

// Marshal is [json.Marshal], with unknown fields. If there are some, fields are in the order of their names.
func Marshal(v any) ([]byte, error) {
	data, err := json.Marshal(v)
	if err != nil || !has(reflect.ValueOf(v)) {
		return data, err
	}
	return change(reflect.ValueOf(v), data, func(v reflect.Value, s *shape, object map[string]json.RawMessage) error {
		if s.own == nil || v.FieldByIndex(s.own).Len() == 0 {
			return nil
		}
		var unknown map[string]json.RawMessage
		err := json.Unmarshal([]byte(v.FieldByIndex(s.own).String()), &unknown)
		for name, value := range unknown {
			if !s.knows(name) { // it may be known to the struct that this one is embedded in
				object[name] = value
			}
		}
		return err
	})
}

// has reports whether there are unknown fields in a value.
func has(v reflect.Value) bool {
	s := shapeOf(v.Type())
	switch {
	case s == nil || v.Kind() == reflect.Pointer && v.IsNil():
		return false
	case v.Kind() == reflect.Pointer:
		return has(v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			if has(v.Index(i)) {
				return true
			}
		}
		return false
	case s.own != nil && v.FieldByIndex(s.own).Len() > 0:
		return true
	}
	for _, index := range s.inner {
		if has(v.FieldByIndex(index)) {
			return true
		}
	}
	return false
}

// change returns data, the JSON of v, after do was called with the object of each struct in v that has a shape.
func change(v reflect.Value, data []byte,
	do func(v reflect.Value, s *shape, object map[string]json.RawMessage) error,
) ([]byte, error) {
	if v.Kind() == reflect.Pointer {
		if v.IsNil() {
			return data, nil
		}
		return change(v.Elem(), data, do)
	}
	if v.Kind() == reflect.Slice {
		var list []json.RawMessage
		err := json.Unmarshal(data, &list)
		for i := 0; err == nil && i < min(len(list), v.Len()); i++ {
			list[i], err = change(v.Index(i), list[i], do)
		}
		if err != nil {
			return nil, err
		}
		return json.Marshal(list)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(data, &object); err != nil || object == nil {
		return data, err
	}
	s := shapeOf(v.Type())
	for name, index := range s.inner {
		if inner, ok := object[name]; ok {
			var err error
			if object[name], err = change(v.FieldByIndex(index), inner, do); err != nil {
				return nil, err
			}
		}
	}
	if err := do(v, s, object); err != nil {
		return nil, err
	}
	return json.Marshal(object)
}

// shape is what is to be known of a struct that has a field of type Fields, or such structs in it.
type shape struct {
	own   []int            // the index of that field; nil: it has none
	names []string         // of its fields in JSON
	inner map[string][]int // the index of those that have such structs in them, by name
}

// knows reports whether a field of a name is known. As encoding/json has it, case does not matter.
func (s *shape) knows(name string) bool {
	return slices.ContainsFunc(s.names, func(known string) bool { return strings.EqualFold(known, name) })
}

var shapes sync.Map // of *shape, by reflect.Type

// shapeOf returns the shape of a struct, or of what a list has or a pointer leads to; nil if it keeps nothing.
func shapeOf(t reflect.Type) *shape {
	if s, ok := shapes.Load(t); ok {
		return s.(*shape) //nolint:forcetypeassert // nothing else is stored
	}
	s := newShape(t, nil)
	shapes.Store(t, s)
	return s
}

// newShape is shapeOf, in types that are looked at.
func newShape(t reflect.Type, in []reflect.Type) *shape {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || slices.Contains(in, t) {
		return nil
	}
	s := &shape{inner: map[string][]int{}}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Type == reflect.TypeFor[Fields]():
			s.own = f.Index
		case name == "-" || !f.IsExported() || f.Anonymous && name == "":
		default:
			if name == "" {
				name = f.Name
			}
			s.names = append(s.names, name)
			if newShape(f.Type, append(in, t)) != nil {
				s.inner[name] = f.Index
			}
		}
	}
	if s.own == nil && len(s.inner) == 0 {
		return nil
	}
	return s
}
