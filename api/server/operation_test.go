package server_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
)

// TestTheDescriptionNamesEveryOperationOnce reads /openapi.json as a generator of clients does.
func TestTheDescriptionNamesEveryOperationOnce(t *testing.T) {
	w := newWorld(t,
		func(o *server.Options) { o.MCP = func(*server.Server) http.Handler { return http.NotFoundHandler() } })
	var doc struct {
		Paths map[string]map[string]struct {
			OperationID string `json:"operationId"`
		}
		Components struct {
			Schemas struct {
				Problem struct {
					Properties struct{ Code struct{ Enum []api.Code } }
				}
			}
		}
	}
	if err := json.NewDecoder(ask(t, w.listen(t), "GET", "/openapi.json", "").Body).Decode(&doc); err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{}
	for path, methods := range doc.Paths {
		for method, o := range methods {
			if before := seen[o.OperationID]; before != "" ||
				!regexp.MustCompile(`^[a-z][a-zA-Z0-9]+$`).MatchString(o.OperationID) {
				t.Errorf("%s %s: operationId %q, which %q has", method, path, o.OperationID, before)
			}
			seen[o.OperationID] = method + " " + path
		}
	}
	if got, want := len(seen), len(w.server.Routes()); got != want {
		t.Errorf("%d operations, want %d", got, want)
	}
	if got := doc.Components.Schemas.Problem.Properties.Code.Enum; !slices.Equal(got, api.Codes) {
		t.Errorf("codes %v, want %v", got, api.Codes)
	}
}

// TestFailuresHaveCodes asks for what cannot be, and reads the code that programs branch on.
func TestFailuresHaveCodes(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, _ *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		if _, err := ops.CreateBase(ctx, api.NewBase{Name: "garden"}); err != nil {
			t.Fatal(err)
		}
		for _, tt := range []struct {
			name string
			ask  func() error
			want api.Code
		}{
			{"a page never read", func() error { _, err := ops.Page(ctx, pageURL); return err }, api.CodeNotFound},
			{"no URL", func() error { _, err := ops.Fetch(ctx, api.FetchRequest{}); return err }, api.CodeInvalid},
			{
				"no such base",
				func() error { _, err := ops.Search(ctx, api.SearchQuery{Text: "x", KB: "none"}); return err }, api.CodeUnknownBase,
			},
			{
				"a name that is taken",
				func() error { _, err := ops.CreateBase(ctx, api.NewBase{Name: "garden"}); return err }, api.CodeBaseExists,
			},
			{
				"nothing to refresh",
				func() error { _, err := ops.RefreshBase(ctx, "garden", 0); return err }, api.CodeConflict,
			},
			{"no query", func() error { _, err := ops.Search(ctx, api.SearchQuery{}); return err }, api.CodeInvalid},
			{"no proxy", func() error { _, err := ops.Session(ctx, "s"); return err }, api.CodeNoProxy},
			{"no job", func() error { _, err := ops.Job(ctx, "none"); return err }, api.CodeNotFound},
		} {
			if err := tt.ask(); api.CodeOf(err) != tt.want {
				t.Errorf("%s: %v, code %q, want %q", tt.name, err, api.CodeOf(err), tt.want)
			}
		}
	})
}
