package index

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

// A query that names a function leads to where that is defined, however often the rest of the page, or another page,
// speaks of it.
func TestNamesLeadToTheirDefinitions(t *testing.T) {
	said := strings.Repeat("Use tools.fetch and tools.fetch again, said of tools.fetch. ", 40)
	reference := "# tools\n\n" + said + "\n\ntools.first(x)\n: Is another one. " + strings.Repeat("Words of it. ", 200) +
		"\n\ntools.fetch(url)\ntools.fetch_all(urls)\n: Reads what is there."
	docs := []*Document{
		doc("https://a.test/reference", "tools", reference),
		doc("https://b.test/talk", "tools.fetch", "# tools.fetch is fast\n\n"+said),
		doc("https://c.test/index", "Index", "# Index\n\ntools.fetch, [tools](https://a.test/reference)\n\n: T."),
	}
	anchors := []page.Anchor{
		{ID: "first", Text: "tools.first(x)"},
		{ID: "fetch", Text: "tools.fetch(url)"},
		{ID: "fetch_all", Text: "tools.fetch_all(urls)"},
	}
	x := openTestIndex(t, docs)
	x.o.Anchors = func(key page.Key) []page.Anchor { return anchors }
	indexAllOf(t, x, docs)
	for query, want := range map[string]string{
		"tools.fetch": "fetch", "fetch_all": "fetch_all", "tools.first()": "first",
	} {
		r, err := x.Search(t.Context(), Query{Text: query, Explain: true})
		if err != nil || len(r.Hits) == 0 || r.Hits[0].Link != "https://a.test/reference#"+want {
			t.Fatalf("%s: %+v, %v, want a link to %s", query, r, err, want)
		}
		if h := r.Hits[0]; !strings.HasPrefix(h.Snippet, "tools."+want) && !strings.HasPrefix(h.Snippet, "tools.fetch(url)") {
			t.Errorf("%s: the snippet is %q", query, h.Snippet)
		}
		sum := 0.0
		for _, term := range r.Hits[0].Explain {
			sum += term.Score
		}
		if d := sum - r.Hits[0].Score; d > 1e-3 || d < -1e-3 {
			t.Errorf("%s: the parts come to %v, want %v: %+v", query, sum, r.Hits[0].Score, r.Hits[0].Explain)
		}
	}
}

// Headings over a fence that just fits a passage stand in no passage. A query that names what they head leads to the
// fence all the same, however often the rest of the page speaks of it.
func TestDefinitionsInNoPassageAreFound(t *testing.T) {
	fence := "```\nreturn fetched\n" + strings.Repeat("one more line;\n", 260)
	fence += strings.Repeat("x", 4000-len(fence)-len("\n```")) + "\n```"
	said := strings.Repeat("Use fetch_all of web_tools, said of fetch_all and of web_tools. ", 20)
	docs := []*Document{doc("https://a.test/reference", "Reference", "# web_tools\n\n## fetch_all\n\n"+fence+
		"\n\n## Use\n\n"+
		said+"\n\n## More\n\n"+said+"It ends.")}
	if first := outline.Split(docs[0].Markdown, outline.SplitOptions{})[0]; first.Start == 0 {
		t.Fatal("the headings are in a passage")
	}
	x := openTestIndex(t, docs)
	x.o.Anchors = func(page.Key) []page.Anchor {
		return []page.Anchor{{ID: "tools", Text: "web_tools"}, {ID: "all", Text: "fetch_all"}}
	}
	indexAllOf(t, x, docs)
	for query, want := range map[string]string{"fetch_all": "all", "web_tools": "tools"} {
		r, err := x.Search(t.Context(), Query{Text: query})
		if err != nil || len(r.Hits) != 1 {
			t.Fatalf("%s: %+v, %v, want a hit", query, r, err)
		}
		h := r.Hits[0]
		if h.Link != "https://a.test/reference#"+want || !strings.Contains(h.Snippet, "return fetched") {
			t.Errorf("%s: the hit leads to %s and shows %q", query, h.Link, h.Snippet)
		}
	}
}
