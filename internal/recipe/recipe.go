// Package recipe reads site recipes: a few lines of YAML that say, by CSS selectors, what of some pages is content.
//
// A recipe holds no code. It names pages by host, path and an element that they have; their content or its repeated
// items, with fields; and tests, which are pages with lines that must come out of them. [Parse] reads recipes and
// refuses, with line and column, what is not known or matches everything. A [Set] knows which recipes are for a URL:
// those of the user, and those that are shipped (shipped.go). Package convert applies them. What they cost is bounded
// there, as for style sheets: convert/css counts comparisons.
package recipe

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/strictyaml"
	"github.com/readthru/readthru/page"
)

// The limits of recipes.
const (
	MaxFile    = 256 << 10 // bytes of a file of recipes
	MaxText    = 64 << 10  // bytes of one recipe
	MaxRecipes = 100       // in a file
	MaxPages   = 20        // that are joined into one

	maxTests = 20
	maxLines = 100 // of a test
	maxName  = 60
	maxAbout = 300
)

// Recipe says what of some pages is content.
type Recipe struct {
	Name, About string
	Host, Path  string // patterns: "*.example.com" (also example.com itself), "/t/*"; empty matches all
	Render      string // auto, always or never: whether a browser renders the pages; empty: as configured
	Wait        string // a selector that the browser waits for
	Pages       int    // how many pages are joined by following the link to the next one; 0 and 1: one
	Tests       []Test
	Text        []byte // the YAML
	Edition     string // another one for another text
	Selectors   convert.RecipeParts

	compiled *convert.Recipe
}

// Convert returns what package convert applies.
func (r *Recipe) Convert() *convert.Recipe { return r.compiled }

// Test is a page with lines that must come out of it.
type Test struct {
	URL    string   // of the page
	HTML   string   // the page; if empty, what is stored of the URL
	Expect []string // lines of the markdown, in this order
	Absent []string // texts that are not in the markdown
	Line   int      // of the test in the text
}

// Error is a mistake in a text of recipes.
type Error struct {
	Line, Column int // from 1; 0 if not known
	Err          error
}

// Error says where in the text of a recipe the mistake is, and what.
func (e *Error) Error() string {
	if e.Line == 0 {
		return e.Err.Error()
	}
	return fmt.Sprintf("line %d, column %d: %s", e.Line, e.Column, e.Err)
}

// Unwrap returns the mistake.
func (e *Error) Unwrap() error { return e.Err }

// file is a recipe as it is written.
type file struct {
	Recipe string `yaml:"recipe"`
	About  string `yaml:"about"`
	Match  struct {
		Host string `yaml:"host"`
		Path string `yaml:"path"`
		Has  string `yaml:"has"`
	} `yaml:"match"`
	Content string         `yaml:"content"`
	Item    string         `yaml:"item"`
	Fields  strictyaml.Map `yaml:"fields"`
	Drop    string         `yaml:"drop"`
	Title   string         `yaml:"title"`
	Author  string         `yaml:"author"`
	Date    string         `yaml:"date"`
	Render  string         `yaml:"render" oneof:"auto always never"`
	Wait    string         `yaml:"wait"`
	Next    string         `yaml:"next"`
	Pages   int            `yaml:"pages"`
	Tests   []test         `yaml:"tests"`
}

// test is a test of a recipe as it is written in YAML.
type test struct {
	URL    string   `yaml:"url"`
	HTML   string   `yaml:"html"`
	Expect []string `yaml:"expect"`
	Absent []string `yaml:"absent"`
}

// Parse reads the recipes of a text: one, or several that lines of --- separate. Their names differ. Every error is an
// [*Error].
func Parse(text []byte) ([]*Recipe, error) {
	if len(text) > MaxFile {
		return nil, &Error{Err: fmt.Errorf("the text has more than %d bytes", MaxFile)}
	}
	var list []*Recipe
	names := map[string]int{}
	for first, part := range documents(text) {
		if blank(part) {
			continue
		}
		r, nameLine, err := parseOne(part)
		if e, ok := errors.AsType[*Error](err); ok && e.Line > 0 {
			e.Line += first
		}
		if err != nil {
			return nil, err
		}
		if at := names[r.Name]; at > 0 {
			return nil, &Error{nameLine + first, 1, fmt.Errorf("another recipe is called %s: that of line %d", r.Name, at)}
		}
		names[r.Name] = nameLine + first
		for i := range r.Tests {
			r.Tests[i].Line += first
		}
		if list = append(list, r); len(list) > MaxRecipes {
			return nil, &Error{Line: first + 1, Column: 1, Err: fmt.Errorf("there are more than %d recipes", MaxRecipes)}
		}
	}
	if len(list) == 0 {
		return nil, &Error{Err: errors.New("the text has no recipe")}
	}
	return list, nil
}

