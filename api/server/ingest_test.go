package server_test

import (
	"encoding/json"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/page"
)

func TestMetadataComesBackAndFilters(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		if _, err := ops.CreateBase(ctx, api.NewBase{Name: "texts"}); err != nil {
			t.Fatal(err)
		}
		const metadata = `{"size_bytes":12345678901234567,"markdown_tokens":42,"library":"next.js","draft":false}`
		var in api.Ingestion
		if err := json.Unmarshal([]byte(`{"title":"Quinces","label":"a","text":"All that is known of quinces.","kb":"texts",
			"metadata":`+strings.Replace(metadata, "}", `,"none":null}`, 1)+`}`), &in); err != nil {
			t.Fatal(err)
		}
		done, err := ops.Ingest(ctx, in)
		if err != nil {
			t.Fatal(err)
		}
		in.Label, in.Text, in.Metadata = "b", "All that is said of quinces elsewhere.", page.Metadata{"library": "react"}
		if _, err := ops.Ingest(ctx, in); err != nil {
			t.Fatal(err)
		}
		if err := w.server.Memory().CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		same := func(what string, got any) {
			t.Helper()
			var want, given any
			text, err := json.Marshal(got)
			if err != nil || json.Unmarshal(text, &given) != nil || json.Unmarshal([]byte(metadata), &want) != nil ||
				!reflect.DeepEqual(given, want) || !strings.Contains(string(text), "12345678901234567") {
				t.Errorf("%s has metadata %s, %v, want %s (rule A21)", what, text, err, metadata)
			}
		}
		p, err := ops.Page(ctx, done.Doc)
		if err != nil {
			t.Fatal(err)
		}
		same("the page", p.Metadata)
		for _, tt := range []struct {
			filter []string
			kb     string
			hits   int
		}{
			{[]string{"library=next.js"}, "", 1},
			{[]string{"library=next.js", "markdown_tokens=42"}, "texts", 1},
			{[]string{"draft=false"}, "", 1},
			{[]string{"library=next.js", "markdown_tokens=43"}, "texts", 0},
			{[]string{"library=Next.js"}, "", 0},
			{nil, "", 2},
		} {
			res, err := ops.Search(ctx, api.SearchQuery{Text: "quinces", KB: tt.kb, Metadata: tt.filter})
			if err != nil || len(res.Hits) != tt.hits {
				t.Errorf("search with %q: %+v, %v, want %d hits", tt.filter, res, err, tt.hits)
			} else if tt.hits == 1 {
				same("the hit", res.Hits[0].Metadata)
			}
		}
		if _, err := ops.Search(ctx, api.SearchQuery{Text: "quinces", Metadata: []string{"library"}}); api.CodeOf(err) !=
			api.CodeInvalid {
			t.Errorf("a filter without value: %v, want %s", err, api.CodeInvalid)
		}
		if err := ops.DeletePage(ctx, done.Doc); err != nil {
			t.Fatal(err)
		}
		res, err := ops.Search(ctx, api.SearchQuery{Text: "quinces", Metadata: []string{"library=next.js"}})
		if err != nil || len(res.Hits) != 0 {
			t.Errorf("the deleted text is found by its metadata: %+v, %v", res, err)
		}
	})
}

func TestMetadataOfAnotherShapeIsRefused(t *testing.T) {
	w := newWorld(t, nil)
	resp := ask(t, w.listen(t), "POST", "/api/v1/ingest", `{"text":"x","metadata":{"a":{"b":1}}}`,
		"Content-Type: application/json")
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusBadRequest || !strings.Contains(string(text),
		`metadata \"a\" is not a string, a number or a boolean`) {
		t.Errorf("nested metadata: %d %s, %v", resp.StatusCode, text, err)
	}
}

func TestATextIsIngestedOnce(t *testing.T) {
	eachClient(t, nil, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		if _, err := ops.CreateBase(ctx, api.NewBase{Name: "texts"}); err != nil {
			t.Fatal(err)
		}
		// over the limit of other requests
		text := strings.Repeat("All that is known of quinces, with \"quotes\" and <tags>.\n\n", 20_000)
		in := api.Ingestion{
			Title: "Quinces", Label: "garden", Text: text, KB: "texts",
			Metadata: page.Metadata{"source": "test"},
		}
		for i, changed := range []bool{true, false} {
			done, err := ops.Ingest(ctx, in)
			if err != nil || done.Changed != changed || done.KB != "texts" || done.Passages == 0 {
				t.Fatalf("time %d: %v, %+v, want changed %v", i+1, err, done, changed)
			}
		}
		if err := w.server.Memory().CatchUp(ctx); err != nil {
			t.Fatal(err)
		}
		if res, err := ops.Search(ctx, api.SearchQuery{Text: "quinces", KB: "texts"}); err != nil || len(res.Hits) != 1 ||
			res.Hits[0].Title != "Quinces" {
			t.Errorf("search: %v, %+v", err, res)
		}
	})
}
