package ui_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

// fillSites learns about hosts, from clients that say text.
func (w *world) fillSites(t *testing.T, texts []string) {
	t.Helper()
	now := time.Now()
	var failed []error
	for i, text := range texts {
		_, _, err := w.store.Learn("hostile.test", store.RejectsCA, text, "", now)
		failed = append(failed, err)
		host := fmt.Sprintf("h%d.%s", i, strings.NewReplacer("/", "", "\x00", "").Replace(text))
		_, _, _ = w.store.Learn(host, store.Negotiates, "", "", now) // what is too long for a host is not learnt about
	}
	says := store.RuleFields{Host: "calm.test", Action: "tunnel", Cascade: []string{"local"}, Preferences: "tell"}
	_, err := w.store.PutRule(store.Rule{RuleFields: says}, now)
	if err := errors.Join(append(failed, err)...); err != nil {
		t.Fatal(err)
	}
}

// fillRules makes a rule for paths that are texts. It returns what removes them.
func (w *world) fillRules(t *testing.T, texts []string) (remove func()) {
	t.Helper()
	var made []store.Rule
	for _, text := range texts {
		says := store.RuleFields{Host: "ruled.test", Path: "/" + text, Log: "off"}
		rule, err := w.store.PutRule(store.Rule{RuleFields: says}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		made = append(made, rule)
	}
	return func() {
		for _, rule := range made {
			if err := w.store.DeleteRule(rule.ID); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// useSites blocks a host and has it forgotten, by buttons.
func useSites(t *testing.T, w *world, b *browser) {
	t.Helper()
	if _, _, err := w.store.Learn("gone.test", store.Negotiates, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	b.open("/sites?q=hostile")
	b.press(`//a[contains(., "hostile.test")]`)
	b.press(`//button[.="Block"]`)
	b.see(`//p[@role="status" and contains(., "The rule is in effect.")]`)
	if rules := w.store.Rules(); len(rules) != 2 || rules[0].Host != "hostile.test" || rules[0].Action != "block" {
		t.Errorf("rules: %+v", rules)
	}
	b.press(`//button[.="Forget what was learnt"]`)
	b.see(`//p[@role="status" and contains(., "forgotten")]`)
	b.press(`//button[.="Remove this rule"]`)
	b.see(`//p[@role="status" and contains(., "removed")]`)
	if h, err := w.store.Host("hostile.test"); err != nil || len(h.Facts) != 0 || len(w.store.Rules()) != 1 {
		t.Errorf("it is not forgotten: %v, %+v, %+v", err, h, w.store.Rules())
	}
	if _, _, err := w.store.Learn("hostile.test", store.Negotiates, "", "", time.Now()); err != nil {
		t.Fatal(err)
	}
	b.open("/sites/gone.test")
	b.press(`//summary[contains(., "Remove all")]`)
	b.press(`//button[contains(., "Remove all of")]`)
	b.see(`//p[@role="status" and contains(., "removed")]`)
	if h, err := w.store.Host("gone.test"); err != nil || len(h.Facts) != 0 {
		t.Errorf("it is not removed: %v, %+v", err, h)
	}
	b.open("/sites")
	b.see(`//tbody[contains(., "Treated differently")]//td[contains(., "tunnelled")]`)
	b.open("/sites/calm.test")
	b.see(`//td[.="tunnel, cascade local, preferences tell"]`)
	b.press(`//button[.="Block"]`) // which changes this alone
	b.see(`//td[.="block, cascade local, preferences tell"]`)
	b.open("/sites")
	b.press(`//tr[contains(., "calm.test")]//button[.="Remove rule"]`)
	b.see(`//p[@role="status" and contains(., "removed")]`)
	b.press(`//tr[contains(., "hostile.test")]//button[.="Intercept"]`)
	b.see(`//p[@role="status" and contains(., "The rule is in effect.")]`)
	b.press(`//tr[contains(., "hostile.test")]//button[.="Remove rule"]`)
	b.see(`//p[@role="status" and contains(., "removed")]`)
	b.find(`//input[@id="host"]`, `(e.value = "*.quiet.test", true)`)
	b.press(`//button[.="Add rule"]`)
	b.see(`//section[@aria-labelledby="rules"]//tr[contains(., "*.quiet.test")]`)
	if rules := w.store.Rules(); len(rules) != 1 || rules[0].Host != "*.quiet.test" || rules[0].Action != "intercept" {
		t.Errorf("rules: %+v", rules)
	}
	b.open("/")
	b.press(`//button[@name="paused"]`)
	b.see(`//p[contains(., "Paused: ")]`)
	b.press(`//button[@name="paused"]`)
	b.see(`//button[.="Pause"]`)
	b.check("sites")
}

func TestSitesAreChangedByOurFormsAlone(t *testing.T) {
	w := newWorld(t)
	w.fillSites(t, nil)
	page := w.do(t, http.MethodGet, "/sites/calm.test", nil)
	_, rest, _ := strings.Cut(page.body, `name="token" value="`)
	token, _, _ := strings.Cut(rest, `"`)
	post := func(path string, form url.Values, change func(*http.Request)) int {
		return w.do(t, http.MethodPost, path, func(r *http.Request) {
			text := form.Encode()
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", w.base)
			r.Body, r.ContentLength = io.NopCloser(strings.NewReader(text)), int64(len(text))
			if change != nil {
				change(r)
			}
		}).status
	}
	good := url.Values{"token": {token}, "action": {"block"}}
	for name, tt := range map[string]struct {
		form   url.Values
		change func(*http.Request)
		want   int
	}{
		"no token":       {url.Values{"action": {"block"}}, nil, 403},
		"a wrong token":  {url.Values{"token": {"x"}, "action": {"block"}}, nil, 403},
		"another origin": {good, func(r *http.Request) { r.Header.Set("Origin", "https://evil.test") }, 403},
		"no origin":      {good, func(r *http.Request) { r.Header.Del("Origin") }, 415},
		"another host":   {good, func(r *http.Request) { r.Host = "evil.test" }, 403},
		"a stranger":     {good, func(r *http.Request) { r.Header.Del("Authorization") }, 401},
		"no action":      {url.Values{"token": {token}, "action": {"kill"}}, nil, 400},
		"no time":        {url.Values{"token": {token}, "ttl": {"long"}}, nil, 400},
	} {
		if got := post("/sites/calm.test/rule", tt.form, tt.change); got != tt.want {
			t.Errorf("%s: status %d, want %d", name, got, tt.want)
		}
		for _, path := range []string{"/sites/calm.test/forget", "/sites/unrule", "/sites/rules", "/switches"} {
			if got := post(path, tt.form, tt.change); tt.want > 400 && got != tt.want {
				t.Errorf("%s, %s: status %d, want %d", name, path, got, tt.want)
			}
		}
	}
	if rules := w.store.Rules(); len(rules) != 1 || rules[0].Action != "tunnel" {
		t.Errorf("rules: %+v", rules)
	}
	ttl := url.Values{"token": {token}, "ttl": {"2h"}}
	if got := post("/sites/calm.test/rule", ttl, nil); got != http.StatusSeeOther {
		t.Errorf("a good form: status %d", got)
	}
	if rules := w.store.Rules(); len(rules) != 1 || rules[0].Action != "tunnel" || rules[0].TTL != 2*time.Hour {
		t.Errorf("a changed rule: %+v", rules)
	}
}

func TestWhatStandsInTheWayOfAButtonIsRemoved(t *testing.T) {
	w := newWorld(t)
	token := w.tokenOf(t, "/sites")
	own := func(host, action string, ttl time.Duration) []store.RuleFields {
		return []store.RuleFields{{Host: host, Action: action, TTL: ttl}}
	}
	// Without a rule, a.test is intercepted and hostile.test tunnelled.
	for name, tt := range map[string]struct {
		rules []store.RuleFields
		host  string
		form  url.Values
		says  string // by a key of doneTexts
		want  []store.RuleFields
	}{
		"the rule tunnels": {own("a.test", "tunnel", 0), "a.test", url.Values{"action": {"intercept"}}, "unruled", nil},
		"the rule tunnels and says more": {
			own("a.test", "tunnel", time.Hour), "a.test",
			url.Values{"action": {"intercept"}},
			"ruled",
			own("a.test", "", time.Hour),
		},
		"the rule intercepts": {
			own("hostile.test", "intercept", 0), "hostile.test", url.Values{"action": {"tunnel"}}, "unruled", nil,
		},
		"the rule and the preset tunnel": {
			own("hostile.test", "tunnel", 0), "hostile.test",
			url.Values{"action": {"intercept"}},
			"ruled",
			own("hostile.test", "intercept", 0),
		},
		"the preset tunnels": {
			nil, "hostile.test", url.Values{"action": {"intercept"}}, "ruled", own("hostile.test", "intercept", 0),
		},
		"a rule for many tunnels": {
			own("*.test", "tunnel", 0), "a.test",
			url.Values{"action": {"intercept"}},
			"ruled",
			append(own("a.test", "intercept", 0), own("*.test", "tunnel", 0)...),
		},
		"neither does": {
			own("a.test", "tunnel", 0), "a.test", url.Values{"action": {"block"}}, "ruled", own("a.test", "block", 0),
		},
		"no longer listed": {
			nil, "a.test", url.Values{"log": {"off"}}, "ruled", []store.RuleFields{{Host: "a.test", Log: "off"}},
		},
		"listed again": {
			[]store.RuleFields{{Host: "a.test", Log: "off"}}, "a.test", url.Values{"log": {""}}, "unruled", nil,
		},
	} {
		for _, r := range w.store.Rules() {
			if err := w.store.DeleteRule(r.ID); err != nil {
				t.Fatal(err)
			}
		}
		for _, r := range tt.rules {
			if _, err := w.store.PutRule(store.Rule{RuleFields: r}, time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		tt.form.Set("token", token)
		got := w.send(t, "/sites/"+tt.host+"/rule", tt.form, nil)
		if want := "/sites/" + tt.host + "?done=" + tt.says; got.header.Get("Location") != want {
			t.Errorf("%s: status %d leads to %q, want %q", name, got.status, got.header.Get("Location"), want)
		}
		if rules := w.fieldsOfRules(); !reflect.DeepEqual(rules, tt.want) {
			t.Errorf("%s: rules %+v, want %+v", name, rules, tt.want)
		}
	}
}

// fieldsOfRules returns what the rules of the store say.
func (w *world) fieldsOfRules() (list []store.RuleFields) {
	for _, r := range w.store.Rules() {
		list = append(list, r.RuleFields)
	}
	return list
}

func TestARuleIsAddedForHostsAndPathsByAForm(t *testing.T) {
	w := newWorld(t)
	token := w.tokenOf(t, "/sites")
	for name, tt := range map[string]struct {
		form url.Values
		want int
		says store.RuleFields
	}{
		"a path": {
			url.Values{"host": {"a.test"}, "path": {"/ads/*"}, "action": {"block"}},
			303,
			store.RuleFields{Host: "a.test", Path: "/ads/*", Action: "block"},
		},
		"not listed": {
			url.Values{"path": {"/favicon.ico"}, "action": {""}, "log": {"off"}},
			303,
			store.RuleFields{Host: "*", Path: "/favicon.ico", Log: "off"},
		},
		"everything":    {url.Values{"host": {" "}, "action": {"block"}}, 400, store.RuleFields{}},
		"nothing":       {url.Values{"host": {"a.test"}, "action": {""}}, 400, store.RuleFields{}},
		"a part":        {url.Values{"host": {"b.test"}, "path": {"/x"}, "action": {"intercept"}}, 400, store.RuleFields{}},
		"no such thing": {url.Values{"host": {"b.test"}, "log": {"<b>"}}, 400, store.RuleFields{}},
	} {
		tt.form.Set("token", token)
		before := len(w.store.Rules())
		got := w.send(t, "/sites/rules", tt.form, nil)
		rules := w.fieldsOfRules()
		if got.status != tt.want || tt.want == 303 && !reflect.DeepEqual(rules[0], tt.says) ||
			tt.want > 303 && len(rules) > before {
			t.Errorf("%s: status %d, want %d; rules %+v", name, got.status, tt.want, rules)
		}
	}
	body := w.do(t, http.MethodGet, "/sites", nil).body
	for _, want := range []string{`name="path"`, `name="log"`, "<bdi>/favicon.ico</bdi>", "log off"} {
		if !strings.Contains(body, want) {
			t.Errorf("the room does not have %s", want)
		}
	}
}
