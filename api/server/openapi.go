package server

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/firecrawl"
)

// object is a JSON object of the OpenAPI document.
type object = map[string]any

// An example is one request of an operation as a test sent it, and what it was answered.
type example struct {
	Path   map[string]string   `json:"path,omitempty"`  // parts of the path
	Query  map[string][]string `json:"query,omitempty"` // query parameters
	Body   any                 `json:"body,omitempty"`
	Answer any                 `json:"answer,omitempty"` // JSON or text; long texts and lists are cut
}

// recorded are the examples of requests and answers by the ids of their operations, which a test records.
//
//go:embed examples.json
var recorded []byte

// recordedExamples reads the examples.
func recordedExamples() (examples map[string]example, err error) {
	if err := json.Unmarshal(recorded, &examples); err != nil {
		return nil, fmt.Errorf("read the recorded examples: %w", err)
	}
	return examples, nil
}

// getOpenAPI describes the operations in OpenAPI 3.1. Schemas come from the Go types that are sent as JSON, examples
// from a test that asks for each of them.
func (s *Server) getOpenAPI(context.Context, api.None) (*object, error) {
	examples, err := recordedExamples()
	if err != nil {
		return nil, err
	}
	t := &types{schemas: object{}, names: map[reflect.Type]string{}}
	t.add("Problem", reflect.TypeFor[api.Error]())
	t.schemas["Problem"].(object)["properties"].(object)["code"] = object{"type": "string", "enum": api.Codes}
	paths := map[string]object{}
	for _, o := range s.table {
		if paths[o.Path] == nil {
			paths[o.Path] = object{}
		}
		paths[o.Path][strings.ToLower(o.Method)] = describe(o.Operation, t, examples[o.ID])
	}
	return &object{
		"openapi": "3.1.0",
		"info": object{
			"title": "readthru", "version": s.o.Version,
			"description": "A caching forward proxy for agents that returns pages as markdown.",
			"license":     object{"name": "Apache 2.0", "identifier": "Apache-2.0"},
		},
		"servers": []any{object{"url": "/", "description": "the admin port that answers this"}},
		"paths":   paths,
		"components": object{
			"schemas":         t.schemas,
			"securitySchemes": object{"token": object{"type": "http", "scheme": "bearer"}},
		},
	}, nil
}

// describe describes an operation in OpenAPI 3.1.
func describe(o *api.Operation, t *types, e example) object {
	media, result := cmp.Or(o.Media, "text/plain"), object{"type": "string"}
	if o.Result != nil {
		media, result = "application/json", t.of(o.Result)
	}
	wrong := object{"application/problem+json": object{"schema": t.of(reflect.TypeFor[api.Error]())}}
	if firecrawl.Owns(o.Path) {
		wrong = object{"application/json": object{"schema": t.of(reflect.TypeFor[firecrawl.Refusal]())}}
	}
	refusal := object{"description": "what went wrong", "content": wrong}
	op := object{
		"operationId": o.ID,
		"summary":     o.Summary,
		"responses": object{
			"200":     object{"description": "the answer", "content": object{media: content(result, e.Answer)}},
			"4XX":     refusal,
			"default": refusal,
		},
		"security": []any{object{}, object{"token": []string{}}},
	}
	if o.Open {
		op["security"] = []any{}
	}
	var params []any
	for part := range strings.SplitSeq(o.Path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			name = strings.TrimSuffix(name, "}")
			p := object{"name": name, "in": "path", "required": true, "schema": object{"type": "string"}}
			if v, ok := e.Path[name]; ok {
				p["example"] = v
			}
			params = append(params, p)
		}
	}
	for _, p := range o.Query {
		params = append(params, describeParam(p, t, e.Query[p.Name]))
	}
	if params != nil {
		op["parameters"] = params
	}
	switch {
	case o.Body != nil:
		op["requestBody"] = object{"required": true, "content": object{"application/json": content(t.of(o.Body), e.Body)}}
	case o.Content != "application/json" && o.Method == http.MethodPost:
		op["requestBody"] = object{"required": true, "content": object{o.Content: content(object{"type": "string"}, nil)}}
	}
	return op
}

// content describes content of a schema, with an example unless that is nil.
func content(schema object, example any) object {
	c := object{"schema": schema}
	if example != nil {
		c["example"] = example
	}
	return c
}

