package recipe

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/page"
)

// ErrNoProposal is the error of a page for which no recipe can be proposed.
var ErrNoProposal = errors.New("nothing on the page has names by which a recipe could choose it: write one by hand, " +
	"docs/recipes.md has an example")

// Propose returns the text of a recipe for pages like the one at u, with a test of it that uses what is stored.
// Somebody must look at what it chooses.
func Propose(ctx context.Context, content []byte, contentType string, u *url.URL) ([]byte, error) {
	doc, err := convert.Parse(ctx, content, contentType, u)
	if err != nil {
		return nil, err
	}
	parts, ok, err := doc.Propose(ctx)
	if err != nil {
		return nil, err
	}
	if !ok {
		return nil, ErrNoProposal
	}
	text := write(parts, u, []string{"."})
	list, err := Parse(text) // its test expects nothing of use yet
	if err != nil {
		return nil, fmt.Errorf("%w (%w)", ErrNoProposal, err)
	}
	res, err := list[0].Apply(ctx, content, contentType, u)
	if err != nil {
		return nil, err
	}
	lines := expected(res.Markdown)
	if res.Recipe == nil || res.Recipe.Missed || len(lines) == 0 {
		return nil, ErrNoProposal
	}
	return write(parts, u, lines), nil
}

// write writes a proposed recipe. Texts are quoted as in JSON, which YAML reads, too.
func write(parts convert.RecipeParts, u *url.URL, expect []string) []byte {
	var b strings.Builder
	quoted := func(s string) string {
		text, _ := json.Marshal(s) // a string never fails
		return string(text)
	}
	host := strings.ToLower(u.Hostname())
	fmt.Fprintf(&b, "recipe: %s\nmatch:\n  host: %s\n", nameOf(host), quoted(host))
	if dir := strings.SplitN(u.Path, "/", 3); len(dir) == 3 && dir[1] != "" && !strings.Contains(dir[1], "*") {
		fmt.Fprintf(&b, "  path: %s\n", quoted("/"+dir[1]+"/*"))
	}
	for _, p := range []struct{ key, value string }{{"content", parts.Content}, {"item", parts.Item}} {
		if p.value != "" {
			fmt.Fprintf(&b, "%s: %s\n", p.key, quoted(p.value))
		}
	}
	if len(parts.Fields) > 0 {
		b.WriteString("fields:\n")
		for _, f := range parts.Fields {
			fmt.Fprintf(&b, "  %s: %s\n", f.Name, quoted(f.Selector))
		}
	}
	fmt.Fprintf(&b, "tests:\n  - url: %s\n    expect:\n", quoted(page.Mask(u)))
	for _, line := range expect {
		fmt.Fprintf(&b, "      - %s\n", quoted(line))
	}
	return []byte(b.String())
}

// nameOf proposes the name of a recipe of a host.
func nameOf(host string) string {
	name := strings.Map(func(c rune) rune {
		if c >= '0' && c <= '9' || c >= 'a' && c <= 'z' {
			return c
		}
		return '-'
	}, strings.TrimPrefix(host, "www."))
	return strings.Trim(name[:min(len(name), maxName)], "-")
}

// expected proposes the first lines of a page that a test may expect.
func expected(markdown string) (lines []string) {
	for line := range strings.Lines(markdown) {
		if line = strings.TrimSpace(line); len(line) > 3 && len(line) < 200 && len(lines) < 3 {
			lines = append(lines, line)
		}
	}
	return lines
}
