package server_test

import (
	"encoding"
	"encoding/json"
	"reflect"
	"testing"
)

// TestEveryFieldOnTheWireHasAName: a field without a tag is written under its Go name, which nobody meant to tell.
func TestEveryFieldOnTheWireHasAName(t *testing.T) {
	seen := map[reflect.Type]bool{}
	var look func(reflect.Type)
	look = func(typ reflect.Type) {
		own := typ.Implements(reflect.TypeFor[json.Marshaler]()) || typ.Implements(reflect.TypeFor[encoding.TextMarshaler]())
		if seen[typ] || own {
			return
		}
		seen[typ] = true
		switch typ.Kind() {
		case reflect.Pointer, reflect.Slice, reflect.Array, reflect.Map:
			look(typ.Elem())
		case reflect.Struct:
			for f := range typ.Fields() {
				tag, tagged := f.Tag.Lookup("json")
				switch {
				case tag == "-", !f.IsExported() && !f.Anonymous:
					continue
				case !tagged && !f.Anonymous:
					t.Errorf("field %s of %s is written as JSON and has no name there", f.Name, typ)
				}
				look(f.Type)
			}
		}
	}
	for _, typ := range newWorld(t, nil).server.JSONTypes() {
		look(typ)
	}
	if len(seen) < 100 {
		t.Errorf("%d types were looked at, want those of all operations", len(seen))
	}
}
