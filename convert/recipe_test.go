package convert_test

import (
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/convert"
)

// withRecipe converts a page at https://a.test/dir/page with a recipe.
func withRecipe(t *testing.T, html string, parts convert.RecipeParts, o convert.Options) *convert.Result {
	t.Helper()
	r, err := convert.NewRecipe("example", parts)
	if err != nil {
		t.Fatal(err)
	}
	u, _ := url.Parse("https://a.test/dir/page")
	doc, err := convert.Parse(t.Context(), []byte(html), "text/html", u, r)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

func TestRecipeChoosesContent(t *testing.T) {
	const thread = `<title>T - Site</title><h1>T</h1><div class=c id=1><b>ann</b><p>One</p>
<div class=c><b>bob</b><p>Two</p><div class=c><b>ann</b><p>Three</p></div></div></div><div class=c><b>eve</b><p>Four</p></div>`
	const flat = `<h1>T</h1><table><tr class=c><td indent=0></td><td><b>ann</b><i>One</i></tr>
<tr class=c><td indent=1></td><td><b>bob</b><i>Two</i></tr><tr class=c><td indent=0></td><td><b>eve</b><i>Three</i></tr></table>`
	const shop = `<h1>Mugs</h1><ul><li class=card><a href="/m/1"><h3>Blue mug</h3><img src=1.png></a><s class=old>€ 9</s><b class=price>€ 7</b><i>12</i></li>
<li class=card><a href=/m/2><h3>Red mug</h3></a><b class=price>€ 8</b></ul><footer class=price>€ 0</footer>`
	item := []convert.RecipeField{{Name: "author", Selector: "b"}, {Name: "body", Selector: "p"}}
	for _, tt := range []struct {
		name, html string
		parts      convert.RecipeParts
		want, used string
	}{
		{
			"content", `<h1>Nav</h1><div class=x><h1>Title</h1><p>Text <a href="../b">b</a><p class=ad>Buy</div>`,
			convert.RecipeParts{Content: ".x", Drop: ".ad"},
			"# Title\n\nText [b](https://a.test/b)\n", "recipe example",
		},
		{
			"content in several places", `<p class=x>One</p><p>No</p><ul><li class=x>Two</ul>`,
			convert.RecipeParts{Content: ".x"},
			"One\n\n- Two\n", "recipe example",
		},
		{
			"items without fields", `<h1>T</h1><p class=c>One <b>1</b></p><p>No</p><p class=c>Two</p>`,
			convert.RecipeParts{Item: ".c"},
			"# T\n\nOne **1**\n\nTwo\n", "recipe example: 2 items",
		},
		{
			"items of the content alone", `<h1>T</h1><p class=c>No</p><div id=m><p class=c>One</p></div>`,
			convert.RecipeParts{Content: "#m", Item: ".c"},
			"# T\n\nOne\n", "recipe example: 1 item",
		},
		{
			"items in one another are a thread", thread,
			convert.RecipeParts{Item: ".c", Fields: item},
			"# T\n\n- **ann**\n\n  One\n\n  - **bob**\n\n    Two\n\n    - **ann**\n\n      Three\n\n- **eve**\n\n  Four\n",
			"recipe example: 4 items",
		},
		{
			"a depth makes a thread", flat,
			convert.RecipeParts{Item: "tr.c", Fields: []convert.RecipeField{
				{Name: "depth", Selector: "td[indent]@indent"}, {Name: "author", Selector: "b"}, {Name: "body", Selector: "i"},
			}},
			"# T\n\n- **ann**\n\n  One\n\n  - **bob**\n\n    Two\n\n- **eve**\n\n  Three\n", "recipe example: 3 items",
		},
		{
			"items without a body are a list", shop,
			convert.RecipeParts{Item: ".card", Fields: []convert.RecipeField{
				{Name: "title", Selector: "h3"},
				{Name: "price", Selector: ".price"},
				{Name: "in-stock", Selector: "i"},
				{Name: "rating", Selector: ".stars"},
			}},
			"# Mugs\n\n- **[Blue mug](https://a.test/m/1)** · € 7 · in-stock: 12\n- **[Red mug](https://a.test/m/2)** · € 8\n",
			"recipe example: 2 items, none with rating",
		},
		{
			"items with a title and a body are sections", `<h1>T</h1><div class=c><h4><a href=/1>One</a></h4><p>Text</p></div>`,
			convert.RecipeParts{Item: ".c", Fields: []convert.RecipeField{
				{Name: "title", Selector: "h4"}, {Name: "body", Selector: "p"},
			}},
			"# T\n\n## [One](https://a.test/1)\n\nText\n", "recipe example: 1 item",
		},
		{
			"an attribute of the item", `<h1>T</h1><p class=c data-by=ann>One</p>`,
			convert.RecipeParts{Item: ".c", Fields: []convert.RecipeField{
				{Name: "author", Selector: "@data-by"}, {Name: "body", Selector: "i"},
			}},
			"# T\n\n**ann**\n", "recipe example: 1 item, none with body",
		},
		{
			"what is hidden is no field", `<style>.h{display:none}</style><h1>T</h1><div class=c><b class=h data-x=IGNORE>IGNORE</b><b>ann</b>
<p>One <i class=h>IGNORE</i></p></div>`,
			convert.RecipeParts{Item: ".c", Fields: item},
			"# T\n\n**ann**\n\nOne\n", "recipe example: 1 item",
		},
		{
			"text is escaped", `<h1>*T*</h1><div class=c><b>[ann](javascript:x) *</b><p>1</p></div>`,
			convert.RecipeParts{Item: ".c", Fields: item},
			"# \\*T\\*\n\n**[ann\\](javascript:x) \\***\n\n1\n", "recipe example: 1 item",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			res := withRecipe(t, tt.html, tt.parts, convert.Options{})
			if res.Markdown != tt.want || res.Recipe == nil || res.Recipe.String() != tt.used {
				t.Errorf("used %v\ngot  %q\nwant %q", res.Recipe, res.Markdown, tt.want)
			}
			if len(res.Warnings) > 0 && strings.Contains(strings.Join(res.Warnings, " "), convert.WarnRecipe) {
				t.Errorf("warnings = %v", res.Warnings)
			}
		})
	}
}

