package server_test

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

// manyPages answers /p/N with a page of its own, which is plain text for /p/text and not there for /p/gone.
func manyPages(w http.ResponseWriter, r *http.Request) bool {
	name, ok := strings.CutPrefix(r.URL.Path, "/p/")
	switch {
	case !ok:
		return false
	case name == "gone":
		http.NotFound(w, r)
	case name == "text":
		w.Header().Set("Content-Type", "text/plain")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprint(w, "Nothing but words, and no sign of anything else.")
	default:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Header().Set("Cache-Control", "max-age=600")
		_, _ = fmt.Fprintf(w, article, "Page "+name, "Page "+name, 1)
	}
	return true
}

func urlsOf(t *testing.T, ops *api.Client, session string) (urls []string) {
	t.Helper()
	set, err := ops.Context(t.Context(), session, "")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range set.Pages {
		if p.Content != "" {
			t.Errorf("%s is listed with its content", p.URL)
		}
		urls = append(urls, strings.TrimPrefix(p.URL, "https://example.com/p/"))
	}
	return urls
}

func TestASessionKnowsWhatItFetched(t *testing.T) {
	eachClient(t, manyPages, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		ctx := t.Context()
		get := func(name, session string, persist *bool) {
			t.Helper()
			if _, err := ops.Fetch(ctx, api.FetchRequest{
				URL: "https://example.com/p/" + name, Session: session,
				Persist: persist,
			}); err != nil {
				t.Fatal(err)
			}
		}
		get("one", "", nil)
		get("two", "s", nil)
		get("text", "s", nil)
		get("gone", "s", nil)
		get("unkept", "s", new(false))
		if got := urlsOf(t, ops, ""); !slices.Equal(got, []string{"one"}) {
			t.Errorf("set without a name: %v", got)
		}
		if got := urlsOf(t, ops, "s"); !slices.Equal(got, []string{"two", "text"}) {
			t.Errorf("set s: %v, want neither the failure nor what was not to be kept", got)
		}
		one, err := ops.Context(ctx, "s", "https://EXAMPLE.com/p/two#part")
		if err != nil || len(one.Pages) != 1 || !strings.HasPrefix(one.Pages[0].Content, "# Page two\n") ||
			one.Bytes != int64(len(one.Pages[0].Content)) {
			t.Errorf("one page: %v, %+v", err, one)
		}
		if _, err := ops.Context(ctx, "s", "https://example.com/p/one"); statusOf(err) != http.StatusNotFound {
			t.Errorf("a page of another session: %v, want 404", err)
		}
		if p, err := ops.ContextPage(ctx, "s", "https://example.com/p/text"); err != nil ||
			strings.TrimSpace(p.Content) != "Nothing but words, and no sign of anything else." || p.ContentFormat != "markdown" {
			t.Errorf("text: %v, %+v", err, p)
		}
		asked := w.asked.Load()
		if p, err := ops.ContextPage(ctx, "s", "https://example.com/p/one"); err != nil || p.Error != nil ||
			!strings.HasPrefix(p.Content, "# Page one\n") {
			t.Errorf("a page that only the cache has: %v, %+v", err, p)
		}
		if p, err := ops.ContextPage(ctx, "s", "https://example.com/p/never"); err != nil || p.Error == nil ||
			p.Error.Kind != "not_fetched" || p.Content != "" {
			t.Errorf("a page that nobody has: %v, %+v", err, p)
		}
		if w.asked.Load() != asked {
			t.Error("the origin was asked for what should come from here")
		}
		if p, err := ops.Fetch(ctx, api.FetchRequest{URL: "https://example.com/p/never"}); err != nil || p.Error != nil {
			t.Errorf("a fetch after that: %v, %+v, want the page", err, p.Error)
		}

		for _, tt := range []struct {
			url  string
			want int
		}{{"https://example.com/p/two", 1}, {"https://example.com/p/two", 0}} {
			if got, err := ops.Forget(ctx, "s", tt.url); err != nil || got.Removed != tt.want {
				t.Errorf("forget %s: %v, %+v, want %d", tt.url, err, got, tt.want)
			}
		}
		if got, err := ops.ForgetAll(ctx, "s"); err != nil || got.Removed != 1 {
			t.Errorf("forget all: %v, %+v, want 1", err, got)
		}
		for name, err := range map[string]error{
			"no URL to forget": func() error { _, err := ops.Forget(ctx, "", ""); return err }(),
			"no such session":  func() error { _, err := ops.Context(ctx, "a\nb", ""); return err }(),
			"no URL":           func() error { _, err := ops.ContextPage(ctx, "", "x"); return err }(),
			"fetch for none": func() error {
				_, err := ops.Fetch(ctx,
					api.FetchRequest{URL: pageURL, Session: "a\nb"})
				return err
			}(),
			"summary of a kind": func() error {
				_, err := ops.Fetch(ctx, api.FetchRequest{URL: pageURL, Summary: "long"})
				return err
			}(),
			"below 0": func() error { _, err := ops.ContextText(ctx, api.ContextQuery{MaxChars: -1}); return err }(),
		} {
			if statusOf(err) != http.StatusBadRequest {
				t.Errorf("%s: %v, want 400", name, err)
			}
		}
		if got := urlsOf(t, ops, ""); !slices.Equal(got, []string{"one", "never"}) {
			t.Errorf("set without a name: %v, want it untouched", got)
		}
	})
}

