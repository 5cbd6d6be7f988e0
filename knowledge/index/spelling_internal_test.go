package index

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/index/query"
)

// spellingIndex holds pages about git, three of a kind, so that no word is alone.
func spellingIndex(t *testing.T) *Index {
	t.Helper()
	var docs []*Document
	for i := range 3 {
		at := func(name string) string { return fmt.Sprintf("https://a.test/%s%d", name, i) }
		docs = append(docs,
			doc(at("pick"), "git-cherry-pick", fmt.Sprintf("Apply the changes of commits by cherry pick, case %d.", i)),
			doc(at("query"), "Queries", fmt.Sprintf("A recursive query of a table refers to itself, case %d.", i)),
			doc(at("tree"), "git-worktree", fmt.Sprintf("A worktree is a second checkout with threads, case %d.", i)),
			doc(at("large"), "Größe", fmt.Sprintf("Die Größe der Datei von Müller, Fall %d.", i)),
			doc(at("forum"), "Forms", fmt.Sprintf("Fill the form with the ones that you have, case %d.", i)),
		)
	}
	docs = append(docs, doc("https://a.test/rare", "Rare", "One page has zymurgy, and recusive by mistake."))
	x := openTestIndex(t, docs)
	indexAllOf(t, x, docs)
	return x
}

func TestMisspeltWordsAreSearchedAsTheyWereMeant(t *testing.T) {
	x := spellingIndex(t)
	for _, tt := range []struct{ asked, want string }{
		{"cherrypick commits", "cherrypick→cherry pick"},
		{"recurisve query", "recurisve→recursive"},
		{"worktre checkout", "worktre→worktree"},
		{"a wroktree", "wroktree→worktree"},
		{"thraeds chekout", "thraeds→threads chekout→checkout"},
		{"recurzive_querry", "recurzive→recursive querry→query"},
		{"größse", "größse→größe"},

		{"recursive query", ""},
		{"recusive query", ""}, // which one page has, and too few the other
		{"zymurgies", ""},      // the stem of a word that is there
		{"fro", ""},            // too short
		{"formn", "formn→form"},
		{"formn xyz", ""}, // no page has the two together
		{"recursive formn", ""},
		{"xyzzy", ""},
		{"recurisve*", ""},
		{"v2.5 1.2.3 sha256 日本語", ""},
		{`"recurisve query"`, ""},
		{`"recurisve" query`, ""},
		{`recurisve "query"`, "recurisve→recursive"},
		{`recurisve 5" query`, "recurisve→recursive"},
		{"ecursive query", "ecursive→recursive"},
		{"tecursive query", "tecursive→recursive"},
		{"rwcursive query", "rwcursive→recursive"},
		{"work tree checkout", "work tree→worktree"},
		{`"work tree" checkout`, ""},
		{"work tree* checkout", ""},
		{"work trees checkout", ""}, // which no page writes as one
		{"qqqqqa qqqqqb qqqqqc qqqqqd qqqqqe recurisve", "recurisve→recursive"},
		{"qqqqqa qqqqqb qqqqqc qqqqqd qqqqqe qqqqqf recurisve", ""}, // enough was looked for
		// enough other words are known
		{"recurisve query table changes commits worktree", ""},
	} {
		r, err := x.Search(context.Background(), Query{Text: tt.asked})
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, c := range r.Corrected {
			got = append(got, c.From+"→"+c.To)
		}
		if s := strings.Join(got, " "); s != tt.want {
			t.Errorf("query %q was corrected %q, want %q", tt.asked, s, tt.want)
		}
	}
}

func TestCorrectedWordsFindAndAreMarked(t *testing.T) {
	x := spellingIndex(t)
	r, err := x.Search(context.Background(), Query{Text: "cherrypick", Explain: true})
	if err != nil || len(r.Hits) == 0 {
		t.Fatalf("hits %v, %v", r, err)
	}
	if h := r.Hits[0]; h.Title != "git-cherry-pick" {
		t.Errorf("the first hit is %+v", h)
	}
	if want := `searched for "cherry pick": hardly any page has "cherrypick"`; r.Corrected[0].String() != want {
		t.Errorf("it says %q, want %q", r.Corrected[0], want)
	}
}

