package store_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/store"
)

func TestSiteRecipesAreKeptNewestFirstAndOneOfAName(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	put := func(list ...store.SiteRecipe) {
		t.Helper()
		if err := s.PutSiteRecipes(list, time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	put(store.SiteRecipe{Name: "a", Text: "1"})
	put(store.SiteRecipe{Name: "b", Text: "2"}, store.SiteRecipe{Name: "c", Text: "3", Signer: "k"})
	put(store.SiteRecipe{Name: "b", Text: "4"})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openStore(t, store.Options{Dir: dir})
	var got []string
	for _, r := range s.SiteRecipes() {
		got = append(got, r.Name+r.Text+r.Signer)
	}
	if strings.Join(got, " ") != "b4 c3k a1" {
		t.Errorf("recipes: %v", got)
	}
	if err := s.DeleteSiteRecipe("c"); err != nil || len(s.SiteRecipes()) != 2 {
		t.Errorf("delete: %v, %v", err, s.SiteRecipes())
	}
	if err := s.DeleteSiteRecipe("c"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("delete again: %v", err)
	}
	large := store.SiteRecipe{Name: "d", Text: strings.Repeat("x", 600<<10)}
	if err := s.PutSiteRecipes([]store.SiteRecipe{large}, time.Now()); !errors.Is(err, store.ErrRecipes) {
		t.Errorf("too much: %v", err)
	}
	if len(s.SiteRecipes()) != 2 {
		t.Error("a refused recipe changed the others")
	}
}