// describeParam describes a query parameter in OpenAPI, of which values is an example.
func describeParam(p api.Param, t *types, values []string) object {
	schema := object{"type": "string"}
	var example any
	if len(values) > 0 {
		example = values[0]
	}
	switch p.Of {
	case nil, reflect.TypeFor[string](), reflect.TypeFor[*string](), reflect.TypeFor[time.Duration](),
		reflect.TypeFor[time.Time]():
		// as text: a time may be an age
	case reflect.TypeFor[bool]():
		schema = object{"type": "string", "enum": []string{"1", "0", "true", "false"}}
	default:
		schema = t.of(p.Of)
		switch {
		case len(values) == 0:
		case schema["type"] == "array":
			example = values
		default:
			if n, err := strconv.Atoi(values[0]); err == nil {
				example = n
			}
		}
	}
	if p.High != 0 {
		schema["maximum"] = p.High
	}
	if p.Low != 0 {
		schema["minimum"] = p.Low
	}
	d := object{"name": p.Name, "in": "query", "schema": schema}
	if p.About != "" {
		d["description"] = p.About
	}
	if example != nil {
		d["example"] = example
	}
	return d
}

// types describes the Go types of answers and bodies by their JSON form, as schemas of OpenAPI. Structs with a name get
// a schema of their own, to which others refer.
type types struct {
	schemas object
	names   map[reflect.Type]string
}

// A describer knows the schema of its own JSON form.
type describer interface{ JSONSchema() map[string]any }

// of returns the schema of a type, by its kind, or by what the type says of itself.
func (t *types) of(typ reflect.Type) object {
	if typ.Kind() == reflect.Pointer {
		return t.of(typ.Elem())
	}
	if d, ok := reflect.TypeAssert[describer](reflect.Zero(typ)); ok {
		return d.JSONSchema()
	}
	switch typ {
	case reflect.TypeFor[time.Time]():
		return object{"type": "string", "format": "date-time"}
	case reflect.TypeFor[json.RawMessage]():
		return object{}
	}
	switch typ.Kind() {
	case reflect.String:
		return object{"type": "string"}
	case reflect.Bool:
		return object{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return object{"type": "integer"}
	case reflect.Float64:
		return object{"type": "number"}
	case reflect.Slice, reflect.Array:
		if typ.Elem().Kind() == reflect.Uint8 {
			return object{"type": "string", "contentEncoding": "base64"}
		}
		return object{"type": "array", "items": t.of(typ.Elem())}
	case reflect.Map:
		return object{"type": "object", "additionalProperties": t.of(typ.Elem())}
	case reflect.Struct:
		return t.structure(typ)
	}
	return object{} // an interface: any value
}

// structure returns the schema of a struct, or a reference to it if the struct has a name.
func (t *types) structure(typ reflect.Type) object {
	if name, ok := t.names[typ]; ok {
		return object{"$ref": "#/components/schemas/" + name}
	}
	if name := t.name(typ); name != "" {
		t.add(name, typ)
		return object{"$ref": "#/components/schemas/" + name}
	}
	properties := object{}
	t.properties(typ, properties)
	return object{"type": "object", "properties": properties}
}

// add adds the schema of a struct under a name.
func (t *types) add(name string, typ reflect.Type) {
	properties := object{}
	t.names[typ], t.schemas[name] = name, object{"type": "object", "properties": properties} // it may refer to itself
	t.properties(typ, properties)
}

// properties adds the members of a struct's JSON.
func (t *types) properties(typ reflect.Type, to object) {
	for f := range typ.Fields() {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case f.Anonymous && name == "":
			embedded := f.Type
			if embedded.Kind() == reflect.Pointer {
				embedded = embedded.Elem()
			}
			t.properties(embedded, to)
		case name != "" && name != "-":
			to[name] = t.of(f.Type)
		}
	}
}

// name returns the name of a struct among the schemas, or "" for one without a name. Where two packages have types of
// one name, the second one's begins with its package.
func (t *types) name(typ reflect.Type) string {
	name, args, _ := strings.Cut(typ.Name(), "[")
	if name == "" {
		return ""
	}
	name = upper(name)
	if args = strings.Trim(args, "[]"); args != "" { // as readthru/page.Found
		name += upper(args[strings.LastIndexByte(args, '.')+1:])
	}
	if t.schemas[name] != nil {
		pkg := typ.PkgPath()
		name = upper(pkg[strings.LastIndexByte(pkg, '/')+1:]) + name
	}
	return name
}

// upper returns a name with an upper-case first letter, as schemas are called.
func upper(s string) string { return strings.ToUpper(s[:1]) + s[1:] }
