package fetch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/hostrule"
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/store"
)

// recipes returns an option: the recipes of a text.
func recipes(t *testing.T, text string) func(*fetch.Options) {
	t.Helper()
	list, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	set := recipe.NewSet(list, func() []*recipe.Recipe { return nil })
	return func(o *fetch.Options) { o.Recipes = set }
}

const harbourRecipe = "recipe: harbour\nmatch: {host: site.test}\ncontent: .lead\n"

func TestARecipeMakesThePageAndIsTold(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour", sections), html), recipes(t, harbourRecipe))
	for _, want := range []string{"recipe harbour", "rendition from the store, recipe harbour"} {
		ans := c.read(t, "https://site.test/p")
		if body := string(ans.Body); !strings.Contains(body, "First [link]") || strings.Contains(body, "Second") {
			t.Errorf("body = %s", body)
		}
		last := ans.Page.Attempts[len(ans.Page.Attempts)-1]
		if last.Reason != want {
			t.Errorf("reason = %q, want %q", last.Reason, want)
		}
	}
}

func TestAnotherRecipeConvertsAgainWithoutTheOrigin(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour", sections), html, "Cache-Control: max-age=600"))
	shows := func(want bool) {
		t.Helper()
		ans := c.read(t, "https://site.test/p")
		if got := strings.Contains(string(ans.Body), "Second"); got != want {
			t.Errorf("the whole page is shown: %t, want %t", got, want)
		}
	}
	change := func(text string) {
		t.Helper()
		o := fetch.Options{UserAgent: "readthru/test", MarkdownNew: fetch.MarkdownNew{Mode: "off"}}
		if text != "" {
			recipes(t, text)(&o)
		}
		c.Reconfigure(o)
	}
	shows(true)
	change(harbourRecipe)
	shows(false)
	change(strings.Replace(harbourRecipe, ".lead", "main", 1))
	shows(true)
	change("")
	shows(true)
	if n := len(c.origin.asked()); n != 1 {
		t.Errorf("the origin was asked %d times", n)
	}
}

func TestARecipeThatMatchesNothingIsToldAndNotUsed(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour", sections), html),
		recipes(t, strings.Replace(harbourRecipe, ".lead", ".gone", 1)))
	ans := c.read(t, "https://site.test/p")
	last := ans.Page.Attempts[len(ans.Page.Attempts)-1]
	if !strings.Contains(string(ans.Body), "Second") || !slices.Contains(ans.Page.Warnings, "recipe-missed") ||
		!strings.HasPrefix(last.Reason, "recipe harbour: its selectors match nothing") {
		t.Errorf("warnings %v, reason %q, body %s", ans.Page.Warnings, last.Reason, ans.Body)
	}
}

func TestStoredRecipesThatAreNotUnderstoodAreLeftOut(t *testing.T) {
	list := []store.SiteRecipe{{Name: "old", Text: "recipe: old\nnope: 1\n"}, {Name: "harbour", Text: harbourRecipe}}
	parsed, errs := hostrule.StoredRecipes(list)
	if parsed[0] != nil || errs[0] == nil || parsed[1] == nil || errs[1] != nil {
		t.Errorf("parsed %v, errors %v", parsed, errs)
	}
	if set := hostrule.RecipeSet(list).Recipes(); set[0].Name != "harbour" || len(set) != 1+len(recipe.Shipped()) {
		t.Errorf("%d recipes, the first %s", len(set), set[0].Name)
	}
}
