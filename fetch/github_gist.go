package fetch

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

const (
	maxGistFile = 1 << 20 // bytes of a file of a gist; the API cuts at 1 MB
	maxGist     = 300     // files; the API lists as many
)

// gist is a gist as the API tells of it.
type gist struct {
	Description string              `json:"description"`
	Public      bool                `json:"public"`
	Owner       user                `json:"owner"`
	CreatedAt   time.Time           `json:"created_at"`
	Files       map[string]gistFile `json:"files"`
	Truncated   bool                `json:"truncated"`
}

type gistFile struct {
	Name      string `json:"filename"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Size      int    `json:"size"`
}

// gistOf returns the id of the gist that u names; empty if it names none. A gist of one revision or file is read as a
// page.
func gistOf(u *url.URL) string {
	if page.Authority(u) != "gist.github.com" {
		return ""
	}
	parts := strings.FieldsFunc(u.Path, func(r rune) bool { return r == '/' })
	if len(parts) == 0 || len(parts) > 2 {
		return ""
	}
	id := strings.TrimSuffix(parts[len(parts)-1], ".git")
	if n := len(id); n < 20 || n > 64 || strings.Trim(id, "0123456789abcdef") != "" {
		return ""
	}
	return id
}

// readGist reads a gist: all of its files, one after the other. One that is not listed is read as its page says it may
// be, by who knows its address, and is as good as public.
func (g *github) readGist(ctx context.Context, a *attempt, t *target) (*made, error) {
	begun := time.Now()
	var v gist
	_, err := g.api(ctx, a, t, t.api.JoinPath("gists", t.gist), "", &v)
	a.told("github-api", begun, err)
	if err != nil {
		return nil, err
	}
	return &made{rendition: v.page(), private: !v.Public && t.token != ""}, nil
}

func (v *gist) page() *store.Rendition {
	files := make([]gistFile, 0, len(v.Files))
	for _, f := range v.Files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b gistFile) int { return strings.Compare(a.Name, b.Name) })
	title := onOneLine(v.Description)
	if title == "" && len(files) > 0 {
		title = onOneLine(files[0].Name)
	}
	r := &store.Rendition{Title: title, Description: onOneLine(v.Description), Meta: page.Meta{}}
	if author := onOneLine(v.Owner.Login); author != "" {
		r.Meta["author"] = author
	}
	if d := day(v.CreatedAt); d != "" {
		r.Meta["date"] = d
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", oneLine(title))
	for i, f := range files {
		if i == maxGist {
			break
		}
		fmt.Fprintf(&b, "\n## %s\n\n", oneLine(f.Name))
		content := []byte(shorten(f.Content, maxGistFile))
		if markdownPath(f.Name) {
			shown, _ := readmeMarkdown(f.Name, content, func(string) *url.URL { return nil })
			b.Write(shown)
		} else {
			b.Write(fenced(language(f.Name), content))
		}
		if f.Truncated || len(content) < len(f.Content) {
			fmt.Fprintf(&b, "\n%s is cut: it has %d bytes.\n", oneLine(f.Name), f.Size)
			r.Warnings = addWarning(r.Warnings, "gist-cut")
		}
	}
	if v.Truncated || len(files) > maxGist {
		b.WriteString("\nThere are more files than are shown.\n")
		r.Warnings = addWarning(r.Warnings, "gist-cut")
	}
	r.Markdown = []byte(b.String())
	r.Tokens = convert.Tokens(r.Markdown)
	return r
}
