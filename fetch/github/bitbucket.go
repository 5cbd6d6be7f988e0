package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/page"
)

// bitbucket is the forge Bitbucket Cloud.
type bitbucket struct{}

// repository implements forge for Bitbucket: the API's address of a repository.
func (bitbucket) repository(t *Target) *url.URL { return below(t.api, "repositories/"+t.place(), "") }

// archive implements forge for Bitbucket.
func (bitbucket) archive(t *Target, ref, _ string) *url.URL {
	ref = cmp.Or(ref, "HEAD")
	return below(t.base, t.place()+"/get/"+escape(ref)+".tar.gz", "")
}

// raw implements forge for Bitbucket.
func (bitbucket) raw(t *Target, refAndFile string) *url.URL {
	return below(t.base, t.place()+"/raw/"+refAndFile, "")
}

// blob implements forge for Bitbucket.
func (bitbucket) blob(t *Target, ref, file string) *url.URL {
	return below(t.base, t.place()+"/src/"+ref+"/"+file, "")
}

// gitUser implements forge for Bitbucket.
func (bitbucket) gitUser() string { return "x-token-auth" }

// bucketIssue is an issue or a pull request in Bitbucket's API, whose two kinds have different names for the same
// things.
type bucketIssue struct {
	Number      int        `json:"id"`
	Title       string     `json:"title"`
	State       string     `json:"state"`
	Kind        string     `json:"kind"`
	Priority    string     `json:"priority"`
	Content     bucketText `json:"content"` // of an issue
	Reporter    bucketUser `json:"reporter"`
	Assignee    bucketUser `json:"assignee"`
	Description string     `json:"description"` // of a pull request
	Author      bucketUser `json:"author"`
	Draft       bool       `json:"draft"`
	Comments    int        `json:"comment_count"`
	CreatedAt   time.Time  `json:"created_on"`
	UpdatedAt   time.Time  `json:"updated_on"`
	Source      bucketEnd  `json:"source"`
	Destination bucketEnd  `json:"destination"`
}

// bucketText is a text in Bitbucket's API, as its author wrote it.
type bucketText struct {
	Raw string `json:"raw"`
}

// bucketUser is a user in Bitbucket's API. Some have no nickname.
type bucketUser struct {
	Name     string `json:"display_name"`
	Nickname string `json:"nickname"`
}

// user returns a user of Bitbucket as GitHub has one.
func (u bucketUser) user() user {
	if u.Nickname != "" {
		return user{u.Nickname}
	}
	return user{u.Name}
}

// bucketEnd is a branch that a pull request of Bitbucket leads from or to.
type bucketEnd struct {
	Branch struct {
		Name string `json:"name"`
	} `json:"branch"`
}

// bucketComments is one page of comments in Bitbucket's API.
type bucketComments struct {
	Size   int    `json:"size"` // of all pages
	Next   string `json:"next"`
	Values []struct {
		Content   bucketText `json:"content"`
		User      bucketUser `json:"user"`
		CreatedAt time.Time  `json:"created_on"`
		Deleted   bool       `json:"deleted"`
		Inline    struct {
			Path string `json:"path"`
			To   int    `json:"to"`
		} `json:"inline"`
	} `json:"values"`
}

// discussion reads an issue or a pull request of Bitbucket, in the form that discussions of GitHub have.
func (b bitbucket) discussion(ctx context.Context, r *read) (*discussion, http.Header, error) {
	kind, n := "issues", r.t.IssueNumber
	if r.t.PRNumber > 0 {
		kind, n = "pullrequests", r.t.PRNumber
	}
	at := below(b.repository(r.t), fmt.Sprintf("%s/%d", kind, n), "")
	var v bucketIssue
	head, private, err := r.apiShown(ctx, at, r.validator, &v)
	if err != nil {
		return nil, nil, err
	}
	d := &discussion{Target: r.t, private: private, issue: issue{
		Number: v.Number, Title: v.Title, State: v.State, Body: v.Content.Raw, User: v.Reporter.user(),
		CreatedAt: v.CreatedAt,
		UpdatedAt: v.UpdatedAt,
	}}
	for _, name := range []string{v.Kind, v.Priority} {
		if name != "" {
			d.Labels = append(d.Labels, label{name})
		}
	}
	if who := v.Assignee.user(); who.Login != "" {
		d.Assignees = []user{who}
	}
	if r.t.PRNumber > 0 {
		d.Body, d.User = v.Description, v.Author.user()
		d.pull = &pull{
			Merged: v.State == "MERGED", Draft: v.Draft, Head: branch{Label: v.Source.Branch.Name},
			Base: branch{Ref: v.Destination.Branch.Name},
		}
		if d.State = "closed"; v.State == "OPEN" {
			d.State = "open"
		} else if v.State == "DECLINED" || v.State == "SUPERSEDED" {
			d.StateReason = map[string]string{"DECLINED": "declined", "SUPERSEDED": "superseded"}[v.State]
		}
	}
	return d, head, b.comments(ctx, r, at.JoinPath("comments"), d)
}

// comments reads the comments at u of Bitbucket's API into d, page after page, maxComments at most. The address of the
// next page is believed only if it is at the same origin: the credential goes with it.
func (bitbucket) comments(ctx context.Context, r *read, u *url.URL, d *discussion) error {
	next := below(u, "", fmt.Sprintf("pagelen=%d", commentsPage))
	size, deleted := 0, 0
	for seen := 0; next != nil && seen < maxComments; {
		var some bucketComments
		if _, err := r.api(ctx, next, "", &some); err != nil {
			return err
		}
		size, seen = some.Size, seen+len(some.Values)
		for _, v := range some.Values {
			c := comment{v.User.user(), v.Content.Raw, v.CreatedAt, v.Inline.Path, v.Inline.To}
			switch {
			case v.Deleted || c.Body == "":
				deleted++
			case c.Path != "":
				d.reviews = append(d.reviews, c)
			default:
				d.comments = append(d.comments, c)
			}
		}
		next = nil
		if to, err := page.Parse(some.Next); err == nil && len(some.Values) > 0 && origin(to) == origin(u) {
			next = to
		}
	}
	// The size counts deleted comments, too, which are not shown.
	d.Comments = max(len(d.comments), size-deleted-len(d.reviews))
	if d.pull != nil {
		d.pull.Reviews = len(d.reviews)
	}
	return nil
}
