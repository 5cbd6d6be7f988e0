package recipe_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/recipe"
)

// corpusPage is a page of a corpus, as manifest.jsonl there describes it.
type corpusPage struct {
	URL, HTML string
	content   []byte
}

// corpus returns the pages of the corpus that READTHRU_CORPUS names; without one, those of the tests of the recipes
// that are shipped.
func corpus(t *testing.T) (pages []corpusPage) {
	t.Helper()
	dir := os.Getenv("READTHRU_CORPUS")
	if dir == "" {
		for _, r := range recipe.Shipped() {
			for _, one := range r.Tests {
				pages = append(pages, corpusPage{URL: one.URL, content: []byte(one.HTML)})
			}
		}
		return pages
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(manifest) {
		var p corpusPage
		if err := json.Unmarshal(line, &p); err != nil {
			t.Fatal(err)
		}
		if slices.ContainsFunc(pages, func(old corpusPage) bool { return old.URL == p.URL }) {
			continue // two sets have it
		}
		f, err := os.Open(filepath.Join(dir, p.HTML))
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		if p.content, err = io.ReadAll(z); err != nil {
			t.Fatal(err)
		}
		_ = f.Close() // it was read to its end
		pages = append(pages, p)
	}
	return pages
}

// post is an item of a thread as a recipe writes it.
type post struct {
	author, date string
	text         []string // its words
}

// itemLine is the line of an item with an author and a date.
var itemLine = regexp.MustCompile(`(?m)^ *(?:- )?(?:[^*\n]{1,30} · )?\*\*([^*\n]+)\*\* · ([^·\n]+)(?: · .*)?$`)

// posts returns the items of a page that a recipe made.
func posts(markdown string) (list []post) {
	items := itemLine.FindAllStringSubmatchIndex(markdown, -1)
	for i, m := range items {
		end := len(markdown)
		if i+1 < len(items) {
			end = items[i+1][0]
		}
		list = append(list, post{
			line(words(markdown[m[2]:m[3]])), line(words(markdown[m[4]:m[5]])), words(markdown[m[1]:end]),
		})
	}
	return list
}

// words returns the words of a markdown text.
func words(markdown string) []string { return strings.Fields(strings.ToLower(convert.Text(markdown))) }

// line returns words between spaces.
func line(words []string) string { return " " + strings.Join(words, " ") + " " }

// in returns where a post is in the text after from: six words in a row of its first thirty; -1 if it is not there.
func (p post) in(text string, from int) int {
	for i := range min(24, max(1, len(p.text)-5)) {
		if at := strings.Index(text[from:], line(p.text[i:min(i+6, len(p.text))])); at >= 0 {
			return from + at
		}
	}
	return -1
}

// kept counts the posts that a page has, and those whose author and date it has between the beginning of the post
// before and its own or, if it is so for more of its posts, after that.
func kept(list []post, markdown string) (texts, authors, dates int) {
	text := line(words(markdown))
	begins, at := make([]int, len(list)), 0
	for i, p := range list {
		if begins[i] = p.in(text, at); begins[i] >= 0 {
			at = begins[i] + 1
			texts++
		}
	}
	most := func(of func(post) string) int {
		before, after, last := 0, 0, 0
		for i, p := range list {
			if begins[i] < 0 {
				continue
			}
			next := len(text)
			if i+1 < len(list) && begins[i+1] >= 0 {
				next = begins[i+1]
			}
			if strings.Contains(text[last:begins[i]+1], of(p)) {
				before++
			}
			if strings.Contains(text[begins[i]:next], of(p)) {
				after++
			}
			last = begins[i]
		}
		return max(before, after)
	}
	return texts, most(func(p post) string { return p.author }), most(func(p post) string { return p.date })
}

// TestShippedRecipesKeepWhoSaidWhatAndWhen compares the posts of a corpus's threads as they come out with the recipes
// that are shipped and without.
func TestShippedRecipesKeepWhoSaidWhatAndWhen(t *testing.T) {
	set := recipe.NewSet(nil, recipe.Shipped)
	type sum struct{ pages, posts, texts, authors, dates int }
	sums := map[string]*sum{}
	for _, p := range corpus(t) {
		u, err := url.Parse(p.URL)
		if err != nil {
			continue // the address of a corpus may be none
		}
		with := converted(t, p.content, u, set.For(u).Convert()...)
		if with.Recipe == nil {
			continue
		}
		list := posts(with.Markdown)
		if len(list) == 0 || with.Recipe.Missed {
			t.Errorf("%s: %s, no posts with author and date", p.URL, with.Recipe)
		}
		texts, authors, dates := kept(list, converted(t, p.content, u).Markdown)
		for _, name := range []string{with.Recipe.Name, "all"} {
			s := sums[name]
			if s == nil {
				s = &sum{}
				sums[name] = s
			}
			s.pages, s.posts = s.pages+1, s.posts+len(list)
			s.texts, s.authors, s.dates = s.texts+texts, s.authors+authors, s.dates+dates
		}
	}
	for name, s := range sums {
		t.Logf("%s: %d pages, %d posts with author and date; without recipe %d posts, %d authors, %d dates",
			name, s.pages, s.posts, s.texts, s.authors, s.dates)
	}
	if all := sums["all"]; all == nil || all.posts < all.texts {
		t.Error("no page is for a recipe")
	}
}

// converted converts a page with recipes.
func converted(t *testing.T, content []byte, u *url.URL, recipes ...*convert.Recipe) *convert.Result {
	t.Helper()
	doc, err := convert.Parse(t.Context(), content, "text/html", u, recipes...)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(t.Context(), convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return res
}
