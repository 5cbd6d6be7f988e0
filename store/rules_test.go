package store_test

import (
	"errors"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

func TestRulesAreKeptNewestFirstAndOneForAHostAndPath(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	var ids []string
	for _, r := range []store.RuleFields{
		{Host: "a.test", Action: "tunnel"},
		{Host: "b.test", Action: "block"},
		{Host: "a.test", Path: "/x", Mode: "never"},
		{Host: "A.test", Action: "block", TTL: time.Hour, Cascade: []string{"local"}},
	} {
		made, err := s.PutRule(store.Rule{RuleFields: r}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, made.ID)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	got := s.Rules()
	if len(got) != 3 || got[0].Host != "A.test" || got[0].TTL != time.Hour || len(got[0].Cascade) != 1 ||
		got[1].Path != "/x" || got[2].Host != "b.test" {
		t.Errorf("rules: %+v", got)
	}
	if err := s.DeleteRule(ids[0]); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("a rule that was replaced: %v", err)
	}
	if err := s.DeleteRule(ids[1]); err != nil || len(s.Rules()) != 2 {
		t.Errorf("delete: %v, %+v", err, s.Rules())
	}
}

// A newer program has added to what people made by hand. This one changes other elements of the same lists.
func TestWhatPeopleAddedKeepsTheFieldsOfANewerProgram(t *testing.T) {
	s := openStore(t, store.Options{Dir: t.TempDir()})
	const future = `{"future":[1]}`
	now := time.Now()
	for _, n := range []string{"first", "second", "third"} {
		rule := store.Rule{RuleFields: store.RuleFields{Host: n + ".test"}}
		recipe, view := store.SiteRecipe{Name: n}, store.View{Name: n}
		if n == "first" {
			rule.Unknown, recipe.Unknown, view.Unknown = future, future, future
		}
		_, err1 := s.PutRule(rule, now)
		_, err2 := s.PutView(view, now)
		if err := errors.Join(err1, err2, s.PutSiteRecipes([]store.SiteRecipe{recipe}, now)); err != nil {
			t.Fatal(err)
		}
	}
	if r := s.Rules(); r[2].Host != "first.test" || r[2].Unknown != future || r[1].Unknown != "" {
		t.Errorf("rules: %+v", r)
	}
	if r := s.SiteRecipes(); r[2].Name != "first" || r[2].Unknown != future || r[1].Unknown != "" {
		t.Errorf("site recipes: %+v", r)
	}
	if v := s.Views(); v[0].Name != "first" || v[0].Unknown != future || v[1].Unknown != "" {
		t.Errorf("views: %+v", v)
	}
}
