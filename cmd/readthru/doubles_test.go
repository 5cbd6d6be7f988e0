package main_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/eventually"
)

func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: model")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct {
			Messages []struct{ Role, Content string }
		}
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		user := body.Messages[len(body.Messages)-1].Content
		said := "A model says: this page is about caches."
		if strings.HasPrefix(user, "<html-") {
			_, trimmed, _ := strings.Cut(user, "\n")
			trimmed, _, _ = strings.Cut(trimmed, "\n</html-")
			doc, err := convert.Parse(r.Context(), []byte(trimmed), "text/html", nil)
			if err == nil {
				var res *convert.Result
				if res, err = doc.Convert(r.Context(), convert.Options{WholePage: true}); err == nil {
					said = res.Markdown
				}
			}
			if err != nil {
				http.Error(w, err.Error(), http.StatusBadRequest)
				return
			}
		}
		_ = json.NewEncoder(w).Encode(map[string]any{
			"choices": []any{map[string]any{"message": map[string]string{"content": said}, "finish_reason": "stop"}},
			"usage":   map[string]int{"prompt_tokens": 70, "completion_tokens": 7},
		})
	}))
	ts.Defer(server.Close)
	ts.Setenv("READTHRU_LLM_PROVIDER", "openai")
	ts.Setenv("READTHRU_LLM_MODEL", "double")
	ts.Setenv("READTHRU_LLM_BASE_URL", server.URL+"/v1")
}

func startEmbedder(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: embedder")
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var body struct{ Input []string }
		if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		type embedding struct {
			Index     int       `json:"index"`
			Embedding []float32 `json:"embedding"`
		}
		var data []embedding
		for i, text := range body.Input {
			v := []float32{0, 1, 0, .1}
			if text = strings.ToLower(text); strings.Contains(text, "cache") || strings.Contains(text, "larder") {
				v = []float32{1, 0, 0, .1}
			}
			data = append(data, embedding{i, v})
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{"object": "list", "data": data})
	}))
	ts.Defer(server.Close)
	ts.Setenv("READTHRU_EMBEDDINGS_PROVIDER", "openai")
	ts.Setenv("READTHRU_EMBEDDINGS_MODEL", "double")
	ts.Setenv("READTHRU_EMBEDDINGS_BASE_URL", server.URL+"/v1")
}

func waitEmbedded(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: embedded")
	}
	ctx := context.Background()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	ts.Check(eventually.Holds(ctx, func() bool {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+ts.Getenv("ADMIN")+"/stats", nil)
		ts.Check(err)
		resp, err := client.Do(req)
		ts.Check(err)
		var st struct {
			Index struct {
				Passages, Queued int
				Vectors          struct{ Vectors, Waiting int }
			}
		}
		err = json.NewDecoder(resp.Body).Decode(&st)
		resp.Body.Close()
		ts.Check(err)
		i := st.Index
		return i.Passages > 0 && i.Queued == 0 && i.Vectors.Waiting == 0 && i.Vectors.Vectors >= i.Passages
	}))
}

func startFirecrawl(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 0 {
		ts.Fatalf("usage: firecrawl")
	}
	const page = `{"markdown":"# Of fire\n\nA page that Firecrawl read, about embers.\n","metadata":{"title":"Of fire","sourceURL":"https://fire.test/embers","statusCode":200}}`
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case strings.HasSuffix(r.URL.Path, "/scrape"):
			_, _ = io.WriteString(w, `{"success":true,"data":`+page+`}`)
		case r.Method == http.MethodPost:
			_, _ = io.WriteString(w, `{"success":true,"id":"job-1"}`)
		case strings.HasSuffix(r.URL.Path, "/errors"):
			_, _ = io.WriteString(w, `{"errors":[],"robotsBlocked":[]}`)
		default:
			_, _ = io.WriteString(w, `{"success":true,"status":"completed","completed":1,"total":1,"data":[`+page+`]}`)
		}
	}))
	ts.Defer(server.Close)
	ts.Setenv("FIRECRAWL_BASE_URL", server.URL)
}