func TestAsTypedInsistsOnTheWordsThatWereChanged(t *testing.T) {
	x := spellingIndex(t)
	for text, want := range map[string]string{
		"Recurisve query":           `"Recurisve" query`,
		"of recurzive_querry, here": `of "recurzive_querry", here`,
		"the work tree recurisve":   `the "work tree" "recurisve"`,
		"recursive query":           "recursive query",
		"":                          "",
	} {
		r := &Results{}
		if text != "" {
			var err error
			if r, err = x.Search(t.Context(), Query{Text: text}); err != nil {
				t.Fatal(err)
			}
		}
		typed := r.AsTyped(text)
		if typed != want {
			t.Errorf("%s: %s, want %s", text, typed, want)
		}
		if typed == "" {
			continue
		}
		if r, err := x.Search(t.Context(), Query{Text: typed}); err != nil || len(r.Corrected) > 0 {
			t.Errorf("%s was corrected: %v, %v", typed, r.Corrected, err)
		}
	}
}

// What no page has is named, unless it was looked for in another form or says nothing.
func TestWordsThatNoPageHasAreNamed(t *testing.T) {
	x := spellingIndex(t)
	for text, want := range map[string]string{
		"recursive query":                     "",
		"kubernetes ingress query":            `no page has "kubernetes" or "ingress"`,
		"how do I xyzzy the plugh, with quux": `no page has "xyzzy", "plugh" or "quux"`,
		"cherrypick kubernetes": `searched for "cherry pick": hardly any page has "cherrypick"; ` +
			`words in quotation marks are searched for as they are; no page has "kubernetes"`,
		"kubern* recursive":                     "",
		"qqqqqa_qqqqqb recursive":               `no page has "qqqqqa_qqqqqb"`,
		"a1a b2b c3c d4d e5e f6f g7g h8h i9i j": `no page has "a1a", "b2b", "c3c", "d4d", "e5e", "f6f", "g7g" or "h8h"`,
	} {
		r, err := x.Search(t.Context(), Query{Text: text})
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(r.Notes(), "; "); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}

// A word that a page has stays in the query when a far more frequent one is looked for, too.
func TestARareWordStaysBesideWhatMayBeMeant(t *testing.T) {
	docs := []*Document{doc("https://a.test/typo", "Typo", "The replicaton of a page.")}
	for i := range 101 {
		docs = append(docs, doc(fmt.Sprintf("https://a.test/%d", i), "Other", fmt.Sprintf("The replication number %d.", i)))
	}
	x := openTestIndex(t, docs)
	indexAllOf(t, x, docs)
	r, err := x.Search(context.Background(), Query{Text: "replicaton"})
	if err != nil {
		t.Fatal(err)
	}
	if want := []query.Correction{{From: "replicaton", To: "replication", Also: true}}; !slices.Equal(r.Corrected, want) {
		t.Errorf("corrected %v, want %v", r.Corrected, want)
	}
	if len(r.Hits) < 5 || r.Hits[0].URL != "https://a.test/typo" {
		t.Errorf("hits %v", r.Hits)
	}
}

// corrected returns what a search in the documents was corrected to.
func corrected(t *testing.T, text string, docs []*Document) string {
	t.Helper()
	x := openTestIndex(t, docs)
	indexAllOf(t, x, docs)
	r, err := x.Search(t.Context(), Query{Text: text})
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, c := range r.Corrected {
		list = append(list, c.From+"→"+c.To)
	}
	return strings.Join(list, " ")
}

// pagesSaying returns n pages with a text each, with a number in it.
func pagesSaying(n int, name, text string) (docs []*Document) {
	for i := range n {
		docs = append(docs, doc(fmt.Sprintf("https://a.test/%s%d", name, i), name, fmt.Sprintf(text, i)))
	}
	return docs
}

// A word that is known by its stem alone, which a word of another language has as well, is unknown.
func TestPagesInAnotherLanguageDoNotMakeAMisspeltWordKnown(t *testing.T) {
	english := pagesSaying(3, "query", "A recursive query of a table refers to itself, case %d.")
	for _, tt := range []struct{ name, text, want string }{
		{
			"a French word with an accent", "Les journaux sont reçus par le serveur dans les fichiers que vous avez, cas %d.",
			"recusive→recursive",
		},
		{"the same in a text too short to tell its language", "journaux reçus %d", "recusive→recursive"},
		{
			"a French word without an accent", "Le juge se recuse dans les cas que vous avez pour le moment, cas %d.",
			"recusive→recursive",
		},
		{"an English word with the stem", "The judge will recuse himself in all of the cases, number %d.", ""},
		{"the word itself", "A word as recusive is what you have on the page, number %d.", ""},
		{"the word itself, in French", "Le mot recusive est dans les pages que vous avez pour le moment, cas %d.", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs := append(pagesSaying(20, "other", tt.text), english...)
			if got := corrected(t, "recusive", docs); got != tt.want {
				t.Errorf("corrected %q, want %q", got, tt.want)
			}
		})
	}
	if got := corrected(t, "recusive", english); got != "recusive→recursive" {
		t.Errorf("without other pages it was corrected %q", got)
	}
}

