package server_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/api/server/hooks"
	"github.com/readthru/readthru/internal/eventually"
)

// longWait is what an answer may wait for its work in these tests.
const longWait = time.Minute

// webFetch is an event of Claude Code's WebFetch.
func webFetch(event, url string) []byte {
	return fmt.Appendf(nil,
		`{"session_id":"s1","hook_event_name":%q,"tool_name":"WebFetch","tool_input":{"url":%q,"prompt":"What?"},"tool_response":{"code":200,"result":"short"}}`, event, url)
}

func docsEvent(t *testing.T, text string) []byte {
	t.Helper()
	b, err := json.Marshal(map[string]any{
		"tool_name":  "mcp__context7__query-docs",
		"tool_input": map[string]string{"libraryId": "/vercel/next.js"}, "tool_response": text,
	})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestHooksAgreeOverHTTP(t *testing.T) { eachClient(t, nil, testHooks) }

func testHooks(t *testing.T, w *world, ops *api.Client) {
	t.Helper()
	tell := func(h api.HookEvent) string {
		t.Helper()
		h.Agent = "claude"
		out, err := ops.Hook(t.Context(), h)
		if err != nil {
			t.Errorf("Hook(%.60s): %v", h.Event, err)
		}
		return string(out)
	}
	if got := tell(api.HookEvent{Event: webFetch("PreToolUse", pageURL)}); got != "" {
		t.Errorf("a page that is not here is no reason to keep the tool from running: %s", got)
	}
	want := "Auto-indexed " + pageURL + " into knowledge store (via local)\n"
	if got := tell(api.HookEvent{
		Event: webFetch("PostToolUse", pageURL), Accept: "text/plain",
		Wait: longWait,
	}); got != want {
		t.Errorf("%q, want %q (rule A17)", got, want)
	}
	if got := tell(api.HookEvent{
		Event: webFetch("PostToolUse", pageURL), Accept: "text/plain",
		Wait: longWait,
	}); got != "" ||
		w.asked.Load() != 1 {
		t.Errorf("a fresh page is not silent (rule A13): %q, the origin was asked %d times", got, w.asked.Load())
	}
	visits, err := w.client.Visits(t.Context(), api.VisitQuery{URL: pageURL})
	if err != nil || len(visits.Visits) != 1 || visits.Visits[0].Agent != "webfetch-auto (claude)" ||
		visits.Visits[0].Session != "s1" {
		t.Errorf("visits %+v, %v, want the one of the agent", visits, err)
	}
	if got := tell(api.HookEvent{Event: webFetch("PreToolUse", pageURL)}); !strings.Contains(got,
		`"permissionDecision":"deny"`) || !strings.Contains(got, "A cache keeps what an origin said") {
		t.Errorf("answer from the cache: %s", got)
	}
	if got := tell(api.HookEvent{
		Event: webFetch("PostToolUse", pageURL), Verbatim: true,
		Wait: longWait,
	}); !strings.Contains(got, `"updatedToolOutput":{"code":200,"result":"[readthru replaced`) ||
		!strings.Contains(got, "A cache keeps") {
		t.Errorf("verbatim: %s", got)
	}
	for _, url := range []string{
		"https://example.com/gone", "https://medium.com/x", "https://example.com/image",
		"http://169.254.169.254/latest", "http://127.0.0.1:1/",
	} {
		if got := tell(api.HookEvent{
			Event: webFetch("PostToolUse", url), Accept: "text/plain", Verbatim: true,
			Wait: longWait,
		}); got != "" {
			t.Errorf("%s: %q, want silence", url, got)
		}
	}
	for _, event := range []string{"", "{", "[]", `{"tool_name":"Bash"}`, strings.Repeat("[", 100000)} {
		if got := tell(api.HookEvent{Event: []byte(event)}); got != "" {
			t.Errorf("%.20q: %q, want silence", event, got)
		}
	}
	note := tell(api.HookEvent{Event: []byte(`{"hook_event_name":"UserPromptSubmit","prompt":"Read https://example.com/site/one and https://medium.com/x."}`)})
	if !strings.Contains(note, "https://example.com/site/one") || strings.Contains(note, "medium.com") ||
		!strings.Contains(note, "no browser here") {
		t.Errorf("note to a prompt: %s", note)
	}
	if _, err := ops.Hook(t.Context(), api.HookEvent{Agent: "emacs", Event: []byte("{}")}); err == nil {
		t.Error("an unknown agent gives no error")
	}
	if _, err := ops.Hook(t.Context(), api.HookEvent{Agent: "claude", Event: []byte("{}"), Wait: time.Hour}); err == nil {
		t.Error("an endless wait gives no error")
	}
}

func TestDocumentationIsKeptUnderItsPlaces(t *testing.T) {
	w := newWorld(t, nil)
	tell := func(text string) string {
		t.Helper()
		out, err := w.client.Hook(t.Context(), api.HookEvent{
			Agent: "claude", Event: docsEvent(t, text), Accept: "text/plain",
			Wait: longWait,
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	const said = "Context7 docs for \"next.js\" indexed into knowledge store.\n"
	if got := tell("### Middleware\nSource: https://nextjs.org/docs/a\nThe quince runs before a request.\n### Matching\nSource: https://nextjs.org/docs/b\nA medlar limits the paths."); got != said {
		t.Errorf("%q, want %q (rule A19)", got, said)
	}
	if got := tell("### More\nSource: https://nextjs.org/docs/a\nThe sorb answers after a request was completed."); got != said {
		t.Errorf("%q", got)
	}
	for range 2 {
		if got := tell("### Hidden\nSource: https://nextjs.org/docs/c\nThe lo\u200bquat <!-- HIDE --> is evergreen."); got != said {
			t.Errorf("%q", got)
		}
	}
	d, err := w.know.Ingested("context7-next.js", "https://nextjs.org/docs/c")
	if err != nil {
		t.Fatal(err)
	}
	if md := string(d.Markdown); strings.Count(md, "The loquat  is evergreen.") != 1 || strings.Contains(md, "HIDE") {
		t.Errorf("documentation with hidden text, twice: %q", md)
	}
	if got := tell("Rate limited or quota exceeded. Create a free API key at https://context7.com/dashboard for higher limits."); got != "" {
		t.Errorf("an error text: %q, want silence", got)
	}
	if err := w.server.Memory().CatchUp(t.Context()); err != nil {
		t.Fatal(err)
	}
	for word, url := range map[string]string{
		"quince": "https://nextjs.org/docs/a", "sorb": "https://nextjs.org/docs/a",
		"medlar": "https://nextjs.org/docs/b",
	} {
		hits, err := w.client.Search(t.Context(), api.SearchQuery{Text: word})
		if err != nil || len(hits.Hits) != 1 || hits.Hits[0].URL != url || hits.Hits[0].Title != "context7:next.js" {
			t.Errorf("search %s: %+v, %v, want %s", word, hits, err, url)
		}
	}
	none := newWorld(t, func(o *server.Options) { o.Knowledge = nil })
	out, err := none.client.Hook(t.Context(),
		api.HookEvent{
			Agent: "claude", Event: docsEvent(t, strings.Repeat("Documentation. ", 9)), Accept: "text/plain",
			Wait: longWait,
		})
	if err != nil || !strings.HasPrefix(string(out), "Context7 indexing skipped: ") {
		t.Errorf("%q, %v", out, err)
	}
}

func TestHookWorkOutlivesTheProcess(t *testing.T) {
	dir := t.TempDir()
	w := newWorld(t, func(o *server.Options) { o.Dir = dir })
	w.server.Stop() // as if it were about to end
	if _, err := w.client.Hook(t.Context(), api.HookEvent{
		Agent: "claude",
		Event: webFetch("PostToolUse", pageURL),
	}); err != nil {
		t.Fatal(err)
	}
	if err := hooks.Spool(dir, []agents.Work{{URL: "https://example.com/site/one", Agent: agents.Claude}}); err != nil {
		t.Fatal(err)
	}
	queue := filepath.Join(dir, "hooks")
	for name, text := range map[string]string{
		"00000000000000000001-X.0.json": "{garbage",
		"00000000000000000002-X.3.json": `{"url":"https://example.com/site/two","agent":"claude"}`, "strange": "x",
	} {
		if err := os.WriteFile(filepath.Join(queue, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	next := newWorld(t, func(o *server.Options) { o.Dir = dir })
	next.server.Hooks().TakeUp()
	eventually.True(t, "the work is done", func() bool {
		left, err := os.ReadDir(queue)
		return err == nil && len(left) <= 1
	})
	for _, url := range []string{pageURL, "https://example.com/site/one"} {
		if _, err := next.client.Page(t.Context(), url); err != nil {
			t.Errorf("%s was not fetched: %v", url, err)
		}
	}
	left, err := os.ReadDir(queue)
	if err != nil || len(left) != 1 || left[0].Name() != "strange" {
		t.Errorf("left over: %v, %v, want the file that is not ours alone", left, err)
	}
	if _, err := next.client.Page(t.Context(), "https://example.com/site/two"); err == nil {
		t.Error("work that was tried three times was tried again")
	}
}

func TestWorkThatDoesNotEndDelaysNoOther(t *testing.T) {
	dir := t.TempDir()
	w := newWorldOver(t, nil, nil, func(o *server.Options) { o.Dir = dir })
	var dead []agents.Work
	for i := range 6 {
		dead = append(dead, agents.Work{URL: fmt.Sprint("https://example.com/slow/?", i), Agent: agents.Claude})
	}
	if err := hooks.Spool(dir, dead); err != nil {
		t.Fatal(err)
	}
	w.server.Hooks().TakeUp()
	for _, tt := range []struct {
		event []byte
		want  string
	}{
		{webFetch("PostToolUse", pageURL), "Auto-indexed " + pageURL + " into knowledge store (via local)\n"},
		{
			docsEvent(t, "### Middleware\nSource: https://nextjs.org/docs/a\nThe quince runs before a request."),
			"Context7 docs for \"next.js\" indexed into knowledge store.\n",
		},
	} {
		out, err := w.client.Hook(t.Context(), api.HookEvent{
			Agent: "claude", Event: tt.event, Accept: "text/plain", Wait: longWait,
		})
		if err != nil || string(out) != tt.want {
			t.Errorf("%q, %v, want %q (rule A17)", out, err, tt.want)
		}
	}
	w.server.Hooks().Await(t.Context()) // not for the spooled work
	w.server.Stop()
	left, err := filepath.Glob(filepath.Join(dir, "hooks", "*.0.json"))
	if err != nil || len(left) != len(dead) {
		t.Errorf("%d pieces left that count as not tried, %v, want %d", len(left), err, len(dead))
	}
}

func TestTheHookQueueIsBounded(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "hooks"), 0o700); err != nil {
		t.Fatal(err)
	}
	for i := range 999 {
		if err := os.WriteFile(filepath.Join(dir, "hooks", fmt.Sprintf("%020d-X.0.json", i)), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	work := []agents.Work{{URL: pageURL, Agent: agents.Claude}}
	if err := hooks.Spool(dir, work); err != nil {
		t.Error(err)
	}
	if err := hooks.Spool(dir, work); err == nil {
		t.Error("1,001 pieces of work were taken on")
	}
	if left, err := os.ReadDir(filepath.Join(dir, "hooks")); err != nil || len(left) != 1000 {
		t.Errorf("%d pieces, %v, want 1,000", len(left), err)
	}
}

func TestTheHookPathIsGuarded(t *testing.T) {
	w := newWorld(t, func(o *server.Options) { o.Token = "token" })
	addr := w.listen(t)
	for name, tt := range map[string]struct {
		fields []string
		want   int
	}{
		"no token": {[]string{"Content-Type: application/json"}, http.StatusUnauthorized},
		"foreign origin": {[]string{
			"Content-Type: application/json", "Authorization: Bearer token",
			"Origin: https://evil.test",
		}, http.StatusForbidden},
		"plain text": {
			[]string{"Content-Type: text/plain", "Authorization: Bearer token"},
			http.StatusUnsupportedMediaType,
		},
		"as it should": {[]string{"Content-Type: application/json", "Authorization: Bearer token"}, http.StatusOK},
	} {
		if resp := ask(t, addr, "POST", "/api/v1/hooks/claude", string(webFetch("PreToolUse", pageURL)),
			tt.fields...); resp.StatusCode != tt.want {
			t.Errorf("%s: status %d, want %d", name, resp.StatusCode, tt.want)
		}
	}
}
