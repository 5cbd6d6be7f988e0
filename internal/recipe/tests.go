package recipe

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// Snapshot returns what is stored of the URL that of is: its content and its media type.
type Snapshot func(ctx context.Context, of string) (content []byte, contentType string, err error)

// ErrNoSnapshot is the error of a test without a page where none is stored.
var ErrNoSnapshot = errors.New("the test has no html, and no page of this URL is stored: " +
	"read it with \"readthru fetch\", or write html into the test")

// Result is what came of a test.
type Result struct {
	Recipe   string   `json:"recipe"`
	URL      string   `json:"url"`
	Line     int      `json:"line,omitempty"` // of the test in its text
	Passed   bool     `json:"passed"`
	Skipped  bool     `json:"skipped,omitempty"`  // nothing is stored of its URL
	Failures []string `json:"failures,omitempty"` // each in a sentence
	Used     string   `json:"used,omitempty"`     // what the recipe did
}

// Run runs the tests of a recipe. Stored gives pages for tests without one; nil for none. The error is that of ctx.
func (r *Recipe) Run(ctx context.Context, stored Snapshot) ([]Result, error) {
	var list []Result
	for _, t := range r.Tests {
		res := Result{Recipe: r.Name, URL: page.MaskString(t.URL), Line: t.Line}
		var err error
		res.Used, res.Failures, err = r.run(ctx, t, stored)
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			res.Failures, res.Skipped = []string{err.Error()}, errors.Is(err, ErrNoSnapshot)
		}
		res.Passed = len(res.Failures) == 0
		list = append(list, res)
	}
	return list, nil
}

// run runs one test of a recipe: it converts the page with the recipe, and returns what the recipe did and what of the
// test does not hold.
func (r *Recipe) run(ctx context.Context, t Test, stored Snapshot) (used string, failures []string, err error) {
	content, contentType := []byte(t.HTML), "text/html; charset=utf-8"
	if t.HTML == "" {
		if stored == nil {
			return "", nil, ErrNoSnapshot
		}
		if content, contentType, err = stored(ctx, t.URL); err != nil {
			return "", nil, err
		}
	}
	u, err := page.Parse(t.URL)
	if err != nil {
		return "", nil, err
	}
	res, err := r.Apply(ctx, content, contentType, u)
	if err != nil {
		return "", nil, err
	}
	if res.Recipe == nil {
		return "", []string{"the page has no element " + r.Selectors.Has}, nil
	}
	used = res.Recipe.String()
	if res.Recipe.Missed {
		failures = append(failures, "the selectors match nothing: the page was converted as without a recipe")
	}
	return used, append(failures, compare(res.Markdown, t)...), nil
}

// Apply converts a page with the recipe, whatever its URL. Result.Recipe is nil if the page lacks what the recipe asks
// for.
func (r *Recipe) Apply(ctx context.Context, content []byte, contentType string, u *url.URL) (*convert.Result, error) {
	doc, err := convert.Parse(ctx, content, contentType, u, r.compiled)
	if err != nil {
		return nil, err
	}
	return doc.Convert(ctx, convert.Options{})
}

// compare returns what of a recipe's test does not hold of a page's markdown: lines that are missing or out of order,
// and texts that should be absent.
func compare(markdown string, t Test) (failures []string) {
	var lines []string
	for line := range strings.Lines(markdown) {
		lines = append(lines, strings.TrimSpace(line))
	}
	at := 0
	for _, want := range t.Expect {
		want = strings.TrimSpace(want)
		found := -1
		for i, line := range lines {
			if line == want && (found < at) {
				found = i
			}
		}
		switch {
		case found < 0:
			failures = append(failures, fmt.Sprintf("no line is %q%s", want, nearest(lines, want)))
		case found < at:
			failures = append(failures, fmt.Sprintf("the line %q comes before the line expected before it", want))
		default:
			at = found + 1
		}
	}
	for _, text := range t.Absent {
		if strings.Contains(markdown, strings.TrimSpace(text)) {
			failures = append(failures, fmt.Sprintf("the text %q is in the page", strings.TrimSpace(text)))
		}
	}
	return failures
}

// nearest names, for a test that failed, a line that holds the longest word of want, which is what the recipe made of
// it.
func nearest(lines []string, want string) string {
	longest := ""
	for word := range strings.FieldsSeq(want) {
		if word = strings.Trim(word, "*_`#>[]()"); len(word) > len(longest) {
			longest = word
		}
	}
	for _, line := range lines {
		if len(longest) > 2 && strings.Contains(line, longest) {
			return fmt.Sprintf("; one is %q", clip.Ellipsis(line, 120))
		}
	}
	return ""
}