// A word of another language is not meant while there is one of the query's.
func TestAWordOfTheQuerysLanguageIsMeant(t *testing.T) {
	spanish := pagesSaying(40, "spanish",
		"La referencia de los archivos que se usa en el servidor para los casos, caso %d.")
	english := pagesSaying(10, "english", "Referential integrity of the keys in a table is kept, case %d.")
	for text, want := range map[string]string{
		"referencial integrity":                     "referencial→referential",
		"referencja de los archivos que se usan":    "referencja→referencia",
		"referencia de los archivos en el servidor": "",
	} {
		if got := corrected(t, text, append(spanish, english...)); got != want {
			t.Errorf("%s: corrected %q, want %q", text, got, want)
		}
	}
}

// The stem that a misspelt word would have in another language does not make it a word.
func TestAStemInAnotherLanguageDoesNotMakeAMisspeltWordKnown(t *testing.T) {
	docs := append(pagesSaying(3, "french", "Les mergeurs des fichiers que vous avez sont merges par le serveur, cas %d."),
		pagesSaying(100, "english", "To merge the branches of a tree is to join them, case %d.")...)
	if got := corrected(t, "mergge branches", docs); got != "mergge→merge" {
		t.Errorf("corrected %q", got)
	}
}

// Of two words that differ by a letter, the one that the word begins was meant.
func TestAWordThatWasLeftOffIsCompleted(t *testing.T) {
	docs := append(pagesSaying(30, "refers", "It refers to another page, case %d."),
		pagesSaying(3, "proxy", "A reverse proxy stands before servers, case %d.")...)
	for text, want := range map[string]string{"revers": "revers→reverse", "revers proxy": "revers→reverse"} {
		if got := corrected(t, text, docs); got != want {
			t.Errorf("%s: corrected %q, want %q", text, got, want)
		}
	}
	if got := corrected(t, "revers", docs[:30]); got != "revers→refers" {
		t.Errorf("without the word that was meant: corrected %q", got)
	}
}

// A few pages write two words as one; far more write them apart.
func TestWordsThatAFewPagesJoinAreLookedForApart(t *testing.T) {
	joined := pagesSaying(3, "joined", "One may cherrypick what one likes, case %d.")
	apart := func(n int) []*Document {
		return pagesSaying(n, "apart", "To cherry pick a commit is to apply its changes, case %d.")
	}
	for _, tt := range []struct {
		name, want string
		docs       []*Document
	}{
		{"far more apart", "cherrypick→cherry pick", append(apart(15), joined...)},
		{"hardly more apart", "", append(apart(14), joined...)},
		{
			"many joined", "",
			append(apart(500),
				pagesSaying(51, "joined", "One may cherrypick what one likes, case %d.")...),
		},
	} {
		if got := corrected(t, "cherrypick commits", tt.docs); got != tt.want {
			t.Errorf("%s: corrected %q, want %q", tt.name, got, tt.want)
		}
	}
	docs := append(apart(15), joined...)
	x := openTestIndex(t, docs)
	indexAllOf(t, x, docs)
	r, err := x.Search(t.Context(), Query{Text: "cherrypick", Limit: 20})
	if err != nil {
		t.Fatal(err)
	}
	titles := map[string]bool{}
	for _, h := range r.Hits {
		titles[h.Title] = true
	}
	if !titles["joined"] || !titles["apart"] {
		t.Errorf("found %v, want pages that join the words and pages that do not", titles)
	}
}
