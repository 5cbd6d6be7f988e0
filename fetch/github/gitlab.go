package github

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"
)

// gitlab is the forge GitLab, of gitlab.com or anybody's.
type gitlab struct{}

// repository implements forge for GitLab: the API's address of a repository.
func (gitlab) repository(t *Target) *url.URL {
	return below(t.api, "projects/"+url.PathEscape(t.name()), "")
}

// archive implements forge for GitLab.
func (l gitlab) archive(t *Target, ref, _ string) *url.URL {
	query := ""
	if ref != "" {
		query = url.Values{"sha": {ref}}.Encode()
	}
	return below(l.repository(t), "repository/archive.tar.gz", query)
}

// raw implements forge for GitLab.
func (gitlab) raw(t *Target, refAndFile string) *url.URL {
	return below(t.base, t.place()+"/-/raw/"+refAndFile, "")
}

// blob implements forge for GitLab.
func (gitlab) blob(t *Target, ref, file string) *url.URL {
	return below(t.base, t.place()+"/-/blob/"+ref+"/"+file, "")
}

// gitUser implements forge for GitLab.
func (gitlab) gitUser() string { return "oauth2" }

// labIssue is an issue or a merge request in GitLab's API.
type labIssue struct {
	Number       int       `json:"iid"`
	Title        string    `json:"title"`
	Description  string    `json:"description"`
	State        string    `json:"state"`
	Author       labUser   `json:"author"`
	Labels       []string  `json:"labels"`
	Assignees    []labUser `json:"assignees"`
	Milestone    milestone `json:"milestone"`
	Notes        int       `json:"user_notes_count"`
	CreatedAt    time.Time `json:"created_at"`
	UpdatedAt    time.Time `json:"updated_at"`
	ClosedAt     time.Time `json:"closed_at"`
	Confidential bool      `json:"confidential"`

	// of a merge request
	Draft        bool      `json:"draft"`
	MergedAt     time.Time `json:"merged_at"`
	SourceBranch string    `json:"source_branch"`
	TargetBranch string    `json:"target_branch"`
	Changes      string    `json:"changes_count"` // "1000+" when there are more
}

// labUser is a user in GitLab's API.
type labUser struct {
	Name string `json:"username"`
}

// labNote is a comment in GitLab's API.
type labNote struct {
	Body      string    `json:"body"`
	Author    labUser   `json:"author"`
	CreatedAt time.Time `json:"created_at"`
	System    bool      `json:"system"` // written by GitLab: somebody added a label
	Internal  bool      `json:"internal"`
	Position  struct {
		Path string `json:"new_path"`
		Line int    `json:"new_line"`
	} `json:"position"`
}

// discussion reads an issue or a merge request of GitLab, in the form that discussions of GitHub have. Without a token,
// GitLab does not show the comments, and they are not asked for.
func (l gitlab) discussion(ctx context.Context, r *read) (*discussion, http.Header, error) {
	kind, n := "issues", r.t.IssueNumber
	if r.t.PRNumber > 0 {
		kind, n = "merge_requests", r.t.PRNumber
	}
	at := below(l.repository(r.t), fmt.Sprintf("%s/%d", kind, n), "")
	var v labIssue
	head, private, err := r.apiShown(ctx, at, r.validator, &v)
	if err != nil {
		return nil, nil, err
	}
	d := &discussion{Target: r.t, private: private || v.Confidential, issue: issue{
		Number: v.Number, Title: v.Title, State: v.State, Body: v.Description, User: user{v.Author.Name},
		Milestone: v.Milestone,
		Comments:  v.Notes, CreatedAt: v.CreatedAt, UpdatedAt: v.UpdatedAt, ClosedAt: v.ClosedAt,
	}}
	if d.State == "opened" {
		d.State = "open"
	}
	for _, name := range v.Labels {
		d.Labels = append(d.Labels, label{name})
	}
	for _, a := range v.Assignees {
		d.Assignees = append(d.Assignees, user{a.Name})
	}
	if r.t.PRNumber > 0 {
		d.pull = &pull{
			Merged: v.State == "merged", MergedAt: v.MergedAt, Draft: v.Draft, Head: branch{Label: v.SourceBranch},
			Base: branch{Ref: v.TargetBranch},
		}
		_, _ = fmt.Sscan(v.Changes, &d.pull.Changed) // 0 where it does not say
	}
	if v.Notes == 0 || r.t.wallet.open(ctx) == nil {
		return d, head, nil
	}
	// The notes of GitLab count events, too, so that their number is not known before.
	notes, err := comments[labNote](ctx, r, at.JoinPath("notes"), "sort=asc&order_by=created_at&", maxComments)
	if err != nil {
		return nil, nil, err
	}
	for _, note := range notes {
		if note.System {
			continue
		}
		d.private = d.private || note.Internal
		c := comment{
			User: user{note.Author.Name}, Body: note.Body, CreatedAt: note.CreatedAt, Path: note.Position.Path,
			Line: note.Position.Line,
		}
		if c.Path == "" {
			d.comments = append(d.comments, c)
		} else {
			d.reviews = append(d.reviews, c)
		}
	}
	d.Comments = max(len(d.comments), v.Notes-len(d.reviews))
	if d.pull != nil {
		d.pull.Reviews = len(d.reviews)
	}
	return d, head, nil
}
