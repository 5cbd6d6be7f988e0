package fetch

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/store"
)

// newAddressing returns a Fetcher with options that say different things of different URLs.
func newAddressing(t *testing.T) *Fetcher {
	t.Helper()
	s, err := store.Open(store.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	f := New(addressing(t, s))
	t.Cleanup(func() { _ = f.Close() })
	return f
}

func addressing(t *testing.T, s *store.Store) Options {
	t.Helper()
	list, err := recipe.Parse([]byte("recipe: app\nmatch: {host: a.test}\ncontent: main\nrender: always\nwait: .ready\n"))
	if err != nil {
		t.Fatal(err)
	}
	return Options{
		Store: s, BlockedDomains: []string{"bad.test"}, Preferences: PreferencesTell,
		Recipes: recipe.NewSet(list, func() []*recipe.Recipe { return nil }),
		Rules: hostrule.Rules{
			{Host: "a.test", Path: "/quiet/*", Render: RenderNever, TTL: time.Hour, Preferences: PreferencesIgnore, Log: "off"},
			{Host: "a.test", Path: "/no/*", Action: "block"},
			{Host: "b.test", Cascade: []string{"local"}},
		},
	}
}

func TestAnAddressHasWhatRulesRecipesAndOptionsSay(t *testing.T) {
	f := newAddressing(t)
	type says struct {
		refused, render, preferences, rule, steps, robots string
		lifetime                                          time.Duration
		hidden, secret                                    bool
	}
	all := "negotiate alternate local browser markdown_new"
	for raw, want := range map[string]says{
		"https://c.test/x": {
			render: RenderAuto, preferences: PreferencesTell, steps: all, robots: "https://c.test/robots.txt",
		},
		"https://a.test/x#part": { // a recipe
			render: RenderAlways, preferences: PreferencesTell, steps: all, robots: "https://a.test/robots.txt",
		},
		"https://a.test/quiet/x": { // a rule comes before it
			render: RenderNever, preferences: PreferencesIgnore, steps: all, robots: "https://a.test/robots.txt",
			rule: "a.test/quiet/*", lifetime: time.Hour, hidden: true,
		},
		"https://a.test/%6eo/x": {
			refused: "a rule blocks it", render: RenderAlways, preferences: PreferencesTell, steps: all,
			robots: "https://a.test/robots.txt", rule: "a.test/no/*",
		},
		"http://b.test:8080/?access_token=0123456789abcdef0123": {
			render: RenderAuto, preferences: PreferencesTell, steps: "local", robots: "http://b.test:8080/robots.txt",
			rule: "b.test", secret: true,
		},
		"https://www.bad.test/": {
			refused: "bad.test is on the list of blocked domains", render: RenderAuto, preferences: PreferencesTell,
			steps: all, robots: "https://www.bad.test/robots.txt",
		},
		"ftp://c.test/x": {
			refused: "is not http or https", render: RenderAuto, preferences: PreferencesTell, steps: all,
			robots: "ftp://c.test/robots.txt",
		},
	} {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		at := f.addressOf(u)
		got := says{
			render: at.render, preferences: at.preferences, rule: at.rule, steps: strings.Join(at.cascade, " "),
			robots: at.robots, lifetime: at.lifetime, hidden: at.hidden, secret: at.secret,
		}
		if err := at.refusal(u); err != nil {
			got.refused = want.refused
			if want.refused == "" || !strings.Contains(err.Error(), want.refused) {
				got.refused = err.Error()
			}
		}
		if got != want {
			t.Errorf("%s:\n%+v, want\n%+v", raw, got, want)
		}
	}
}

func TestAnAddressIsFoundOnceUntilTheOptionsChange(t *testing.T) {
	f := newAddressing(t)
	at := func(f *Fetcher, raw string) *address {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		return f.addressOf(u)
	}
	const short = "https://a.test/x"
	long, password := short+strings.Repeat("y", maxRemembered), "https://u:p@a.test/x"
	for raw, once := range map[string]bool{short: true, long: false, password: false} {
		first := at(f, raw)
		if got := at(f, raw) == first; got != once {
			t.Errorf("%.30s is found once: %t, want %t", raw, got, once)
		}
	}
	before := at(f, short)
	o := addressing(t, f.o.Store)
	o.Rules, o.Recipes = nil, nil
	f.Reconfigure(o)
	if after := at(f.newest.Load(), short); before.render != RenderAlways || after.render != RenderAuto {
		t.Errorf("render %s, and without the recipe %s", before.render, after.render)
	}
}
