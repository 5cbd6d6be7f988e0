package recipe_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/recipe"
)

func TestShippedRecipesPassTheirTests(t *testing.T) {
	list := recipe.Shipped()
	if len(list) < 10 {
		t.Fatalf("%d recipes are shipped", len(list))
	}
	names := map[string]bool{}
	for _, r := range list {
		if names[r.Name] {
			t.Errorf("two recipes are called %s", r.Name)
		}
		names[r.Name] = true
		results, err := r.Run(t.Context(), nil)
		if err != nil || len(results) == 0 {
			t.Errorf("%s: %d results, err = %v", r.Name, len(results), err)
		}
		for _, res := range results {
			if !res.Passed {
				t.Errorf("%s: %s", r.Name, strings.Join(res.Failures, "\n"))
			}
		}
		page := r.Tests[0]
		u, _ := url.Parse(page.URL)
		res, err := r.Apply(t.Context(), []byte(page.HTML), "text/html; charset=utf-8", u)
		if author := res.Meta["author"]; err != nil || author != "ann" && author != "eve" {
			t.Errorf("%s: the page's author is %q, err = %v", r.Name, author, err)
		}
		if r.About == "" || r.OneSite() || r.Selectors.Has == "" {
			t.Errorf("%s must say what it is for, and be for pages by what they have", r.Name)
		}
	}
}
