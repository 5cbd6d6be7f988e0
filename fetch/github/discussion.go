package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/page"
)

// Bounds of a discussion, and of what is asked for at once.
const (
	commentsPage = 100      // comments requested at once; GitHub's limit
	maxComments  = 500      // of a discussion
	maxComment   = 64 << 10 // characters of one; GitHub's limit
)

// issue is an issue or a pull request as GitHub's API has it, and Gitea's. The other forges fill it in.
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

// user is an author or assignee in GitHub's API.
type user struct {
	Login string `json:"login"`
}

// label is a label of an issue in GitHub's API.
type label struct {
	Name string `json:"name"`
}

// milestone is the milestone of an issue in GitHub's API.
type milestone struct {
	Title string `json:"title"`
}

// pull is what the API has of a pull request besides its issue.
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

// branch is one end of a pull request in GitHub's API.
type branch struct {
	Label string `json:"label"`
	Ref   string `json:"ref"`
}

// comment is a comment on a discussion or on a line of a pull request.
type comment struct {
	User      user      `json:"user"`
	Body      string    `json:"body"`
	CreatedAt time.Time `json:"created_at"`
	Path      string    `json:"path"`
	Line      int       `json:"line"`
}

// discussion reads an issue or a pull request with its comments by the forge's API (rule B15), and notes the attempt.
func (r *read) discussion(ctx context.Context) (*Page, error) {
	begun := time.Now()
	p, err := r.requestDiscussion(ctx)
	r.tried("api", begun, err)
	return p, err
}

// requestDiscussion reads an issue or a pull request. With a validator it may return a page that says that nothing has
// changed. A page is private if the repository is, or, where there is a credential, if nobody says that it is not.
func (r *read) requestDiscussion(ctx context.Context) (*Page, error) {
	about := r.project(ctx)
	private := about.Private
	if about.asked.IsZero() && r.t.wallet.open(ctx) != nil { // without an answer, assume that it is private
		private = true
	}
	d, head, err := r.t.forge().discussion(ctx, r)
	if err == errUnchanged { //nolint:errorlint // nothing wraps it
		return &Page{Unchanged: true, Private: private || r.private(r.t)}, nil
	}
	if err != nil {
		return nil, err
	}
	p := d.page()
	p.Validator, p.Private = head.Get("Etag"), private || d.private
	return p, nil
}

