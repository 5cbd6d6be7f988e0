package github_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/fetch/github"
	"github.com/readthru/readthru/fetch/github/githubtest"
	"github.com/readthru/readthru/internal/fault/faulttest"
	"github.com/readthru/readthru/page"
)

// setup is a reader of a host that has a certificate for every name.
type setup struct {
	*github.Reader
	attempts []page.Attempt // of the last call of read
}

func newSetup(t *testing.T, h http.Handler, o github.Options) *setup {
	t.Helper()
	ca, err := certs.Open(certs.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(h)
	server.TLS = &tls.Config{
		GetCertificate: func(hello *tls.ClientHelloInfo) (*tls.Certificate, error) { return ca.Leaf(hello.ServerName) },
	}
	server.StartTLS()
	t.Cleanup(server.Close)
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca.PEM())
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, network, server.Listener.Addr().String())
	}
	transport := &http.Transport{DialContext: dial, TLSClientConfig: &tls.Config{RootCAs: roots}}
	t.Cleanup(transport.CloseIdleConnections)
	o.CAFile, o.Dir = ca.CertFile(), filepath.Join(t.TempDir(), "git")
	o.Get = func(ctx context.Context, u *url.URL, fields http.Header,
		follow github.Follow,
	) (*http.Response, *url.URL, error) {
		c := http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
			return follow(via[len(via)-1].URL, req.URL)
		}}
		req := (&http.Request{Method: http.MethodGet, URL: u, Header: fields}).WithContext(ctx)
		resp, err := c.Do(req)
		if err != nil {
			return nil, nil, err
		}
		return resp, resp.Request.URL, nil
	}
	o.Dial = func(ctx context.Context, _ *url.URL, network, addr string) (net.Conn, error) {
		return dial(ctx, network, addr)
	}
	return &setup{Reader: github.New(o)}
}

// read reads what a URL names.
func (s *setup) read(t *testing.T, raw, validator string) (*github.Page, error) {
	t.Helper()
	u, err := url.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	target := s.Target(u)
	if target == nil {
		t.Fatalf("%s is not a target", raw)
	}
	p, attempts, err := s.Read(t.Context(), target, validator, func(*url.URL) error { return nil })
	s.attempts = attempts
	return p, err
}

func contains(t *testing.T, what, text string, wants ...string) {
	t.Helper()
	for _, want := range wants {
		if !strings.Contains(text, want) {
			t.Errorf("%s lacks %q:\n%.600s", what, want, text)
		}
	}
}

func TestReadmeIsChosenInOrder(t *testing.T) {
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  string
	}{
		{"B11 md first", map[string]string{
			"README": "plain", "README.rst": "rst", "README.txt": "txt",
			"ReadMe.MD": "# markdown", "docs/README.md": "deeper",
		}, "# markdown"},
		{
			"B11 then rst",
			map[string]string{"README": "plain", "readme.rst": "Title\n=====", "README.txt": "txt"},
			"```rst\nTitle\n=====",
		},
		{"B11 then txt", map[string]string{"README": "plain", "README.txt": "text <b>"}, "```text\ntext <b>"},
		{
			"B11 then plain",
			map[string]string{"README": "plain ``` fence", "docs/README.md": "deeper"},
			"````text\nplain ``` fence\n````",
		},
		{"a link within the repository", map[string]string{
			"README.md":     "-> docs/index.md",
			"docs/index.md": "# Linked\n\n[x](y.md)",
		}, "[x](https://github.com/ann/sea/blob/HEAD/docs/y.md)"},
		{"a link that leads out", map[string]string{"README.md": "-> ../../etc/passwd", "README": "plain"}, "```text\nplain"},
		{"none", map[string]string{"docs/README.md": "deeper"}, "# ann/sea\n\nThe repository has no README."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := githubtest.New(t)
			h.Add("ann/sea", tt.files)
			p, err := newSetup(t, h, github.Options{}).read(t, "https://github.com/ann/sea", "")
			if err != nil {
				t.Fatal(err)
			}
			contains(t, "the page", string(p.Markdown), tt.want)
			if readme := p.Markdown[p.Readme.From:p.Readme.To]; tt.name == "none" && len(readme) > 0 {
				t.Errorf("readme = %q, want none", readme)
			}
		})
	}
}

