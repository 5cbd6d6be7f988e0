package github

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// Bounds of a gist's page.
const (
	maxGistFile = 1 << 20 // bytes of a file of a gist; the API cuts at 1 MB
	maxGist     = 300     // files; the API lists as many
)

// gist is a gist in GitHub's API.
type gist struct {
	Description string              `json:"description"`
	Public      bool                `json:"public"`
	Owner       user                `json:"owner"`
	CreatedAt   time.Time           `json:"created_at"`
	Files       map[string]gistFile `json:"files"`
	Truncated   bool                `json:"truncated"`
}

// gistFile is a file of a gist in GitHub's API.
type gistFile struct {
	Name      string `json:"filename"`
	Content   string `json:"content"`
	Truncated bool   `json:"truncated"`
	Size      int    `json:"size"`
}

// gistID returns the id of the gist that u names; empty if it names none, or one revision or file of a gist, which are
// pages or files like any other. An id is 20 hex digits or more.
func gistID(u *url.URL) string {
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

// readGist reads all files of a gist. Without a token, a secret gist counts as public: everybody who knows its URL may
// read it.
func (r *read) readGist(ctx context.Context) (*Page, error) {
	begun := time.Now()
	var v gist
	_, err := r.api(ctx, r.t.api.JoinPath("gists", r.t.gist), "", &v)
	r.tried("api", begun, err)
	if err != nil {
		return nil, err
	}
	p := v.page()
	p.Private = !v.Public && r.t.wallet.open(ctx) != nil
	return p, nil
}

// page writes a gist as markdown: its files in the order of their names, each under a heading.
func (v *gist) page() *Page {
	files := make([]gistFile, 0, len(v.Files))
	for _, f := range v.Files {
		files = append(files, f)
	}
	slices.SortFunc(files, func(a, b gistFile) int { return cmp.Compare(a.Name, b.Name) })
	title := singleLine(v.Description)
	if title == "" && len(files) > 0 {
		title = singleLine(files[0].Name)
	}
	p := &Page{Title: title, Description: singleLine(v.Description), Meta: page.Meta{}}
	if author := singleLine(v.Owner.Login); author != "" {
		p.Meta["author"] = author
	}
	if d := day(v.CreatedAt); d != "" {
		p.Meta["date"] = d
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n", inlineText(title))
	for i, f := range files {
		if i == maxGist {
			break
		}
		fmt.Fprintf(&b, "\n## %s\n\n", inlineText(f.Name))
		content := []byte(clip.Bytes(f.Content, maxGistFile))
		if isMarkdown(f.Name) {
			b.Write(p.readmeMarkdown(f.Name, content, func(string) *url.URL { return nil }))
		} else {
			b.Write(p.fenced(language(f.Name), content))
		}
		if f.Truncated || len(content) < len(f.Content) {
			fmt.Fprintf(&b, "\n%s is cut: it has %d bytes.\n", inlineText(f.Name), f.Size)
			p.warn("gist-cut")
		}
	}
	if v.Truncated || len(files) > maxGist {
		b.WriteString("\nThere are more files than are shown.\n")
		p.warn("gist-cut")
	}
	p.warnHidden()
	p.Markdown = []byte(b.String())
	return p
}
