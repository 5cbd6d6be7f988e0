package github

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/readthru/readthru/page"
)

// apiVersion is the version of GitHub's REST API that this package was written for (X-GitHub-Api-Version); maxAnswer
// bounds an answer of any forge's API.
const (
	apiVersion = "2022-11-28"
	maxAnswer  = 16 << 20 // bytes
)

// api requests u of the host's API with the host's credential, decodes the answer into v and returns its fields. With
// the entity tag of an earlier answer, the error is errUnchanged when that answer is current.
func (r *read) api(ctx context.Context, u *url.URL, tag string, v any) (http.Header, error) {
	return r.apiAs(ctx, r.t.wallet.open(ctx), u, tag, v)
}

// apiShown is api that tells whether the credential was needed. The API of github.com answers few requests without one,
// so that it is asked with it at once, and private stays false: there the field private of the repository tells.
func (r *read) apiShown(ctx context.Context, u *url.URL, tag string,
	v any,
) (fields http.Header, private bool, err error) {
	if r.t.host.name == "github.com" {
		fields, err = r.api(ctx, u, tag, v)
		return fields, false, err
	}
	private, err = r.shown(ctx, r.t, func(c *credential) error {
		fields, err = r.apiAs(ctx, c, u, tag, v)
		return err
	})
	return fields, private, err
}

// apiAs requests u of a forge's API with a credential, which may be nil. It follows no redirect to another host, which
// would get neither the credential nor our belief.
func (r *read) apiAs(ctx context.Context, c *credential, u *url.URL, tag string, v any) (http.Header, error) {
	fields := http.Header{"Accept": {"application/json"}}
	if r.t.kind == page.GitHub {
		fields = http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {apiVersion}}
	}
	r.t.authorise(fields, c)
	if tag != "" {
		fields.Set("If-None-Match", tag)
	}
	resp, from, err := r.getAlone(ctx, u, fields)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		if resp.StatusCode == http.StatusNotModified && tag != "" {
			return resp.Header, errUnchanged
		}
		return nil, statusError(resp, from)
	}
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	if err == nil && len(text) > maxAnswer {
		err = fmt.Errorf("it is larger than %d MiB", maxAnswer>>20)
	}
	if err == nil {
		err = json.Unmarshal(text, v)
	}
	if err != nil {
		return nil, fmt.Errorf("read the answer of %s: %w", from.Hostname(), err)
	}
	return resp.Header, nil
}

// project is what a forge's API says of a repository.
type project struct {
	FullName    string
	Description string
	Branch      string // the default one
	Private     bool   // not everybody may read it
	License     string

	asked time.Time
}

// projectAnswer is the API's answer about a repository of any forge: their fields do not collide.
type projectAnswer struct {
	Description string `json:"description"`

	FullName   string `json:"full_name"`           // GitHub, Gitea, Bitbucket
	GitLabName string `json:"path_with_namespace"` // GitLab

	Branch     string `json:"default_branch"` // GitHub, Gitea, GitLab
	MainBranch struct {
		Name string `json:"name"`
	} `json:"mainbranch"` // Bitbucket

	Private    bool   `json:"private"`    // GitHub, Gitea
	Internal   bool   `json:"internal"`   // Gitea: for those who have signed in
	Visibility string `json:"visibility"` // GitLab, to those who have signed in; GitHub
	IsPrivate  bool   `json:"is_private"` // Bitbucket

	License struct {
		SPDX string `json:"spdx_id"` // GitHub
		Name string `json:"name"`    // GitLab
	} `json:"license"`
	Licenses []string `json:"licenses"` // Gitea
}

// project returns what the answer of any forge says of the repository. A visibility that is not known counts as
// private: that keeps a page from others.
func (a *projectAnswer) project() project {
	p := project{
		FullName: cmp.Or(a.FullName, a.GitLabName), Description: strings.Join(strings.Fields(a.Description), " "),
		Branch:  cmp.Or(a.Branch, a.MainBranch.Name),
		License: cmp.Or(a.License.SPDX, a.License.Name, strings.Join(a.Licenses, ", ")),
		Private: a.Private || a.Internal || a.IsPrivate || a.Visibility != "" && a.Visibility != "public",
		asked:   time.Now(),
	}
	return p
}

// projectLifetime is how long a project is used before it is requested again.
const projectLifetime = 10 * time.Minute

// project returns what the API says of the target's repository; the zero value without an answer, with which the page
// is made all the same. It is kept for projectLifetime. GitHub's API is asked with a token only: without one it answers
// a few times an hour.
func (r *read) project(ctx context.Context) project {
	if r.t.kind == page.GitHub && r.t.wallet.open(ctx) == nil {
		return project{}
	}
	u := r.t.forge().repository(r.t)
	key := u.String()
	if known, ok := r.projects.Get(key); ok && known.FullName != "" && time.Since(known.asked) < projectLifetime {
		return known
	}
	if r.t.kind == page.GitLab {
		u = below(u, "", "license=true")
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	begun := time.Now()
	var a projectAnswer
	_, private, err := r.apiShown(ctx, u, "", &a)
	if err != nil {
		r.tried("api", begun, err)
		return project{Private: r.private(r.t)}
	}
	p := a.project()
	p.FullName = cmp.Or(p.FullName, r.t.name())
	p.Private = p.Private || private
	r.projects.Add(key, p)
	return p
}
