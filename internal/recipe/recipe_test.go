package recipe_test

import (
	"context"
	"errors"
	"net/url"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/recipe"
)

const forum = `recipe: example-forum
about: topics of the example forum
match: {host: forum.example.com, path: /t/*}
item: article.post
fields:
  author: .name
  date: time@datetime
  votes: .score
  body: .text
drop: .signature
tests:
  - url: https://forum.example.com/t/1
    html: |
      <title>Caches</title><nav>Home</nav><h1>Caches</h1>
      <article class=post><b class=name><a href="/u/ann">Ann</a></b><time datetime=2024-05-01>May</time><i class=score>3</i>
      <div class=text><p>Which <code>max-age</code>?<p class=signature>Sent from my phone</div></article>
      <article class=post><b class=name>Bob</b><div class=text><p>An hour.</div></article>
    expect:
      - "# Caches"
      - "**Ann** · 2024-05-01 · votes: 3"
      - Which ` + "`max-age`" + `?
      - "**Bob**"
      - An hour.
    absent: [Home, phone, /u/ann]
`

func TestRecipeOfTheDocumentationPassesItsTest(t *testing.T) {
	list, err := recipe.Parse([]byte(forum))
	if err != nil {
		t.Fatal(err)
	}
	results, err := list[0].Run(t.Context(), nil)
	if err != nil || len(results) != 1 || !results[0].Passed || results[0].Used != "recipe example-forum: 2 items" {
		t.Errorf("results = %+v, err = %v", results, err)
	}
	if results[0].Line != 12 {
		t.Errorf("the test is in line %d, want 12", results[0].Line)
	}
}

func TestFailuresOfATestAreTold(t *testing.T) {
	text := strings.ReplaceAll(forum, "**Bob**", "**Rob**")
	text = strings.ReplaceAll(text, "[Home, phone, /u/ann]", "[An hour]")
	text = strings.ReplaceAll(text, "An hour.\n    absent", "\"# Caches\"\n    absent")
	list, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	results, err := list[0].Run(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		`no line is "**Rob**"`, `the line "# Caches" comes before the line expected before it`,
		`the text "An hour" is in the page`,
	}
	if got := results[0].Failures; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] {
		t.Errorf("failures = %q, want %q", got, want)
	}
}

func TestTestsWithoutAPageUseTheStoredOne(t *testing.T) {
	const text = `recipe: a
match: {host: a.test}
content: .text
tests:
  - {url: "https://a.test/x", expect: [Hello]}
`
	list, err := recipe.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	results, _ := list[0].Run(t.Context(), nil)
	if results[0].Passed || !strings.Contains(results[0].Failures[0], "readthru fetch") {
		t.Errorf("without a store: %+v", results)
	}
	results, _ = list[0].Run(t.Context(), func(_ context.Context, u string) ([]byte, string, error) {
		return []byte("<p>Menu</p><p class=text>Hello</p>"), "text/html", nil
	})
	if !results[0].Passed {
		t.Errorf("with a stored page: %+v", results)
	}
}