func TestPagesOfATextAreFetchedInItsOrder(t *testing.T) {
	eachClient(t, manyPages, func(t *testing.T, w *world, ops *api.Client) {
		t.Helper()
		text := "Look at https://example.com/p/1, then (https://example.com/p/gone) and https://example.com/p/2; later https://example.com/p/3 and https://example.com/p/1."
		d, err := ops.Detect(t.Context(), text)
		if err != nil || len(d.URLs) != 4 || d.URLs[1].URL != "https://example.com/p/gone" ||
			d.URLs[0].Display != "example.com/p/1" {
			t.Fatalf("detect: %v, %+v", err, d)
		}
		got, err := ops.DetectAndFetch(t.Context(),
			api.DetectRequest{Text: text, FetchRequest: api.FetchRequest{Session: "s", Format: "prompt", MaxChars: 20}})
		if err != nil || len(got.URLs) != 4 || len(got.Pages) != 3 || got.Left != 1 {
			t.Fatalf("three of four: %v, %+v", err, got)
		}
		if got.Pages[0].Content != "URL: https://example.com/p/1\nTitle: Page 1\n\n# Page 1\n\nA cache ke...\n" ||
			got.Pages[1].Error == nil || got.Pages[2].Title != "Page 2" {
			t.Errorf("pages: %+v", got.Pages)
		}
		all, err := ops.DetectAndFetch(t.Context(), api.DetectRequest{Text: text, Limit: 50})
		if err != nil || len(all.Pages) != 4 || all.Left != 0 || all.Pages[3].Title != "Page 3" || !all.Pages[0].FromCache {
			t.Errorf("all: %v, %+v", err, all)
		}
		none, err := ops.DetectAndFetch(t.Context(), api.DetectRequest{Text: "file:///etc/passwd"})
		if err != nil || none.URLs == nil || none.Pages == nil || len(none.URLs)+len(none.Pages) != 0 {
			t.Errorf("none: %v, %+v", err, none)
		}
		for _, r := range []api.DetectRequest{
			{Limit: 51},
			{Limit: -1},
			{FetchRequest: api.FetchRequest{URL: pageURL}},
			{FetchRequest: api.FetchRequest{Format: "docx"}},
		} {
			if _, err := ops.DetectAndFetch(t.Context(), r); statusOf(err) != http.StatusBadRequest {
				t.Errorf("%+v: %v, want 400", r, err)
			}
		}
	})
}

func TestTheSessionMayBeNamedInTheFieldOfProxiedRequests(t *testing.T) {
	w := newWorldOver(t, manyPages, nil, nil)
	addr := w.listen(t)
	ask(t, addr, "POST", "/api/v1/fetch", `{"url":"https://example.com/p/1"}`, "Content-Type: application/json",
		"X-Readthru-Session: mine")
	ask(t, addr, "POST", "/rpc", `{"jsonrpc":"2.0","id":1,"method":"LLM.fetch_url","params":["https://example.com/p/2"]}`,
		"Content-Type: application/json", "X-Readthru-Session: mine")
	if got := urlsOf(t, w.client, "mine"); !slices.Equal(got, []string{"1", "2"}) {
		t.Errorf("set: %v", got)
	}
}

func TestWhatMustNotBeKeptIsInNoSet(t *testing.T) {
	w := newWorldOver(t, func(rw http.ResponseWriter, r *http.Request) bool {
		if r.URL.Path != "/private.txt" {
			return false
		}
		rw.Header().Set("Content-Type", "text/plain")
		rw.Header().Set("Cache-Control", "no-store")
		_, _ = fmt.Fprint(rw, "A secret in plain words.")
		return true
	}, nil, nil)
	for _, url := range []string{
		"https://example.com/secret", "https://example.com/private.txt",
		pageURL + "?access_token=abcdefghijklmnopqrstuvwx",
	} {
		if p, err := w.client.Fetch(t.Context(), api.FetchRequest{URL: url}); err != nil || p.Error != nil ||
			p.Content == "" {
			t.Errorf("%s: %v, %+v", url, err, p)
		}
	}
	if got := urlsOf(t, w.client, ""); got != nil {
		t.Errorf("set: %v", got)
	}
}

func TestATextOfAContextEndsWithWhoAsks(t *testing.T) {
	w := newWorld(t, nil)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := w.client.ContextText(ctx, api.ContextQuery{URLs: []string{pageURL}}); err == nil {
		t.Error("no error after the end of the context")
	}
}