func TestRepositoriesWithoutArchiveOrFiles(t *testing.T) {
	sea := map[string]string{"README.md": "# Sea\n"}
	for _, tt := range []struct {
		name    string
		setup   func(*githubtest.Host)
		git     string
		want    string // in the page
		err     error  // that Read's error wraps; nil: any, if want is empty
		warning string
	}{
		{
			name: "private, or not there", git: "git", setup: func(h *githubtest.Host) { h.Private["ann/sea"] = true },
			err: github.ErrGone,
		},
		{
			name: "empty", git: "git", setup: func(h *githubtest.Host) { h.Add("ann/sea", nil) },
			want: "The repository has no README.", warning: "repository-empty",
		},
		{
			name: "renamed", setup: func(h *githubtest.Host) { h.Add("ann/ocean", sea); h.Renamed["ann/sea"] = "ann/ocean" },
			git: "git", want: "# Sea\n",
		},
		{
			name: "neither archive nor clone", git: "git",
			setup: func(h *githubtest.Host) {
				h.Add("ann/sea", sea)
				h.NoArchives, h.NoClones = true, true
			},
		},
		{
			name: "no archive, and git is off",
			setup: func(h *githubtest.Host) {
				h.Add("ann/sea", sea)
				h.NoArchives = true
			},
		},
		{
			name: "no archive, and git is not installed", git: "no-such-git-anywhere",
			setup: func(h *githubtest.Host) {
				h.Add("ann/sea", sea)
				h.NoArchives = true
			},
		},
		{
			name: "not an archive: a clone", git: "git",
			setup: func(h *githubtest.Host) {
				h.Add("ann/sea", sea)
				h.Archive = func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>not an archive") }
			},
			want: "# Sea\n",
		},
		{
			name: "hooks, filters and submodules", git: "git",
			setup: func(h *githubtest.Host) {
				h.NoArchives = true
				h.Add("ann/sea", map[string]string{
					"README.md": "# Sea\n", ".gitmodules": "[submodule \"x\"]\n\tpath = x\n\turl = file:///etc\n",
					".gitattributes": "*.txt filter=lfs\n", "a.txt": "version https://git-lfs.github.com/spec/v1\n",
				})
				hook := filepath.Join(h.Root, "ann/sea.git/hooks/post-checkout")
				if err := os.WriteFile(hook, []byte("#!/bin/sh\ntouch /tmp/readthru-hooked\n"), 0o755); err != nil {
					t.Fatal(err)
				}
			},
			want: "a.txt\n", warning: "submodules",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := githubtest.New(t)
			tt.setup(h)
			p, err := newSetup(t, h, github.Options{Git: tt.git}).read(t, "https://github.com/ann/sea", "")
			if tt.want == "" {
				if err == nil || tt.err != nil && !errors.Is(err, tt.err) {
					t.Errorf("error %v, want %v", err, tt.err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			contains(t, "the page", string(p.Markdown), tt.want)
			contains(t, "warnings", fmt.Sprint(p.Warnings), tt.warning)
		})
	}
}

// A repository whose archive panics cannot be read; asked again it is.
func TestACloneWhoseArchivePanicsIsMadeAgain(t *testing.T) {
	h := githubtest.New(t)
	h.NoArchives = true
	h.Add("ann/sea", map[string]string{"README.md": "# Sea\n"})
	s := newSetup(t, h, github.Options{Git: "git"})
	faulttest.Once(t, "github: archive a clone")
	if p, err := s.read(t, "https://github.com/ann/sea", ""); err == nil {
		t.Errorf("while it panics: %s", p.Markdown)
	}
	p, err := s.read(t, "https://github.com/ann/sea", "")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the page", string(p.Markdown), "# Sea")
}

func TestIssuesAndPullRequestsAreReadByTheAPI(t *testing.T) {
	h := githubtest.New(t)
	h.API = githubtest.Discussions()
	s := newSetup(t, h, github.Options{Token: "ghp_secret"})
	read := func(raw, validator string) *github.Page {
		t.Helper()
		p, err := s.read(t, raw, validator)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	issue := read("https://github.com/ann/sea/issues/7#issuecomment-1", "")
	contains(t, "the issue", string(issue.Markdown),
		"# It &lt;b> leaks badly\n", "- State: closed (not planned)\n", "- Labels: bug, good first issue\n",
		"- Author: ann\n", "- Opened: 2024-01-01\n", "- Closed: 2024-03-01\n", "- Milestone: v1\n",
		"See [log](../a.log) and\n", "## Comments\n", "### bob, 2024-02-01\n", "open fence\n```\n",
	)
	if text := string(issue.Markdown); strings.Contains(text, "obey me") || strings.Contains(text, "ghp_") {
		t.Errorf("the issue holds a comment or the token:\n%s", text)
	}
	if p := issue; p.Meta["state"] != "closed (not planned)" || p.Meta["author"] != "ann" || p.Private ||
		p.Title != "It <b> leaks badly · ann/sea#7" {
		t.Errorf("page %+v", p)
	}
	contains(t, "warnings", fmt.Sprint(issue.Warnings), "hidden-text-removed=1")
	pull := read("https://github.com/ann/sea/pull/8/files", "")
	contains(t, "the pull request", string(pull.Markdown), "# Mend it\n", "- State: merged\n",
		"- Branches: bob:fix into main\n", "- Changes: 2 commits, 1 file, +10 −3\n", "## Review comments\n",
		"### ann, 2024-01-01, on sea.go:12\n", "Why?")
	long := read("https://github.com/ann/sea/issues/9", "")
	contains(t, "the long issue", string(long.Markdown), "500 more are not shown.")
	contains(t, "warnings", fmt.Sprint(long.Warnings), "comments-cut=500")
	if got := h.Tokens["api.github.com"]; got != "Bearer ghp_secret" {
		t.Errorf("Authorization = %q", got)
	}
	if same := read("https://github.com/ann/sea/issues/7", issue.Validator); !same.Unchanged {
		t.Errorf("an issue that is unchanged came as %+v", same)
	}
}

func TestGistIsAllOfItsFiles(t *testing.T) {
	h := githubtest.New(t)
	const id = "0123456789abcdef0123456789abcdef"
	h.API["/gists/"+id] = map[string]any{
		"description": "Two files", "public": true, "owner": map[string]any{"login": "ann"},
		"created_at": "2024-01-01T00:00:00Z",
		"files": map[string]any{
			"b.py": map[string]any{"filename": "b.py", "content": "pass\n", "size": 5},
			"a.md": map[string]any{"filename": "a.md", "content": "# Hi\n", "size": 900, "truncated": true},
		},
	}
	p, err := newSetup(t, h, github.Options{}).read(t, "https://gist.github.com/ann/"+id, "")
	if err != nil {
		t.Fatal(err)
	}
	contains(t, "the gist", string(p.Markdown),
		"# Two files\n\n## a.md\n\n# Hi\n\na.md is cut: it has 900 bytes.\n\n## b.py\n\n```python\npass\n```\n")
	if p.Title != "Two files" || p.Private || h.Tokens["api.github.com"] != "" {
		t.Errorf("page %+v, token %q", p, h.Tokens["api.github.com"])
	}
	contains(t, "warnings", fmt.Sprint(p.Warnings), "gist-cut")
}
