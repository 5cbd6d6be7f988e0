package recipe_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/recipe"
)

const menu = `<nav class=menu><a href=/>Home</a> <a href=/a>About</a></nav>`

func TestARecipeIsProposedFromAPage(t *testing.T) {
	posts := ""
	for _, who := range []string{"ann", "bob", "eve", "joe"} {
		posts += `<div class="post odd"><span class=author>` + who + `</span> <time class=when>May 1</time><div class=text><p>` +
			strings.Repeat("This is what "+who+" says of caches, at some length. ", 4) + `</p></div></div>`
	}
	prose := strings.Repeat("<p>"+strings.Repeat("A cache keeps what an origin said, as long as it may. ", 4)+"</p>", 6)
	for _, tt := range []struct {
		name, html string
		want       []string
	}{
		{
			"a thread", menu + `<h1>Caches</h1><div id=thread>` + posts + `</div>`,
			[]string{`item: "div.post"`, `author: "span.author"`, `date: "time.when"`, `body: "div.text"`, `path: "/t/*"`},
		},
		{"an article", menu + `<div class=story><h1>Caches</h1>` + prose + `</div>`, []string{`content: "div.story"`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			u, _ := url.Parse("https://www.a.test/t/1")
			text, err := recipe.Propose(t.Context(), []byte(tt.html), "text/html", u)
			if err != nil {
				t.Fatal(err)
			}
			for _, want := range append(tt.want, "recipe: a-test", `host: "www.a.test"`) {
				if !strings.Contains(string(text), want+"\n") {
					t.Errorf("no %s in\n%s", want, text)
				}
			}
			list, err := recipe.Parse(text)
			if err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			res, err := list[0].Apply(t.Context(), []byte(tt.html), "text/html", u)
			if err != nil || res.Recipe == nil || res.Recipe.Missed || strings.Contains(res.Markdown, "About") {
				t.Errorf("recipe %v, err = %v\n%s", res.Recipe, err, res.Markdown)
			}
		})
	}
}

func TestNothingIsProposedForAPageWithoutNames(t *testing.T) {
	u, _ := url.Parse("https://a.test/")
	for _, content := range []string{"", "plain", "<p>Text of a page.</p>"} {
		if text, err := recipe.Propose(t.Context(), []byte(content), "text/html", u); !errors.Is(err, recipe.ErrNoProposal) {
			t.Errorf("%q: %v\n%s", content, err, text)
		}
	}
}

func TestAProposalEndsForAHostilePage(t *testing.T) {
	classes := ""
	for i := range 26 {
		classes += "c" + string(rune('a'+i)) + " "
	}
	words := 20_000
	if testing.Short() {
		words = 2000
	}
	deep := strings.Repeat(`<div class="`+classes+`">`, 400)
	wide := strings.Repeat(`<b class="`+classes+`">word </b>`, words)
	u, _ := url.Parse("https://a.test/")
	text, err := recipe.Propose(t.Context(), []byte(deep+"<p>"+wide), "text/html", u)
	if err != nil && !errors.Is(err, recipe.ErrNoProposal) {
		t.Errorf("%v\n%s", err, text)
	}
}
