package fetch

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

const (
	apiVersion  = "2022-11-28"
	apiAnswer   = 16 << 20 // most bytes of an answer
	apiPage     = 100      // comments asked for at once, the most there are
	maxComments = 500      // of a discussion
	maxComment  = 64 << 10 // bytes of one; GitHub takes 65,536 characters
)

// api asks the REST API and reads its answer into v. With the entity tag of an earlier answer, unchanged tells that it
// still holds. The token goes to the API's host and nowhere else.
func (g *github) api(ctx context.Context, a *attempt, t *target, u *url.URL, tag string,
	v any,
) (head http.Header, err error) {
	fields := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {apiVersion}}
	if t.token != "" {
		fields.Set("Authorization", "Bearer "+t.token)
	}
	if tag != "" {
		fields.Set("If-None-Match", tag)
	}
	resp, from, err := g.get(ctx, a, t.hub, u, fields)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode == http.StatusNotModified && tag != "" {
			return resp.Header, errUnchanged
		}
		return nil, refusal(resp, from)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, apiAnswer+1))
	if err == nil && len(text) > apiAnswer {
		err = errTooLarge
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return nil, fmt.Errorf("read what %s says: %w", from.Hostname(), err)
	}
	return resp.Header, nil
}

// issue is an issue or a pull request, as the API tells of it.
type issue struct {
	Number      int       `json:"number"`
	Title       string    `json:"title"`
	State       string    `json:"state"`
	StateReason string    `json:"state_reason"`
	Body        string    `json:"body"`
	User        user      `json:"user"`
	Labels      []label   `json:"labels"`
	Assignees   []user    `json:"assignees"`
	Milestone   milestone `json:"milestone"`
	Comments    int       `json:"comments"`
	CreatedAt   time.Time `json:"created_at"`
	UpdatedAt   time.Time `json:"updated_at"`
	ClosedAt    time.Time `json:"closed_at"`
	PullRequest *struct{} `json:"pull_request"`
}

type user struct {
	Login string `json:"login"`
}

type label struct {
	Name string `json:"name"`
}

type milestone struct {
	Title string `json:"title"`
}

// pull is what a pull request has besides.
type pull struct {
	Merged   bool      `json:"merged"`
	MergedAt time.Time `json:"merged_at"`
	Draft    bool      `json:"draft"`
	Head     branch    `json:"head"`
	Base     branch    `json:"base"`
	Commits  int       `json:"commits"`
	Added    int       `json:"additions"`
	Deleted  int       `json:"deletions"`
	Changed  int       `json:"changed_files"`
	Reviews  int       `json:"review_comments"`
}

type branch struct {
	Label string `json:"label"`
	Ref   string `json:"ref"`
}

