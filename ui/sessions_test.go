package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
	own "github.com/readthru/readthru/page"
)

// fillSessions counts requests of sessions with the names in texts, and stores pages that they have fetched.
func (w *world) fillSessions(t *testing.T, texts []string) {
	t.Helper()
	var list []api.SessionStats
	for i, text := range texts {
		list = append(list, api.SessionStats{
			Session: text, Requests: int64(120 - i%100), Hits: 80, Errors: int64(i % 3), RejectedCA: []string{text},
			Tokens: api.TokenStats{HTML: 90_000, Markdown: 9000, Saved: 81_000}, Recording: i%7 == 0,
		})
		p := &own.Page{Record: own.Record{
			URL: "https://a.test/" + text, NormalizedURL: "https://a.test/" + text, Title: text, Type: "documentation",
		}}
		_, _ = w.store.PutFetched(text, p, []byte("# "+text)) // what is no name of a session has fetched nothing
	}
	w.sessions.Store(&list)
}

func TestASessionForgetsByOurFormsAlone(t *testing.T) {
	w := newWorld(t)
	name := `run "1" /../é`
	w.fillSessions(t, []string{name, "other"})
	body := w.do(t, http.MethodGet, "/session?name="+url.QueryEscape(name), nil).body
	for _, want := range []string{"80 from the cache", "81\u202f000 saved", "a.test", "End the recording"} {
		if !strings.Contains(body, want) {
			t.Errorf("the session's page does not say %q", want)
		}
	}
	form := url.Values{"session": {name}}
	if got := w.send(t, "/session/empty", form, nil); got.status != http.StatusForbidden {
		t.Errorf("no token: status %d", got.status)
	}
	if got := w.store.Fetched(name); len(got.Pages) != 1 {
		t.Errorf("emptied by others: %+v", got)
	}
	form.Set("token", w.tokenOf(t, "/session?name="+url.QueryEscape(name)))
	if got := w.send(t, "/session/empty", form, nil); got.status != http.StatusSeeOther {
		t.Errorf("a good form: status %d", got.status)
	}
	if got := w.store.Fetched(name); len(got.Pages) != 0 {
		t.Errorf("not emptied: %+v", got)
	}
	if got := w.store.Fetched("other"); len(got.Pages) != 1 {
		t.Errorf("another session: %+v", got)
	}
	if got := w.send(t, "/session/end", form, nil); got.status != http.StatusConflict {
		t.Errorf("the end of a recording without a proxy: status %d", got.status)
	}
	if got := w.do(t, http.MethodGet, "/session?name=unheard", nil); got.status != http.StatusNotFound {
		t.Errorf("no such session: status %d", got.status)
	}
}

// useSessions empties a session, by buttons.
func useSessions(t *testing.T, w *world, b *browser) {
	t.Helper()
	b.open("/sessions")
	b.press(`//a[@href="/session?name=calm"]`)
	b.see(`//h1[.="calm recording"]`)
	b.press(`//summary[.="Delete"]`)
	b.press(`//button[.="Forget what was fetched"]`)
	b.see(`//p[@role="status" and contains(., "is forgotten")]`)
	if got := w.store.Fetched("calm"); len(got.Pages) != 0 {
		t.Errorf("the session has %d pages", len(got.Pages))
	}
	b.check("sessions")
}
