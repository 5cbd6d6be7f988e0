package api

import (
	"encoding/json"
	"maps"
	"net/http"
	"reflect"
	"strings"
	"time"

	"readthru/firecrawl"
)

// openAPI describes the routes after OpenAPI 3.1. Schemas are read off the Go types that go over the wire.
func openAPI(version string, routes []route) map[string]any {
	paths := map[string]map[string]any{}
	for _, rt := range routes {
		if paths[rt.path] == nil {
			paths[rt.path] = map[string]any{}
		}
		paths[rt.path][strings.ToLower(rt.method)] = operation(rt)
	}
	return map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "readthru", "version": version,
			"description": "A caching forward proxy for agents: pages come back as markdown.",
		},
		"paths": paths,
		"components": map[string]any{
			"schemas":         map[string]any{"Problem": schema(reflect.TypeFor[Error]())},
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}
}

func operation(rt route) map[string]any {
	media, result := rt.media, map[string]any{"type": "string"}
	if rt.result != nil {
		media, result = "application/json", schema(reflect.TypeOf(rt.result))
	}
	problem := map[string]any{"$ref": "#/components/schemas/Problem"}
	wrong := map[string]any{"application/problem+json": map[string]any{"schema": problem}}
	if firecrawl.Owns(rt.path) {
		wrong = map[string]any{"application/json": map[string]any{"schema": schema(reflect.TypeFor[firecrawl.Refusal]())}}
	}
	op := map[string]any{
		"summary": rt.summary,
		"responses": map[string]any{
			"200": map[string]any{
				"description": "the answer",
				"content":     map[string]any{media: map[string]any{"schema": result}},
			},
			"default": map[string]any{"description": "what went wrong", "content": wrong},
		},
	}
	if !public(rt.path) {
		op["security"] = []any{map[string]any{}, map[string]any{"token": []string{}}}
	}
	var params []any
	for part := range strings.SplitSeq(rt.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, map[string]any{
				"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": map[string]any{"type": "string"},
			})
		}
	}
	for _, p := range rt.query {
		params = append(params, map[string]any{
			"name": p.name, "in": "query", "description": p.about,
			"schema": map[string]any{"type": "string"},
		})
	}
	if params != nil {
		op["parameters"] = params
	}
	if rt.body != nil {
		op["requestBody"] = map[string]any{
			"required": true,
			"content":  map[string]any{"application/json": map[string]any{"schema": schema(reflect.TypeOf(rt.body))}},
		}
	}
	return op
}

// schema describes the JSON form of a type.
func schema(t reflect.Type) map[string]any {
	if t != reflect.TypeFor[time.Time]() && (t.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())) {
		return map[string]any{} // its JSON is not that of its kind
	}
	switch t.Kind() {
	case reflect.Pointer:
		return schema(t.Elem())
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int64, reflect.Uint32:
		return map[string]any{"type": "integer"}
	case reflect.Float64:
		return map[string]any{"type": "number"}
	case reflect.Slice, reflect.Array:
		if t.Elem().Kind() == reflect.Uint8 {
			return map[string]any{"type": "string", "contentEncoding": "base64"}
		}
		return map[string]any{"type": "array", "items": schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": schema(t.Elem())}
	case reflect.Struct:
		if t == reflect.TypeFor[time.Time]() {
			return map[string]any{"type": "string", "format": "date-time"}
		}
		properties := map[string]any{}
		for f := range t.Fields() {
			name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			switch {
			case f.Anonymous && name == "":
				maps.Copy(properties, schema(f.Type)["properties"].(map[string]any))
			case name != "" && name != "-":
				properties[name] = schema(f.Type)
			}
		}
		return map[string]any{"type": "object", "properties": properties}
	}
	return map[string]any{} // an interface: any value
}

func (s *Server) serveOpenAPI(w http.ResponseWriter, _ *http.Request) error {
	return answer(w, http.StatusOK, openAPI(s.o.Version, s.routes))
}