// comment is one of a discussion, or one on a line of a pull request.
type comment struct {
	User      user      `json:"user"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	Path      string    `json:"path"`
	Line      int       `json:"line"`
}

// discussion reads an issue or a pull request with its comments (rule B15).
func (g *github) discussion(ctx context.Context, a *attempt, t *target, kept *store.Rendition) (*made, error) {
	begun := time.Now()
	m, err := g.discussionOf(ctx, a, t, kept)
	a.told("github-api", begun, err)
	return m, err
}

func (g *github) discussionOf(ctx context.Context, a *attempt, t *target, kept *store.Rendition) (*made, error) {
	about := g.projectOf(ctx, a, t)
	private := about.Private || about.asked.IsZero() // what cannot be shown to be public is not
	tag := ""
	if kept != nil {
		tag = kept.Validator
	}
	repo := t.api.JoinPath("repos", t.Owner, t.Repo)
	n := fmt.Sprint(max(t.IssueNumber, t.PRNumber))
	var i issue
	head, err := g.api(ctx, a, t, repo.JoinPath("issues", n), tag, &i)
	if err == errUnchanged { //nolint:errorlint // nothing wraps it
		return &made{unchanged: true, private: private}, nil
	}
	if err != nil {
		return nil, err
	}
	d := discussion{target: t, issue: i}
	if i.PullRequest != nil {
		d.pull = new(pull)
		if _, err := g.api(ctx, a, t, repo.JoinPath("pulls", n), "", d.pull); err != nil {
			return nil, err
		}
	}
	if d.comments, err = g.comments(ctx, a, t, repo.JoinPath("issues", n, "comments"), i.Comments); err != nil {
		return nil, err
	}
	if d.pull != nil && d.pull.Reviews > 0 {
		if d.reviews, err = g.comments(ctx, a, t, repo.JoinPath("pulls", n, "comments"), d.pull.Reviews); err != nil {
			return nil, err
		}
	}
	r := d.page()
	r.Validator = head.Get("Etag")
	return &made{rendition: r, private: private}, nil
}

// comments reads the comments at u, of which there are said to be want, at most maxComments.
func (g *github) comments(ctx context.Context, a *attempt, t *target, u *url.URL,
	want int,
) (list []comment, err error) {
	for n := 1; len(list) < min(want, maxComments); n++ {
		at := *u
		at.RawQuery = fmt.Sprintf("per_page=%d&page=%d", apiPage, n)
		var some []comment
		if _, err := g.api(ctx, a, t, &at, "", &some); err != nil {
			return nil, err
		}
		list = append(list, some...)
		if len(some) < apiPage {
			break
		}
	}
	return list[:min(len(list), maxComments)], nil
}

// discussion is all of an issue or a pull request.
type discussion struct {
	*target
	issue
	pull     *pull // nil: an issue
	comments []comment
	reviews  []comment
}

// page writes a discussion as markdown.
func (d *discussion) page() *store.Rendition {
	sign := "#"
	if d.pull != nil {
		sign = "!"
	}
	r := &store.Rendition{
		Title: fmt.Sprintf("%s · %s%s%d", onOneLine(d.Title), d.name(), sign, d.Number),
		Meta:  page.Meta{"state": d.state()},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", oneLine(d.Title))
	fact := func(name, value string) {
		if value = oneLine(value); value != "" {
			fmt.Fprintf(&b, "- %s: %s\n", name, value)
		}
	}
	fact("Repository", d.name())
	fact("State", d.state())
	fact("Author", d.User.Login)
	fact("Opened", day(d.CreatedAt))
	fact("Closed", day(d.ClosedAt))
	fact("Labels", names(d.Labels, func(l label) string { return l.Name }))
	fact("Assignees", names(d.Assignees, func(u user) string { return u.Login }))
	fact("Milestone", d.Milestone.Title)
	if d.pull != nil {
		fact("Branches", d.pull.Head.Label+" into "+d.pull.Base.Ref)
		fact("Changes", fmt.Sprintf("%s, %s, +%d −%d", counted(d.pull.Commits, "commit"), counted(d.pull.Changed, "file"),
			d.pull.Added, d.pull.Deleted))
	}
	for name, value := range map[string]string{
		"author": d.User.Login, "date": day(d.CreatedAt),
		"labels": names(d.Labels, func(l label) string { return l.Name }),
	} {
		if value != "" {
			r.Meta[name] = value
		}
	}
	hidden := d.said(&b, d.Body)
	hidden += d.section(&b, "Comments", d.comments, d.Comments, r)
	if d.pull != nil {
		hidden += d.section(&b, "Review comments", d.reviews, d.pull.Reviews, r)
	}
	if hidden > 0 {
		r.Warnings = addWarning(r.Warnings, fmt.Sprintf("hidden-text-removed=%d", hidden))
	}
	r.Markdown = []byte(b.String())
	r.Tokens = convert.Tokens(r.Markdown)
	return r
}

// state is open, closed, merged or draft, with the reason where there is one.
func (d *discussion) state() string {
	switch {
	case d.pull != nil && d.pull.Merged:
		return "merged"
	case d.pull != nil && d.pull.Draft && d.State == "open":
		return "draft"
	case d.StateReason != "" && d.StateReason != "reopened":
		return d.State + " (" + strings.ReplaceAll(d.StateReason, "_", " ") + ")"
	}
	return d.State
}

// section writes comments under a heading. all is how many there are.
func (d *discussion) section(b *strings.Builder, heading string, list []comment, all int,
	r *store.Rendition,
) (hidden int) {
	if len(list) == 0 {
		return 0
	}
	fmt.Fprintf(b, "\n## %s\n", heading)
	for _, c := range list {
		fmt.Fprintf(b, "\n### %s, %s", oneLine(c.User.Login), day(c.CreatedAt))
		if c.Path != "" {
			fmt.Fprintf(b, ", on %s", oneLine(c.Path))
			if c.Line > 0 {
				fmt.Fprintf(b, ":%d", c.Line)
			}
		}
		b.WriteString("\n")
		hidden += d.said(b, c.Body)
	}
	if all > len(list) {
		fmt.Fprintf(b, "\n%d more are not shown.\n", all-len(list))
		r.Warnings = addWarning(r.Warnings, fmt.Sprintf("comments-cut=%d", all-len(list)))
	}
	return hidden
}

// said writes what somebody wrote, so that it cannot end what follows.
func (t *target) said(b *strings.Builder, body string) (hidden int) {
	if len(body) > maxComment*4 {
		body = shorten(body, maxComment*4) + "\n\n…"
	}
	if strings.TrimSpace(body) == "" {
		return 0
	}
	markdown, hidden := readmeMarkdown("comment.md", []byte(body), t.linksOf("HEAD", "."))
	b.WriteString("\n")
	b.Write(markdown)
	return hidden
}

// day is a time as text; empty for none.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

func names[T any](list []T, name func(T) string) string {
	var all []string
	for _, v := range list {
		if n := onOneLine(name(v)); n != "" {
			all = append(all, n)
		}
	}
	return strings.Join(all, ", ")
}

// onOneLine returns foreign text on one line.
func onOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// oneLine returns foreign text on one line of markdown, without marks that would begin an element or code there.
func oneLine(s string) string {
	return strings.NewReplacer("<", "&lt;", "`", "'").Replace(onOneLine(s))
}
