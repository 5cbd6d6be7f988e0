package server_test

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

func TestWhatOfAPageIsWanted(t *testing.T) {
	w := newWorld(t, nil)
	whole, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL})
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name  string
		r     api.FetchRequest
		begin string
	}{
		{"a selector", api.FetchRequest{Selector: "h1"}, "# A heading\n"},
		{
			"without what a selector matches",
			api.FetchRequest{Drop: "h1"},
			strings.TrimLeft(strings.TrimPrefix(whole.Content, "# A heading\n"), "\n")[:20],
		},
		{"a section", api.FetchRequest{Section: "a-heading"}, "# A heading\n"},
		{"from where it was cut", api.FetchRequest{Start: 2}, "A heading\n"},
		{"links as text", api.FetchRequest{Links: "text", Images: "none"}, "# A heading\n"},
	} {
		tt.r.URL = pageURL
		p, err := w.client.Fetch(t.Context(), tt.r)
		if err != nil || p.Error != nil || !strings.HasPrefix(p.Content, tt.begin) {
			t.Errorf("%s: %v, %q, want %q…", tt.name, err, p.Content, tt.begin)
		}
		if tt.r.Links == "text" && strings.Contains(p.Content, "](") {
			t.Errorf("%s: %q", tt.name, p.Content)
		}
	}
	cut, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL, MaxChars: 6})
	if err != nil || cut.Next != 6 {
		t.Errorf("next is %d after 6 characters: %v", cut.Next, err)
	}
	rest, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL, Start: cut.Next})
	if err != nil || cut.Content+rest.Content != whole.Content {
		t.Errorf("the parts are not the whole: %q and %q", cut.Content, rest.Content)
	}
	receipts, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL, Receipts: true})
	if err != nil || receipts.Removed == nil || receipts.Content != whole.Content {
		t.Errorf("receipts: %v, %+v", err, receipts)
	}
	missing, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: pageURL + "#nowhere"})
	if err != nil || missing.Content != whole.Content || !slices.Contains(missing.Warnings, "section-missing") {
		t.Errorf("a fragment that is not there: %v, %q, %q", err, missing.Warnings, missing.Content)
	}
	for _, r := range []api.FetchRequest{
		{Selector: "p >"},
		{Drop: "a:has(b)"},
		{Links: "blue"},
		{Images: "big"},
		{Start: -1},
	} {
		r.URL = pageURL
		_, err := w.client.Fetch(t.Context(), r)
		if e, ok := errors.AsType[*api.Error](err); !ok || e.Status != http.StatusBadRequest {
			t.Errorf("%+v: %v, want 400", r, err)
		}
	}
}

func TestOpenAPIDescribesTheView(t *testing.T) {
	w := newWorld(t, nil)
	b, err := io.ReadAll(ask(t, w.listen(t), "GET", "/openapi.json", "").Body)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"whole_page", "selector", "drop", "section", "start", "links", "images", "receipts",
		"removed", "next",
	} {
		if !strings.Contains(string(b), `"`+name+`":`) {
			t.Errorf("openapi.json lacks %s", name)
		}
	}
}
