package convert

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/net/html"

	"github.com/readthru/readthru/convert/css"
	"github.com/readthru/readthru/convert/dom"
)

// WarnRecipe says that a recipe is for the page, but its selectors match nothing on it: the page was converted as
// without a recipe. The site has mostly changed, and the recipe should.
const WarnRecipe = "recipe-missed"

// Recipe says by CSS selectors what the content of some pages is. Package recipe reads recipes and knows for which URLs
// they are. It is made once by [NewRecipe], and may be used by several goroutines at once.
type Recipe struct {
	name                     string
	has, content, item, drop css.Selectors
	title, author, date      valueSelector
	next                     css.Selectors
	fields                   []recipeField
	given                    map[string]bool // the selectors that are not empty
}

// RecipeParts are the selectors of a recipe. An empty one says nothing.
type RecipeParts struct {
	Has     string // the recipe is for pages with such an element only
	Content string // the elements with the content
	Item    string // the repeated units of the content: posts, comments, cards; they may lie in one another
	Drop    string // what is left out
	Next    string // the link to the next page of the same content

	// Title, Author and Date are those of the page. Like those of fields, these selectors may end with @ and the name of
	// an attribute, which then has the value; the attribute alone is the item's own.
	Title, Author, Date string
	Fields              []RecipeField // of an item
}

// RecipeField is a field of an item. The names in fieldRoles have a meaning; any other field is written with its name
// where its value has no letters: "votes: 12".
type RecipeField struct{ Name, Selector string }

// The fields of an item that have a meaning. Other names are the writer's own.
const (
	fieldTitle  = "title"  // the item's heading, with its link
	fieldAuthor = "author" // written in bold
	fieldDate   = "date"   // written without its name, like a price
	fieldPrice  = "price"
	fieldBody   = "body"  // the item's text; without such a field, items are written as a list
	fieldDepth  = "depth" // a number: how deep a comment is in its thread
)

// The limits of a recipe.
const (
	maxRecipeFields = 20
	maxRecipeItems  = 20_000
	maxFieldText    = 500     // characters of a field other than the body
	recipeSteps     = 1 << 22 // comparisons with selectors on a page
)

// recipeField is a field that is ready for use.
type recipeField struct {
	name  string
	value valueSelector
}

// valueSelector selects elements and, if attr is not empty, an attribute of them. With no selectors, the attribute is
// the item's own. In a recipe it is written "selector@attribute".
type valueSelector struct {
	css.Selectors
	attr string
	own  bool
}

// RecipeError is a mistake in a part of a recipe. Its text is for the writer of the recipe.
type RecipeError struct {
	Part string // such as content or fields.author
	Err  error
}

// Error says which part of a recipe is wrong, and why.
func (e *RecipeError) Error() string { return e.Part + ": " + e.Err.Error() }

// Unwrap returns the mistake.
func (e *RecipeError) Unwrap() error { return e.Err }

// NewRecipe returns the recipe of some selectors. The error is a [*RecipeError] for the first part that is wrong: a
// selector that is none or that would match anything, fields without items, or a recipe that chooses nothing.
func NewRecipe(name string, parts RecipeParts) (*Recipe, error) {
	r := &Recipe{name: name, given: map[string]bool{}}
	for _, p := range []struct {
		name, text string
		into       *css.Selectors
	}{
		{"has", parts.Has, &r.has},
		{"content", parts.Content, &r.content},
		{"item", parts.Item, &r.item},
		{"drop", parts.Drop, &r.drop},
		{"next", parts.Next, &r.next},
	} {
		if p.text == "" {
			continue
		}
		var err error
		if *p.into, err = css.ParseSelectors(p.text); err != nil {
			return nil, &RecipeError{p.name, fmt.Errorf("selector %.80q: %w", p.text, err)}
		}
		r.given[p.name] = true
	}
	for _, p := range []struct {
		name, text string
		into       *valueSelector
	}{{"title", parts.Title, &r.title}, {"author", parts.Author, &r.author}, {"date", parts.Date, &r.date}} {
		if p.text == "" {
			continue
		}
		var err error
		if *p.into, err = readValueSelector(p.text); err == nil && p.into.own {
			err = errors.New("an attribute without a selector is one of an item")
		}
		if err != nil {
			return nil, &RecipeError{p.name, err}
		}
		r.given[p.name] = true
	}
	if len(parts.Fields) > 0 && parts.Item == "" {
		return nil, &RecipeError{"fields", errors.New("they are fields of items, and the recipe has no item")}
	}
	if len(parts.Fields) > maxRecipeFields {
		return nil, &RecipeError{"fields", fmt.Errorf("there are more than %d", maxRecipeFields)}
	}
	for _, f := range parts.Fields {
		v, err := readValueSelector(f.Selector)
		if err == nil && f.Name == fieldBody && v.attr != "" {
			err = errors.New("the body is elements, not an attribute")
		}
		if err != nil {
			return nil, &RecipeError{"fields." + f.Name, err}
		}
		r.fields = append(r.fields, recipeField{f.Name, v})
	}
	// A recipe that only says for which pages it is, or where they go on, would change nothing.
	if len(r.given) == 0 || len(r.given) == 1 && (r.given["has"] || r.given["next"]) {
		return nil, &RecipeError{"content", errNothing}
	}
	return r, nil
}

// NamesMark reports whether each selector of a recipe names an id, a class or an attribute of what it matches, so that
// it is not for elements of a kind alone. A recipe for every site needs such a selector in has, to be for those pages
// only.
func NamesMark(list string) bool {
	s, err := css.ParseSelectors(list)
	return err == nil && s.Marked()
}

var errNothing = errors.New("the recipe chooses nothing: give content, item, drop, title, author or date")

// readValueSelector reads a recipe's "selector", "selector@attribute" or "@attribute". The third is of an item itself,
// and sets own.
func readValueSelector(text string) (v valueSelector, err error) {
	text = strings.TrimSpace(text)
	selectors := text
	if i := strings.LastIndexByte(text, '@'); i >= 0 && attributeName(text[i+1:]) {
		selectors, v.attr = strings.TrimSpace(text[:i]), strings.ToLower(text[i+1:])
	}
	if selectors == "" && v.attr != "" {
		v.own = true
		return v, nil
	}
	if v.Selectors, err = css.ParseSelectors(selectors); err != nil {
		return v, fmt.Errorf("selector %.80q: %w", text, err)
	}
	return v, nil
}

// attributeName reports whether s can be, in a recipe, the name of an attribute. The names of classes and ids that
// [Document.Propose] uses are of the same characters.
func attributeName(s string) bool {
	return s != "" && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c|0x20 < 'a' || c|0x20 > 'z')
	})
}

// Name returns the recipe's name.
func (r *Recipe) Name() string { return r.name }

// found returns n, which an item's selector has matched, as a value of the field of a recipe that v selects.
func (v valueSelector) found(n *html.Node) found {
	return found{node: n, attr: dom.Attr(n, v.attr), text: v.attr == ""}
}
