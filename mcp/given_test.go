package mcp_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/journal"
)

// TestWhatIsToldOfAReadIsWhatTheReaderGot holds the list of requests, the visits and what was saved against the text
// that came, for reads of a part by each door that cuts.
func TestWhatIsToldOfAReadIsWhatTheReaderGot(t *testing.T) {
	const url = "https://example.com/guide"
	tool := func(name string, args map[string]any) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string {
			t.Helper()
			args["url"] = url
			text, _ := use(t, w.connect(t, nil), name, args)
			head := "Contents of " + url + ":\n"
			if name == "get_page" {
				head = "\n\n"
			}
			_, text, _ = strings.Cut(text, head)
			for _, note := range []string{"\n\n<error>", "\n\n[Cut"} {
				text, _, _ = strings.Cut(text, note)
			}
			return text
		}
	}
	fetched := func(r api.FetchRequest) func(*testing.T, *world) string {
		return func(t *testing.T, w *world) string {
			t.Helper()
			r.URL = url
			p, err := w.api.Client(userAgent).Fetch(t.Context(), r)
			if err != nil || p.Error != nil || p.Tokens != convert.Tokens(p.Content) {
				t.Fatalf("%v, %+v: %d tokens of %d", err, p.Error, p.Tokens, convert.Tokens(p.Content))
			}
			return p.Content
		}
	}
	for _, tt := range []struct {
		name   string
		read   func(*testing.T, *world) string
		stored bool // it is no visit
	}{
		{"whole", tool("fetch", map[string]any{}), false},
		{"max_length", tool("fetch", map[string]any{"max_length": 60}), false},
		{"start_index", tool("fetch", map[string]any{"start_index": 100}), false},
		{"max_tokens", tool("fetch", map[string]any{"max_tokens": 12}), false},
		{"section", tool("fetch", map[string]any{"section": "Install"}), false},
		{"section and max_length", tool("fetch", map[string]any{"section": "Install", "max_length": 20}), false},
		{"raw", tool("fetch", map[string]any{"raw": true, "max_length": 80}), false},
		{"stored, cut", tool("get_page", map[string]any{"max_tokens": 12}), true},
		{"stored, a section", tool("get_page", map[string]any{"section": "Install"}), true},
		{"max_chars", fetched(api.FetchRequest{MaxChars: 60}), false},
		{"API max_tokens", fetched(api.FetchRequest{MaxTokens: 40}), false},
		{"selector", fetched(api.FetchRequest{Selector: "h2"}), false},
		{"prompt", fetched(api.FetchRequest{Format: "prompt", MaxChars: 30}), false},
		{"nothing", fetched(api.FetchRequest{Format: "none"}), false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t, nil)
			whole, err := w.api.Client(userAgent).Fetch(t.Context(), api.FetchRequest{URL: url})
			if err != nil {
				t.Fatal(err)
			}
			last, before := w.told.Last(), w.store.Totals()
			given := tt.read(t, w)
			after := w.store.Totals()
			list, _, _ := w.told.After(last, journal.Filter{}, 10)
			if len(list) != 1 {
				t.Fatalf("%d requests are told", len(list))
			}
			e := list[0]
			if e.BytesOut != int64(len(given)) || e.Tokens != convert.Tokens(given) {
				t.Errorf("told %d bytes and %d tokens of %d and %d: %q", e.BytesOut, e.Tokens, len(given),
					convert.Tokens(given), given)
			}
			spared := whole.Info.HTMLTokens * min(e.Tokens, whole.Tokens) / whole.Tokens
			if e.HTMLTokens < spared-2 || e.HTMLTokens > spared {
				if tt.name != "raw" { // which is HTML, and spares nothing
					t.Errorf("told %d tokens of HTML, want %d of %d", e.HTMLTokens, spared, whole.Info.HTMLTokens)
				}
			}
			if tt.name == "raw" && e.HTMLTokens-e.Tokens > 1 {
				t.Errorf("raw HTML saves %d of %d tokens", e.HTMLTokens-e.Tokens, e.HTMLTokens)
			}
			visited := after.MarkdownTokens - before.MarkdownTokens
			if html := after.HTMLTokens - before.HTMLTokens; !tt.stored &&
				(visited != int64(e.Tokens) || html != int64(e.HTMLTokens)) || tt.stored && visited+html > 0 {
				t.Errorf("the visit counts %d tokens in the place of %d, told are %d and %d", visited, html, e.Tokens,
					e.HTMLTokens)
			}
			if kept, err := w.api.Client(userAgent).Page(t.Context(), url); err != nil || kept.Tokens != whole.Tokens ||
				kept.Info.HTMLTokens != whole.Info.HTMLTokens {
				t.Errorf("%v: kept with %d and %d tokens, want %d and %d", err, kept.Tokens, kept.Info.HTMLTokens, whole.Tokens,
					whole.Info.HTMLTokens)
			}
		})
	}
}
