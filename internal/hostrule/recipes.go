package hostrule

import (
	"github.com/readthru/readthru/internal/recipe"
	"github.com/readthru/readthru/store"
)

// StoredRecipes returns recipes of the store. The error of each is nil unless this program does not understand it.
func StoredRecipes(list []store.SiteRecipe) (recipes []*recipe.Recipe, errs []error) {
	recipes, errs = make([]*recipe.Recipe, len(list)), make([]error, len(list))
	for i, r := range list {
		parsed, err := recipe.Parse([]byte(r.Text))
		if errs[i] = err; err == nil {
			recipes[i] = parsed[0]
		}
	}
	return recipes, errs
}

// RecipeSet returns the set of the recipes of the store that this program understands, and of those that are shipped.
func RecipeSet(list []store.SiteRecipe) *recipe.Set {
	var own []*recipe.Recipe
	parsed, _ := StoredRecipes(list) // the list of recipes shows which have a mistake
	for _, r := range parsed {
		if r != nil {
			own = append(own, r)
		}
	}
	return recipe.NewSet(own, recipe.Shipped)
}
