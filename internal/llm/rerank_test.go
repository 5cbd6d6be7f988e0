package llm_test

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/llm"
)

func TestRerank(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		want         []float64
		err          string
	}{
		{
			"sorted by relevance", `{"results":[{"index":2,"relevance_score":0.9},{"index":0,"relevance_score":0.5},
			{"index":1,"relevance_score":-3,"document":{"text":"b"}}],"usage":{"total_tokens":3}}`, []float64{.5, -3, .9}, "",
		},
		{
			"some are left out", `{"results":[{"index":1,"relevance_score":0.9},{"index":0,"relevance_score":0.5}]}`,
			[]float64{.5, .9, .5},
			"",
		},
		{"an index out of range", `{"results":[{"index":3,"relevance_score":1}]}`, nil, "index 3 of 3 documents"},
		{"a negative index", `{"results":[{"index":-1,"relevance_score":1}]}`, nil, "index -1 of 3 documents"},
		{
			"an index twice", `{"results":[{"index":1,"relevance_score":1},{"index":1,"relevance_score":2}]}`, nil,
			"two results have the index 1",
		},
		{"no score", `{"results":[{"index":1}]}`, nil, "no relevance_score"},
		{"null for a score", `{"results":[{"index":1,"relevance_score":null}]}`, nil, "no relevance_score"},
		{"NaN", `{"results":[{"index":1,"relevance_score":NaN}]}`, nil, "not JSON of the expected form"},
		{"infinity", `{"results":[{"index":1,"relevance_score":1e999}]}`, nil, "not JSON of the expected form"},
		{"nothing", `{"results":[]}`, nil, "ranks no document"},
		{"another form", `[{"index":0,"score":1}]`, nil, "not JSON of the expected form"},
		{"a page", `<html>`, nil, "not JSON of the expected form"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var asked struct {
				Model, Query string
				Documents    []string
			}
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Path != "/v1/rerank" || json.NewDecoder(r.Body).Decode(&asked) != nil {
					http.NotFound(w, r)
					return
				}
				io.WriteString(w, tt.answer)
			}))
			defer srv.Close()
			c, err := llm.New(llm.Options{
				Provider: llm.OpenAI, BaseURL: srv.URL + "/v1", Model: "m", Transport: srv.Client().Transport, Attempts: 1,
			})
			if err != nil {
				t.Fatal(err)
			}
			got, err := c.Rerank(t.Context(), "q", []string{"a", "b", "c"}, "", "test")
			if (err != nil) != (tt.err != "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("error %v, want %q", err, tt.err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("scores (-want +got):\n%s", diff)
			}
			if asked.Model != "m" || asked.Query != "q" || strings.Join(asked.Documents, "") != "abc" {
				t.Errorf("asked %+v", asked)
			}
		})
	}
}
