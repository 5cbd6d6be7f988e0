package github

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

const (
	apiVersion = "2022-11-28"
	maxAnswer  = 16 << 20 // bytes
)

// api requests u of the REST API, decodes the answer into v and returns its fields. With the entity tag of an earlier
// answer, the error is errUnchanged when that answer is current. The token goes to the API's host and nowhere else.
func (r *read) api(ctx context.Context, u *url.URL, tag string, v any) (http.Header, error) {
	fields := http.Header{"Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {apiVersion}}
	if r.t.token != "" {
		fields.Set("Authorization", "Bearer "+r.t.token)
	}
	if tag != "" {
		fields.Set("If-None-Match", tag)
	}
	resp, from, err := r.get(ctx, u, fields)
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

// project is what the API says of a repository.
type project struct {
	FullName    string `json:"full_name"`
	Description string `json:"description"`
	Branch      string `json:"default_branch"`
	Private     bool   `json:"private"`
	License     struct {
		Name string `json:"spdx_id"`
	} `json:"license"`

	asked time.Time
}

// projectLifetime is how long a project is used before it is requested again.
const projectLifetime = 10 * time.Minute

// project returns what the API says of the target's repository; the zero value without a token or an answer.
func (r *read) project(ctx context.Context) (p project) {
	if r.t.token == "" {
		return p
	}
	key := r.t.api.JoinPath("repos", r.t.Owner, r.t.Repo).String()
	if known, ok := r.projects.Get(key); ok && time.Since(known.asked) < projectLifetime {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	begun := time.Now()
	_, err := r.api(ctx, mustParse(key), "", &p)
	if err != nil {
		r.tried("github-api", begun, err)
		return project{}
	}
	p.Description, p.asked = strings.Join(strings.Fields(p.Description), " "), time.Now()
	r.projects.Add(key, p)
	return p
}