// documents yields the recipes of a text, YAML documents which lines of --- part, with the number of lines before each.
func documents(text []byte) func(yield func(first int, part []byte) bool) {
	return func(yield func(int, []byte) bool) {
		begin, first, line := 0, 0, 0
		for i := 0; i < len(text); line++ {
			end := i + 1 + bytes.IndexByte(text[i:], '\n')
			if end == i {
				end = len(text)
			}
			if bytes.Equal(bytes.TrimRight(text[i:end], " \t\r\n"), []byte("---")) {
				if !yield(first, text[begin:i]) {
					return
				}
				begin, first = end, line+1
			}
			i = end
		}
		yield(first, text[begin:])
	}
}

// blank reports whether a YAML document of a file of recipes holds nothing but comments.
func blank(part []byte) bool {
	for line := range bytes.Lines(part) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] != '#' {
			return false
		}
	}
	return true
}

// parseOne reads one recipe.
func parseOne(text []byte) (r *Recipe, nameLine int, err error) {
	if len(text) > MaxText {
		return nil, 0, &Error{Line: 1, Column: 1, Err: fmt.Errorf("the recipe has more than %d bytes", MaxText)}
	}
	var f file
	places := map[string]strictyaml.Place{}
	if err := strictyaml.Decode(text, &f, func(key string, at strictyaml.Place) { places[key] = at }); err != nil {
		mistake, _ := errors.AsType[*strictyaml.Error](err) // all are
		return nil, 0, &Error{mistake.Line, mistake.Column, mistake}
	}
	wrong := func(key, format string, args ...any) error {
		at, known := places[key]
		if !known {
			at = strictyaml.Place{Line: 1, Column: 1}
		}
		if key != "" {
			format = key + ": " + format
		}
		return &Error{at.Line, at.Column, fmt.Errorf(format, args...)}
	}
	r = &Recipe{
		Name: f.Recipe, About: strings.TrimSpace(f.About), Host: f.Match.Host, Path: f.Match.Path, Render: f.Render,
		Wait: f.Wait, Pages: f.Pages, Text: append(bytes.TrimSpace(text), '\n'),
	}
	r.Text = bytes.Clone(r.Text)
	sum := sha256.Sum256(r.Text)
	r.Edition = hex.EncodeToString(sum[:8])
	r.Selectors = convert.RecipeParts{
		Has: f.Match.Has, Content: f.Content, Item: f.Item, Drop: f.Drop, Next: f.Next, Title: f.Title, Author: f.Author,
		Date: f.Date,
	}
	for _, p := range f.Fields {
		if !fieldName(p.Key) {
			return nil, 0, wrong("fields."+p.Key, "a field is called by small letters, digits, - and _, at most 30")
		}
		r.Selectors.Fields = append(r.Selectors.Fields, convert.RecipeField{Name: p.Key, Selector: p.Value})
	}
	switch {
	case r.Name == "":
		return nil, 0, wrong("recipe", "the recipe has no name: write recipe: example-forum")
	case !recipeName(r.Name):
		return nil, 0, wrong("recipe", "%.80q is not a name: use small letters, digits and -, at most %d", r.Name, maxName)
	case len(r.About) > maxAbout:
		return nil, 0, wrong("about", "it has more than %d bytes", maxAbout)
	}
	if key, err := r.checkMatch(); err != nil {
		return nil, 0, wrong(key, "%w", err)
	}
	if r.compiled, err = convert.NewRecipe(r.Name, r.Selectors); err != nil {
		mistake, _ := errors.AsType[*convert.RecipeError](err) // all are
		key := mistake.Part
		if key == "has" {
			key = "match.has"
		}
		return nil, 0, wrong(key, "%w", mistake.Err)
	}
	if key, err := r.checkFetching(); err != nil {
		return nil, 0, wrong(key, "%w", err)
	}
	if len(f.Tests) > maxTests {
		return nil, 0, wrong("tests", "there are more than %d", maxTests)
	}
	for i, t := range f.Tests {
		key := fmt.Sprintf("tests[%d]", i)
		if err := r.addTest(t, places[key].Line); err != nil {
			return nil, 0, wrong(key, "%w", err)
		}
	}
	return r, places["recipe"].Line, nil
}

