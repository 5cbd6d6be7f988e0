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
