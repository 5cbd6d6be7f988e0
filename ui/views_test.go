package ui_test

import (
	"fmt"
	"html"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

func TestViewsOfRequestsAreLinksWithNames(t *testing.T) {
	w := newWorld(t)
	w.told.Add(&journal.Entry{Time: time.Now(), Method: "GET", URL: "https://a.test/", Status: 502, Outcome: "failed"})
	w.told.Add(&journal.Entry{Time: time.Now(), Method: "GET", URL: "https://b.test/", Status: 200, Outcome: "hit"})
	w.told.Add(&journal.Entry{
		Time: time.Now().Add(-3 * time.Hour), Method: "GET", URL: "https://c.test/", Status: 404, Outcome: "miss",
	})
	get := func(path string) string {
		t.Helper()
		got := w.do(t, http.MethodGet, path, nil)
		if got.status != http.StatusOK {
			t.Fatalf("%s: status %d", path, got.status)
		}
		return got.body
	}
	has := func(body string, wanted ...string) {
		t.Helper()
		for _, want := range wanted {
			if !strings.Contains(body, want) {
				t.Errorf("the page has no %s", want)
			}
		}
	}
	first := get("/requests")
	has(first, `<a href="/requests" aria-current="true"><bdi>all</bdi></a> <a href="/requests?q=is%3Afailed">`+
		`<bdi>what failed</bdi></a> <a href="/requests?q=ms%3A%3E1000&#43;-outcome%3Atunnel"><bdi>what was slow</bdi></a> `+
		`<a href="/requests?q=step%3Amarkdown_new%2Cllm"><bdi>what left this machine</bdi></a> `+
		`<a href="/requests?q=outcome%3Atunnel"><bdi>what was tunnelled</bdi></a>`)
	if strings.Contains(first, "Save view") {
		t.Error("all requests can be saved as a view")
	}
	failed := get("/requests?q=" + url.QueryEscape("is:failed"))
	has(failed, "<title>Requests: what failed · readthru</title>", `aria-current="true"><bdi>what failed</bdi>`,
		"//a.test/", "//c.test/", `<a href="/requests?q=is%3Afailed&#43;since%3A1h">last hour</a>`)
	if strings.Contains(failed, "//b.test/") || strings.Contains(failed, "Remove view") {
		t.Error("it shows what did not fail, or can be removed")
	}
	lately := get("/requests?q=" + url.QueryEscape("is:failed since:1h"))
	has(lately, `aria-current="true"><bdi>what failed</bdi>`, `aria-current="true">last hour</a>`, "//a.test/",
		`<a href="/requests?q=outcome%3Atunnel&#43;since%3A1h"><bdi>what was tunnelled</bdi></a>`)
	if strings.Contains(lately, "//c.test/") {
		t.Error("it shows what is older than an hour")
	}

	// One's own: any name and filter, saved by a form, kept over a restart, removed by a form.
	name, filter := `"><script>hit()</script> & 'mine'`, `host:b.test why:"<b>"`
	has(get("/requests?q="+url.QueryEscape(filter)), "Save view", `name="filter" value="`+html.EscapeString(filter))
	form := url.Values{"name": {name}, "filter": {filter}}
	if got := w.send(t, "/requests/views", form, nil); got.status != http.StatusForbidden {
		t.Errorf("without a token: status %d", got.status)
	}
	form.Set("token", w.tokenOf(t, "/requests"))
	got := w.send(t, "/requests/views", form, nil)
	at := got.header.Get("Location")
	want := "/requests?" + url.Values{"q": {filter}}.Encode() + "&done=saved"
	if got.status != http.StatusSeeOther || at != want {
		t.Fatalf("save: status %d, %s", got.status, at)
	}
	w.restart("two", "token")
	body := get(at)
	has(body, "The view is saved.", `aria-current="true"><bdi>`+html.EscapeString(name), "Remove view")
	if strings.Contains(body, "<script>hit") || strings.Contains(body, "Save view") {
		t.Error("its name is not escaped, or it can be saved again")
	}
	form.Set("token", w.tokenOf(t, "/requests"))
	form.Set("filter", "colour:red")
	if got := w.send(t, "/requests/views", form, nil); got.status != http.StatusBadRequest ||
		!strings.Contains(got.body, "unknown filter colour") {
		t.Errorf("a malformed filter: status %d", got.status)
	}
	form.Set("view", w.store.Views()[0].ID)
	if got := w.send(t, "/requests/views/remove", form, nil); got.status != http.StatusSeeOther {
		t.Errorf("remove: status %d", got.status)
	}
	if list := w.store.Views(); len(list) != 0 || strings.Contains(get("/requests"), "mine") {
		t.Errorf("views: %+v", list)
	}
}

// fillViews saves views whose names and filters are texts.
func (w *world) fillViews(t *testing.T, texts []string) {
	t.Helper()
	for i, text := range texts {
		v := store.View{Name: text, Filter: fmt.Sprintf("%q", text)}
		if i%2 == 0 {
			v.Filter = text
		}
		if _, err := w.store.PutView(v, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
}

// useViews saves and removes a view by its buttons, without scripts.
func useViews(t *testing.T, w *world, b *browser) {
	t.Helper()
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	b.open("/requests?q=host:calm.test")
	b.find(`//input[@id="name"]`, `(e.value = "calm things", true)`)
	b.press(`//button[.="Save view"]`)
	b.see(`//p[@role="status" and contains(., "The view is saved.")]`)
	b.press(`//a[.="last hour"]`)
	b.see(`//a[contains(., "calm.test/page")]`)
	b.press(`//a[.="calm things"]`)
	b.see(`//a[@aria-current="true" and .="last hour"]`)
	b.press(`//a[.="any time"]`)
	b.see(`//a[@aria-current="true" and .="any time"]`)
	b.press(`//button[.="Remove view"]`)
	b.see(`//p[@role="status" and contains(., "The view is removed.")]`)
	list, err := w.server.Client("test").Views(t.Context())
	if err != nil || strings.Contains(fmt.Sprint(list.Views), "calm things") {
		t.Errorf("%v, %+v", err, list)
	}
	call(b, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{})
	b.check("views")
}