func TestMistakesAreRefusedWithLineAndColumn(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"nothing", "# only a comment\n", "the text has no recipe"},
		{"no YAML", "recipe: [", "line 1, column 9: "},
		{"an unknown key", "recipe: a\nmatch: {host: a.test}\ncontents: .x\n", `line 3, column 1: unknown key "contents"`},
		{"no name", "match: {host: a.test}\ncontent: .x\n", "line 1, column 1: recipe: the recipe has no name"},
		{"a bad name", "recipe: A b\nmatch: {host: a.test}\n", `line 1, column 1: recipe: "A b" is not a name`},
		{"every page", "recipe: a\ncontent: .x\n", "line 1, column 1: match: the recipe is for every page"},
		{"every host", "recipe: a\nmatch: {host: '*'}\ncontent: .x\n", "the recipe is for pages of all sites"},
		{"all of a domain", "recipe: a\nmatch: {host: '*.com'}\ncontent: .x\n", "the recipe is for pages of all sites"},
		{"an element of every page", "recipe: a\nmatch: {has: body}\ncontent: .x\n", "the recipe is for pages of all sites"},
		{"a host with a port", "recipe: a\nmatch: {host: 'a.test:80'}\n", "line 2, column 9: match.host: "},
		{"a path that is none", "recipe: a\nmatch: {host: a.test, path: t}\n", `match.path: "t" is not a path`},
		{"nothing chosen", "recipe: a\nmatch: {host: a.test}\n", "content: the recipe chooses nothing"},
		{"everything chosen", "recipe: a\nmatch: {host: a.test}\ncontent: '*'\n", "line 3, column 1: content: selector \"*\": " +
			"it matches elements of every kind"},
		{"no selector", "recipe: a\nmatch: {host: a.test}\ncontent: 'p >'\n", "line 3, column 1: content: selector \"p >\""},
		{"a bad field", "recipe: a\nmatch: {host: a.test}\nitem: p\nfields:\n  author: ':x'\n", "line 5, column 3: fields.author: "},
		{"a name of a field", "recipe: a\nmatch: {host: a.test}\nitem: p\nfields: {A: p}\n", "line 4, column 10: fields.A: "},
		{"fields of nothing", "recipe: a\nmatch: {host: a.test}\nfields: {author: p}\n", "fields: they are fields of items"},
		{"a body that is an attribute", "recipe: a\nmatch: {host: a.test}\nitem: p\nfields: {body: p@x}\n", "fields.body: the body"},
		{"render on all sites", "recipe: a\nmatch: {has: .x}\ncontent: .x\nrender: always\n", "line 4, column 1: render: it needs a host"},
		{"an unknown mode", "recipe: a\nmatch: {host: a.test}\nrender: maybe\n", `line 3, column 9: render: "maybe" is not one of`},
		{"wait without render", "recipe: a\nmatch: {host: a.test}\ncontent: p\nwait: p\n", "line 4, column 1: wait: "},
		{
			"a wait for no selector", "recipe: a\nmatch: {host: a.test}\ncontent: p\nrender: always\nwait: 'p >'\n",
			"line 5, column 1: wait: ",
		},
		{"an alias", "recipe: &a a\nabout: *a\nmatch: {host: a.test}\ncontent: p\n", "line 1, column 9: "},
		{"deep nesting", "recipe: " + strings.Repeat("[", 10_000), "line 1, column "},
		{"too many pages", "recipe: a\nmatch: {host: a.test}\ncontent: p\nnext: a\npages: 21\n", "line 5, column 1: pages: 21 is not"},
		{"pages without next", "recipe: a\nmatch: {host: a.test}\ncontent: p\npages: 2\n", "pages: without next"},
		{"next without pages", "recipe: a\nmatch: {host: a.test}\ncontent: p\nnext: a\n", "line 4, column 1: next: it needs pages"},
		{
			"a test of another site", "recipe: a\nmatch: {host: a.test}\ncontent: p\ntests:\n  - url: https://b.test/\n    expect: [x]\n",
			"tests[0]: https://b.test/ is not a page of this recipe",
		},
		{
			"a test of nothing", "recipe: a\nmatch: {host: a.test}\ncontent: p\ntests:\n  - url: https://a.test/\n",
			"tests[0]: it expects nothing",
		},
		{
			"two of one name", "recipe: a\nmatch: {host: a.test}\ncontent: p\n---\nrecipe: a\nmatch: {host: a.test}\ncontent: p\n",
			"line 5, column 1: another recipe is called a: that of line 1",
		},
		{"a mistake in the second", "recipe: a\nmatch: {host: a.test}\ncontent: p\n---\nrecipe: b\nnope: 1\n", `line 6, column 1: unknown`},
		{"too long", "recipe: a\nabout: " + strings.Repeat("x", 65<<10), "line 1, column 1: the recipe has more than 65536 bytes"},
		{"too many fields", "recipe: a\nmatch: {host: a.test}\nitem: p\nfields:\n" + fields(21), "fields: there are more than 20"},
		{"a long selector", "recipe: a\nmatch: {host: a.test}\ncontent: '" + strings.Repeat("p ", 2000) + "p'\n", "it is too long"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := recipe.Parse([]byte(tt.text))
			if _, ok := errors.AsType[*recipe.Error](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got  %v\nwant %s", err, tt.want)
			}
		})
	}
}

func fields(n int) string {
	var b strings.Builder
	for i := range n {
		b.WriteString("  f" + string(rune('a'+i)) + ": .x\n")
	}
	return b.String()
}

func TestSetTriesTheUsersRecipesFirst(t *testing.T) {
	parse := func(text string) []*recipe.Recipe {
		list, err := recipe.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	own := parse("recipe: b\nmatch: {host: '*.a.test'}\ncontent: .own\n---\nrecipe: c\nmatch: {host: c.test}\ncontent: .x\n")
	others := parse("recipe: a\nmatch: {has: .a}\ncontent: .a\n---\nrecipe: b\nmatch: {has: .b}\ncontent: .b\n")
	s := recipe.NewSet(own, func() []*recipe.Recipe { return others })
	names := func(raw string) string {
		u, err := url.Parse(raw)
		if err != nil {
			t.Fatal(err)
		}
		var list []string
		for _, r := range s.For(u) {
			list = append(list, r.Name+"="+r.Selectors.Content)
		}
		return strings.Join(list, " ")
	}
	for raw, want := range map[string]string{
		"https://a.test/": "b=.own a=.a", "https://x.a.test/": "b=.own a=.a", "https://c.test/": "c=.x a=.a", "https://d.test/": "a=.a",
	} {
		if got := names(raw); got != want {
			t.Errorf("%s: %s, want %s", raw, got, want)
		}
	}
	u, _ := url.Parse("https://a.test/")
	if s.For(u).Edition() == recipe.NewSet(nil, func() []*recipe.Recipe { return others }).For(u).Edition() {
		t.Error("other recipes have the same edition")
	}
	if len((*recipe.Set)(nil).For(u)) != 0 {
		t.Error("no set has recipes")
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(forum))
	f.Add([]byte("recipe: a\nmatch: {host: a.test}\ncontent: p\n---\n---\n#x\n"))
	f.Add([]byte("recipe: a\nmatch: {has: '[x=\"@y\"]'}\nitem: ':is(p, b)'\nfields: {depth: '@n', body: 'p:has(i)'}\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		if len(text) > 8<<10 {
			return
		}
		list, err := recipe.Parse(text)
		if err != nil {
			if _, ok := errors.AsType[*recipe.Error](err); !ok {
				t.Errorf("err = %v, want an *Error", err)
			}
			return
		}
		for _, r := range list {
			again, err := recipe.Parse(r.Text)
			if err != nil || len(again) != 1 || again[0].Edition != r.Edition {
				t.Errorf("the text of a recipe is another one: %v\n%s", err, r.Text)
			}
			if _, err := r.Run(t.Context(), nil); err != nil {
				t.Error(err)
			}
		}
	})
}
