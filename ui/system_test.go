package ui_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/api"
)

// fillSystem describes a system that says text wherever it can.
func (w *world) fillSystem(texts []string) {
	sys := &api.System{
		Settings: []api.Setting{
			{Key: "proxy.listen", Value: "127.0.0.1:7887", Source: "default"},
			{Key: "blocked_domains", Value: []string{"ads.example", "spam.example"}, Source: "/home/me/.config/readthru/config.yaml"},
		},
		Agents: []api.Agent{
			{Name: "claude", Title: "Claude Code", Found: true, State: "yes"},
			{Name: "codex", Title: "Codex", Found: true, State: "no"},
			{Name: "cursor", Title: "Cursor", State: "no"},
		},
		Models:  []api.Model{{Use: "llm", Service: "ollama 127.0.0.1:11434", Model: "small", Here: true}},
		Storage: []api.Storage{{Name: "store", Files: 19, Bytes: 48 << 20}, {Name: "ca", Files: 3, Bytes: 240_000}},
		Log: []string{
			`time=2026-11-23T13:00:00.000Z level=INFO msg=serving proxy=127.0.0.1:7887 admin=127.0.0.1:7888`,
			`time=2026-11-23T13:20:11.812Z level=WARN msg="origin not reached" host=a.test`,
		},
	}
	trust := []api.Trust{
		{Store: "the system's trust store", State: api.TrustInstalled},
		{Store: "sql:/home/me/.pki/nssdb", State: api.TrustMissing},
		{Store: "sql:/home/me/.mozilla/firefox/abc.default", State: api.TrustUnknown, Reason: "certutil is not installed"},
	}
	for _, text := range texts {
		trust = append(trust, api.Trust{Store: text, State: text, Reason: text},
			api.Trust{Store: text, State: api.TrustUnknown, Reason: text})
		sys.Settings = append(sys.Settings, api.Setting{Key: text, Value: text, Source: text})
		sys.Agents = append(sys.Agents, api.Agent{Name: text, Title: text, Found: true, Error: text, State: text})
		sys.Models = append(sys.Models, api.Model{Use: text, Service: text, Model: text})
		sys.Storage = append(sys.Storage, api.Storage{Name: text})
		sys.Log = append(sys.Log, text)
	}
	w.system.Store(sys)
	w.trust.Store(&trust)
}

func TestTheSystemIsChangedByOurFormsAlone(t *testing.T) {
	w := newWorld(t)
	w.fillSystem(nil)
	before := w.renewed.Load()
	for _, path := range []string{"/system/renew", "/system/purge", "/system/sweep"} {
		if got := w.send(t, path, url.Values{}, nil); got.status != http.StatusForbidden {
			t.Errorf("%s, no token: status %d", path, got.status)
		}
		form := url.Values{"token": {w.tokenOf(t, "/system")}}
		elsewhere := func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }
		if got := w.send(t, path, form, elsewhere); got.status != http.StatusForbidden {
			t.Errorf("%s, another origin: status %d", path, got.status)
		}
	}
	if w.renewed.Load() != before {
		t.Error("others renewed the authority")
	}
	body := w.do(t, http.MethodGet, "/system", nil).body
	for _, want := range []string{
		"ads.example, spam.example", "1 other has its default", "readthru setup codex", "on this machine", "48 MiB in 19 files",
		"origin not reached", "desk:7887", ">connecting<", ">installed<", ">not installed<", ">could not look</span> <span class=\"dim\">certutil is not installed<",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the room does not say %q", want)
		}
	}
	if strings.Contains(body, "proxy.listen") {
		t.Error("what is as by default is listed")
	}
	if all := w.do(t, http.MethodGet, "/system?all=1", nil).body; !strings.Contains(all, "proxy.listen") {
		t.Error("what is as by default is not listed when asked for")
	}
}

// useSystem renews the authority, and clears the cache, by buttons.
func useSystem(t *testing.T, w *world, b *browser) {
	t.Helper()
	before := w.renewed.Load()
	b.open("/system")
	b.press(`//summary[.="Rotate"]`)
	b.press(`//button[.="Make a new authority"]`)
	b.see(`//p[@role="status" and contains(., "new authority")]`)
	b.press(`//summary[.="Purge"]`)
	b.press(`//button[.="Clear the cache"]`)
	b.see(`//p[@role="status" and contains(., "cleared")]`)
	if w.renewed.Load() != before+1 {
		t.Errorf("it was renewed %d times", w.renewed.Load()-before)
	}
	b.check("system")
}