func TestRecipeThatMatchesNothingIsToldAndNotUsed(t *testing.T) {
	const page = "<h1>T</h1><main><p>Some words of the page that are its content.</p></main>"
	plain := convertPage(t, page, convert.Options{})
	for name, parts := range map[string]convert.RecipeParts{
		"content": {Content: ".gone"}, "item": {Item: ".gone"},
		"item that is empty": {Item: "main", Fields: []convert.RecipeField{{Name: "author", Selector: "b"}}},
	} {
		res := withRecipe(t, page, parts, convert.Options{})
		if res.Markdown != plain.Markdown || !res.Recipe.Missed ||
			!strings.Contains(strings.Join(res.Warnings, " "), convert.WarnRecipe) {
			t.Errorf("%s: used %v, warnings %v, markdown %q", name, res.Recipe, res.Warnings, res.Markdown)
		}
	}
	res := withRecipe(t, page, convert.RecipeParts{Has: ".gone", Content: "h1"}, convert.Options{})
	if res.Recipe != nil || res.Markdown != plain.Markdown {
		t.Errorf("a recipe for other pages was used: %v %q", res.Recipe, res.Markdown)
	}
}

func TestRecipeLeavesViewsAlone(t *testing.T) {
	const page = "<h1>T</h1><p class=x>One</p><p>Two</p>"
	parts := convert.RecipeParts{Content: ".x", Drop: "h1"}
	for _, o := range []convert.Options{{WholePage: true}, {Selector: "p"}, {Drop: "i"}} {
		if got, want := withRecipe(t, page, parts, o).Markdown, convertPage(t, page, o).Markdown; got != want {
			t.Errorf("%+v: %q, want %q", o, got, want)
		}
	}
	if got := withRecipe(t, page, parts, convert.Options{}).Markdown; got != "One\n" {
		t.Errorf("without a view: %q", got)
	}
}

