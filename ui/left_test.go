package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/store"
)

// fillLedger tells of disclosures to services, about URLs and because of what texts say.
func (w *world) fillLedger(t *testing.T, texts []string) {
	t.Helper()
	for _, text := range texts {
		d := store.Disclosure{Service: text, URL: "https://a.test/" + text, Bytes: 90, Why: text, Rule: text}
		if err := w.store.Disclose(d); err != nil {
			t.Fatal(err)
		}
	}
}

func TestAServiceIsSwitchedOffByOurFormsAlone(t *testing.T) {
	w := newWorld(t)
	const empty = "Nothing has left this machine but requests to the sites themselves."
	if body := w.do(t, http.MethodGet, "/left", nil).body; !strings.Contains(body, empty) {
		t.Errorf("an empty room does not say %q", empty)
	}
	w.fillLedger(t, []string{"a.test", "a.test", "b.test"})
	good := url.Values{"token": {w.tokenOf(t, "/left")}, "service": {"a.test"}, "off": {"1"}}
	bare := url.Values{"service": {"a.test"}, "off": {"1"}}
	if got := w.send(t, "/left", bare, nil); got.status != http.StatusForbidden {
		t.Errorf("no token: status %d", got.status)
	}
	elsewhere := func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }
	if got := w.send(t, "/left", good, elsewhere); got.status != http.StatusForbidden {
		t.Errorf("another origin: status %d", got.status)
	}
	if off := w.store.ServicesOff(); len(off) > 0 {
		t.Errorf("switched off by others: %v", off)
	}
	if got := w.send(t, "/left", good, nil); got.status != http.StatusSeeOther || !w.store.ServiceOff("a.test") {
		t.Errorf("a good form: status %d", got.status)
	}
	good.Set("service", "unheard.test")
	if got := w.send(t, "/left", good, nil); got.status != http.StatusNotFound {
		t.Errorf("a service nobody knows: status %d", got.status)
	}
	body := w.do(t, http.MethodGet, "/left?done=off", nil).body
	for _, want := range []string{"nothing is sent to it", ">off</span>", "Switch on", `<td class="n sent">2</td>`} {
		if !strings.Contains(body, want) {
			t.Errorf("the room does not say %q", want)
		}
	}
}

// useLeft switches a service off and on, by buttons.
func useLeft(t *testing.T, w *world, b *browser) {
	t.Helper()
	const row = `//tr[td[.="calm.test"]]//button`
	b.open("/left")
	b.press(row + `[.="Switch off"]`)
	b.see(row + `[.="Switch on"]`)
	if !w.store.ServiceOff("calm.test") {
		t.Error("the service is not switched off")
	}
	b.press(row + `[.="Switch on"]`)
	b.see(row + `[.="Switch off"]`)
	if w.store.ServiceOff("calm.test") {
		t.Error("the service is still switched off")
	}
	b.check("left")
}