// discussion reads an issue or pull request of GitHub: its opening, its comments, and those on lines of a pull request.
func (githubForge) discussion(ctx context.Context, r *read) (*discussion, http.Header, error) {
	repo, n := forges[page.GitHub].repository(r.t), r.number()
	d, head, err := r.opening(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	if d.comments, err = comments[comment](ctx, r, repo.JoinPath("issues", n, "comments"), "", d.Comments); err != nil {
		return nil, nil, err
	}
	if d.pull != nil && d.pull.Reviews > 0 {
		d.reviews, err = comments[comment](ctx, r, repo.JoinPath("pulls", n, "comments"), "", d.pull.Reviews)
	}
	return d, head, err
}

// number returns the number of the discussion, the issue or pull request that is read.
func (r *read) number() string { return fmt.Sprint(max(r.t.IssueNumber, r.t.PRNumber)) }

// opening reads a discussion, an issue or a pull request, without its comments, from the API of a repository at GitHub
// or a forge whose API is made after it.
func (r *read) opening(ctx context.Context, repo *url.URL) (*discussion, http.Header, error) {
	d := &discussion{Target: r.t}
	head, private, err := r.apiShown(ctx, repo.JoinPath("issues", r.number()), r.validator, &d.issue)
	if err != nil {
		return nil, nil, err
	}
	d.private = private
	if d.PullRequest != nil {
		d.pull = new(pull)
		if _, err := r.api(ctx, repo.JoinPath("pulls", r.number()), "", d.pull); err != nil {
			return nil, nil, err
		}
	}
	return d, head, nil
}

// comments reads n comments of a discussion at u of an API that counts pages as GitHub's does, at most maxComments,
// with a query besides that of the pages.
func comments[T any](ctx context.Context, r *read, u *url.URL, query string, n int) (list []T, err error) {
	for number := 1; len(list) < min(n, maxComments); number++ {
		next := *u
		next.RawQuery = query + fmt.Sprintf("per_page=%d&page=%d", commentsPage, number)
		var some []T
		if _, err := r.api(ctx, &next, "", &some); err != nil {
			return nil, err
		}
		list = append(list, some...)
		// A page that is not full is the last, whatever n was.
		if len(some) < commentsPage {
			break
		}
	}
	return list[:min(len(list), maxComments)], nil
}

// discussion is all of an issue or a pull request, of any forge, from which its page is written.
type discussion struct {
	*Target
	issue
	pull     *pull // nil: an issue
	comments []comment
	reviews  []comment
	private  bool // the host shows it with a credential only
}

// page writes a discussion as markdown: title, facts, the opening, and the comments in order.
func (d *discussion) page() *Page {
	sign := "#"
	if d.pull != nil {
		sign = "!"
	}
	p := &Page{
		Title: fmt.Sprintf("%s · %s%s%d", singleLine(d.Title), d.name(), sign, d.Number),
		Meta:  page.Meta{"state": d.state()},
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n", inlineText(d.Title))
	fact := func(name, value string) {
		if value = inlineText(value); value != "" {
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
		fact("Changes", d.pull.changes())
	}
	for name, value := range map[string]string{
		"author": d.User.Login, "date": day(d.CreatedAt),
		"labels": names(d.Labels, func(l label) string { return l.Name }),
	} {
		if value != "" {
			p.Meta[name] = value
		}
	}
	d.writeBody(&b, d.Body, p)
	d.section(&b, "Comments", d.comments, d.Comments, p)
	if d.pull != nil {
		d.section(&b, "Review comments", d.reviews, d.pull.Reviews, p)
	}
	p.warnHidden()
	p.Markdown = []byte(b.String())
	return p
}

// changes says, in a discussion, how much a pull request changes, as far as the forge says it.
func (p *pull) changes() string {
	var parts []string
	if p.Commits > 0 {
		parts = append(parts, counted(p.Commits, "commit"))
	}
	if p.Changed > 0 {
		parts = append(parts, counted(p.Changed, "file"))
	}
	if p.Added+p.Deleted > 0 {
		parts = append(parts, fmt.Sprintf("+%d −%d", p.Added, p.Deleted))
	}
	return strings.Join(parts, ", ")
}

// state is the state of a discussion, open, closed, merged or draft, with the reason where there is one.
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

// section writes the comments of a discussion under a heading, and warns when all of them are more than list.
func (d *discussion) section(b *strings.Builder, heading string, list []comment, all int, p *Page) {
	if len(list) == 0 {
		return
	}
	fmt.Fprintf(b, "\n## %s\n", heading)
	for _, c := range list {
		fmt.Fprintf(b, "\n### %s, %s", inlineText(c.User.Login), day(c.CreatedAt))
		if c.Path != "" {
			fmt.Fprintf(b, ", on %s", inlineText(c.Path))
			if c.Line > 0 {
				fmt.Fprintf(b, ":%d", c.Line)
			}
		}
		b.WriteString("\n")
		d.writeBody(b, c.Body, p)
	}
	if all > len(list) {
		fmt.Fprintf(b, "\n%d more are not shown.\n", all-len(list))
		p.warn(fmt.Sprintf("comments-cut=%d", all-len(list)))
	}
}

// writeBody writes a text of a discussion so that it cannot change how the following text is read: cleaned as any
// README, and cut if it is longer than forges let it be.
func (t *Target) writeBody(b *strings.Builder, body string, p *Page) {
	if len(body) > maxComment*4 {
		body = clip.Bytes(body, maxComment*4) + "\n\n…"
	}
	if strings.TrimSpace(body) == "" {
		return
	}
	b.WriteString("\n")
	b.Write(p.readmeMarkdown("comment.md", []byte(body), t.linksOf("HEAD", ".")))
}

// day returns, for a discussion, the date of t in UTC; empty for the zero time.
func day(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.DateOnly)
}

// names lists names of a discussion's labels or people on one line, with commas; empty ones are left out.
func names[T any](list []T, name func(T) string) string {
	var all []string
	for _, v := range list {
		if n := singleLine(name(v)); n != "" {
			all = append(all, n)
		}
	}
	return strings.Join(all, ", ")
}

// singleLine returns foreign text of a discussion, such as a title, on one line, without invisible characters.
func singleLine(s string) string {
	return strings.Join(strings.Fields(string(convert.CleanText([]byte(s), "").Text)), " ")
}

// inlineText returns foreign text of a discussion on one line of markdown, with characters replaced that would begin
// HTML or code, or the address of a link: GitHub shows them as they are.
func inlineText(s string) string {
	return strings.NewReplacer("<", "&lt;", "`", "'", "](", `]\(`).Replace(singleLine(s))
}