// recipeName reports whether s can be the name of a recipe.
func recipeName(s string) bool {
	return len(s) <= maxName && s[0] != '-' && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// fieldName reports whether s can be the name of a recipe's field.
func fieldName(s string) bool {
	return s != "" && len(s) <= 30 && !strings.ContainsFunc(s, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z')
	})
}

// checkMatch refuses a recipe that is for pages of all sites: it names a host, or an element by more than its kind.
func (r *Recipe) checkMatch() (key string, err error) {
	if r.Host != "" {
		if err := page.CheckHost(r.Host); err != nil {
			return "match.host", err
		}
	}
	if len(r.Path) > 2048 || r.Path != "" && r.Path[0] != '/' && r.Path[0] != '*' {
		return "match.path", fmt.Errorf("%.80q is not a path such as /t/*", r.Path)
	}
	if !r.OneSite() && !convert.NamesMark(r.Selectors.Has) {
		if r.Host == "" && r.Selectors.Has == "" {
			return "match", errors.New("the recipe is for every page: name a host such as forum.example.com")
		}
		return "match", fmt.Errorf("the recipe is for pages of all sites: name a host such as forum.example.com, or in has " +
			"an element with an id, a class or an attribute")
	}
	return "", nil
}

// OneSite reports whether the recipe is for the hosts of one site only.
func (r *Recipe) OneSite() bool {
	rest := strings.TrimPrefix(r.Host, "*.")
	switch {
	case rest == "" || strings.Contains(rest, "*"):
		return false
	case rest == r.Host:
		return true
	}
	return page.SameSite("a."+rest, "b."+rest) // no public suffix
}

// checkFetching refuses what would have the fetcher do more for pages of all sites.
func (r *Recipe) checkFetching() (key string, err error) {
	switch {
	case r.Render != "" && !r.OneSite():
		return "render", errors.New("it needs a host in match: pages of all sites are rendered as configured")
	case r.Wait != "" && r.Render != "always":
		return "wait", errors.New("it is waited for in a browser only: write render: always")
	case len(r.Wait) > 500:
		return "wait", errors.New("it has more than 500 bytes")
	case r.Wait != "" && (convert.Options{Selector: r.Wait}).Check() != nil:
		return "wait", convert.Options{Selector: r.Wait}.Check()
	case r.Pages < 0 || r.Pages > MaxPages:
		return "pages", fmt.Errorf("%d is not a number from 1 to %d", r.Pages, MaxPages)
	case r.Pages > 1 && r.Selectors.Next == "":
		return "pages", errors.New("without next, the selector of the link to the next page, there is one page only")
	case r.Pages < 2 && r.Selectors.Next != "":
		return "next", fmt.Errorf("it needs pages, the number of pages to join, at most %d", MaxPages)
	case r.Pages > 1 && !r.OneSite():
		return "pages", errors.New("it needs a host in match")
	}
	return "", nil
}

// addTest adds a test.
func (r *Recipe) addTest(t test, line int) error {
	u, err := page.Parse(t.URL)
	switch {
	case t.URL == "":
		return errors.New("it has no url")
	case err != nil:
		return err
	case !r.Matches(u):
		return fmt.Errorf("%s is not a page of this recipe: see match", page.Mask(u))
	case len(t.Expect)+len(t.Absent) == 0:
		return errors.New("it expects nothing: give lines in expect, or texts in absent")
	case len(t.Expect)+len(t.Absent) > maxLines:
		return fmt.Errorf("it has more than %d lines", maxLines)
	}
	for _, line := range append(t.Expect, t.Absent...) {
		if strings.TrimSpace(line) == "" || strings.Contains(strings.TrimSpace(line), "\n") {
			return errors.New("an expected or absent text is one line, not empty")
		}
	}
	r.Tests = append(r.Tests, Test{t.URL, t.HTML, t.Expect, t.Absent, line})
	return nil
}

// Matches reports whether a URL is one of the recipe's, as far as host and path tell.
func (r *Recipe) Matches(u *url.URL) bool {
	return page.MatchHost(r.Host, u.Hostname()) && page.MatchPath(r.Path, u.Path)
}
