package github

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"time"
)

// gitea is the forge Gitea, and Forgejo, which was made of it.
type gitea struct{}

// repository implements forge for Gitea: the API's address of a repository.
func (gitea) repository(t *Target) *url.URL { return below(t.api, "repos/"+t.place(), "") }

// archive implements forge for Gitea: it names the default branch by its name where that is known, else as HEAD.
func (gitea) archive(t *Target, ref, main string) *url.URL {
	ref = cmp.Or(ref, main, "HEAD")
	return below(t.base, t.place()+"/archive/"+escape(ref)+".tar.gz", "")
}

// raw also takes what the page of a file has before its path: branch, tag or commit, and its name. The name of a branch
// alone is read too, though Gitea would rather not.
func (gitea) raw(t *Target, refAndFile string) *url.URL {
	return below(t.base, t.place()+"/raw/"+refAndFile, "")
}

// blob implements forge for Gitea.
func (gitea) blob(t *Target, ref, file string) *url.URL {
	return below(t.base, path.Join(t.place(), "src", ref)+"/"+file, "")
}

// gitUser implements forge for Gitea.
func (gitea) gitUser() string { return "oauth2" }

// discussion reads an issue or a pull request of Gitea, whose API is made after GitHub's; only reviews differ.
func (g gitea) discussion(ctx context.Context, r *read) (*discussion, http.Header, error) {
	repo, n := g.repository(r.t), r.number()
	d, head, err := r.opening(ctx, repo)
	if err != nil {
		return nil, nil, err
	}
	if d.pull != nil {
		if d.reviews, err = g.reviews(ctx, r, repo.JoinPath("pulls", n, "reviews")); err != nil {
			return nil, nil, err
		}
		d.pull.Reviews = max(d.pull.Reviews, len(d.reviews))
	}
	if d.Comments > 0 { // all of them come at once
		if _, err := r.api(ctx, repo.JoinPath("issues", n, "comments"), "", &d.comments); err != nil {
			return nil, nil, err
		}
		d.comments = d.comments[:min(len(d.comments), maxComments)]
	}
	return d, head, nil
}

// maxReviews bounds how many reviews of a pull request are asked for their comments, which takes a request each.
const maxReviews = 20

// reviews reads the reviews of a pull request of Gitea, and their comments on lines.
func (gitea) reviews(ctx context.Context, r *read, at *url.URL) (list []comment, err error) {
	var reviews []struct {
		ID        int       `json:"id"`
		User      user      `json:"user"`
		Body      string    `json:"body"`
		Submitted time.Time `json:"submitted_at"`
		Comments  int       `json:"comments_count"`
	}
	if _, err := r.api(ctx, at, "", &reviews); err != nil {
		return nil, err
	}
	for i, review := range reviews {
		if review.Body != "" {
			list = append(list, comment{User: review.User, Body: review.Body, CreatedAt: review.Submitted})
		}
		if review.Comments == 0 || i >= maxReviews {
			continue
		}
		var some []struct {
			User      user      `json:"user"`
			Body      string    `json:"body"`
			CreatedAt time.Time `json:"created_at"`
			Path      string    `json:"path"`
			Line      int       `json:"position"`
		}
		if _, err := r.api(ctx, at.JoinPath(fmt.Sprint(review.ID), "comments"), "", &some); err != nil {
			return nil, err
		}
		for _, c := range some {
			list = append(list, comment{c.User, c.Body, c.CreatedAt, c.Path, c.Line})
		}
	}
	return list, nil
}