func TestRecipeSaysTitleAuthorAndDate(t *testing.T) {
	const page = `<title>Site</title><meta property=x content="Meta title"><h1>Site</h1><h2>Real</h2><p class=by>Ann Lee</p><p class=on>posted May 2, 2024, 10 am</p>
<main><p>Text of the page.</p><p class=ad>Buy this now</p></main>`
	parts := convert.RecipeParts{Title: "h2", Author: ".by", Date: ".on", Drop: ".ad"}
	res := withRecipe(t, page, parts, convert.Options{})
	if res.Title != "Real" || res.Meta["author"] != "Ann Lee" || res.Meta["date"] != "2024-05-02" ||
		strings.Contains(res.Markdown, "Buy") || res.Recipe.String() != "recipe example" {
		t.Errorf("%q by %q on %q: %q", res.Title, res.Meta["author"], res.Meta["date"], res.Markdown)
	}
	res = withRecipe(t, page, convert.RecipeParts{Title: "meta[property=x]@content"}, convert.Options{})
	if res.Title != "Meta title" {
		t.Errorf("title = %q, want that of the attribute", res.Title)
	}
}

func TestRecipeFindsTheNextPage(t *testing.T) {
	const page = `<a class=next href="?page=2">Next</a><p class=x>One`
	res := withRecipe(t, page, convert.RecipeParts{Content: ".x", Next: "a.next"}, convert.Options{})
	if res.Recipe.Next == nil || res.Recipe.Next.String() != "https://a.test/dir/page?page=2" {
		t.Errorf("next = %v", res.Recipe.Next)
	}
	res = withRecipe(t, `<a class=next href="javascript:x">N</a><p class=x>1`,
		convert.RecipeParts{Content: ".x", Next: "a.next"}, convert.Options{})
	if res.Recipe.Next != nil {
		t.Errorf("next = %v for a script", res.Recipe.Next)
	}
}

func TestRecipeWithMistakesIsRefused(t *testing.T) {
	for name, parts := range map[string]convert.RecipeParts{
		"content": {Content: "p >"}, "item": {Item: "*"}, "fields": {Content: "p", Fields: []convert.RecipeField{{Name: "a", Selector: "b"}}},
		"fields.a":    {Item: "p", Fields: []convert.RecipeField{{Name: "a", Selector: ""}}},
		"fields.body": {Item: "p", Fields: []convert.RecipeField{{Name: "body", Selector: "@x"}}},
		"title":       {Title: "@content"},
	} {
		_, err := convert.NewRecipe("example", parts)
		if mistake, ok := errors.AsType[*convert.RecipeError](err); !ok || mistake.Part != name {
			t.Errorf("%+v: %v, want a mistake in %s", parts, err, name)
		}
	}
}

func TestCostlyRecipeIsGivenUp(t *testing.T) {
	page := "<p>Text of the page.</p>" + many("<div>", 240) + many("<i>x</i>", 60000)
	var res *convert.Result
	checkCost(t, page, func() {
		res = withRecipe(t, page, convert.RecipeParts{Item: "x div div div i, i", Fields: []convert.RecipeField{
			{Name: "a", Selector: "x div div div div i"}, {Name: "b", Selector: "i:has(~ i ~ b)"},
		}}, convert.Options{})
	})
	if !res.Recipe.Missed {
		t.Errorf("used %v", res.Recipe)
	}
}

func TestOneDocumentIsConvertedByManyAtOnce(t *testing.T) {
	r, err := convert.NewRecipe("example", convert.RecipeParts{Item: "li", Fields: []convert.RecipeField{
		{Name: "depth", Selector: "b"}, {Name: "body", Selector: "i"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	doc, err := convert.Parse(t.Context(), []byte("<ul>"+many("<li><b>1</b><i>x</i>", 50)), "text/html", nil, r)
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	results := make([]string, 8)
	for i := range results {
		wait.Go(func() {
			if res, err := doc.Convert(t.Context(), convert.Options{}); err == nil {
				results[i] = res.Markdown
			}
		})
	}
	wait.Wait()
	for _, got := range results {
		if got == "" || got != results[0] {
			t.Errorf("got %q, want %q", got, results[0])
		}
	}
}
