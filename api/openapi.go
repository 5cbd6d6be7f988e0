package api

import (
	"context"
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"time"

	"readthru/firecrawl"
)

// getOpenAPI describes the operations in OpenAPI 3.1. Schemas come from the Go types that are sent as JSON.
func (s *Server) getOpenAPI(context.Context, none) (*map[string]any, error) {
	paths := map[string]map[string]any{}
	for _, o := range s.table {
		if paths[o.path] == nil {
			paths[o.path] = map[string]any{}
		}
		paths[o.path][strings.ToLower(o.method)] = o.describe()
	}
	problem := schema(reflect.TypeFor[Error]())
	problem["properties"].(map[string]any)["code"] = map[string]any{"type": "string", "enum": Codes}
	return &map[string]any{
		"openapi": "3.1.0",
		"info": map[string]any{
			"title": "readthru", "version": s.o.Version,
			"description": "A caching forward proxy for agents that returns pages as markdown.",
		},
		"paths": paths,
		"components": map[string]any{
			"schemas":         map[string]any{"Problem": problem},
			"securitySchemes": map[string]any{"token": map[string]any{"type": "http", "scheme": "bearer"}},
		},
	}, nil
}

// describe describes an operation in OpenAPI 3.1.
func (o *operation) describe() map[string]any {
	media, result := o.media, map[string]any{"type": "string"}
	if o.result != nil {
		media, result = "application/json", schema(o.result)
	}
	problem := map[string]any{"$ref": "#/components/schemas/Problem"}
	wrong := map[string]any{"application/problem+json": map[string]any{"schema": problem}}
	if firecrawl.Owns(o.path) {
		wrong = map[string]any{"application/json": map[string]any{"schema": schema(reflect.TypeFor[firecrawl.Refusal]())}}
	}
	op := map[string]any{
		"operationId": o.id,
		"summary":     o.summary,
		"responses": map[string]any{
			"200": map[string]any{
				"description": "the answer",
				"content":     map[string]any{media: map[string]any{"schema": result}},
			},
			"default": map[string]any{"description": "what went wrong", "content": wrong},
		},
	}
	if !o.open {
		op["security"] = []any{map[string]any{}, map[string]any{"token": []string{}}}
	}
	var params []any
	for part := range strings.SplitSeq(o.path, "/") {
		if name, ok := strings.CutPrefix(part, "{"); ok {
			params = append(params, map[string]any{
				"name": strings.TrimSuffix(name, "}"), "in": "path", "required": true,
				"schema": map[string]any{"type": "string"},
			})
		}
	}
	for _, p := range o.query {
		params = append(params, map[string]any{
			"name": p.name, "in": "query", "description": p.about,
			"schema": map[string]any{"type": "string"},
		})
	}
	if params != nil {
		op["parameters"] = params
	}
	if o.body != nil {
		op["requestBody"] = map[string]any{
			"required": true,
			"content":  map[string]any{"application/json": map[string]any{"schema": schema(o.body)}},
		}
	}
	return op
}

// schema describes the JSON form of a type.
func schema(t reflect.Type) map[string]any {
	if t != reflect.TypeFor[time.Time]() && (t.Implements(reflect.TypeFor[json.Unmarshaler]()) ||
		reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]())) {
		return map[string]any{} // its JSON form is its own
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
