// Package githubtest provides servers that behave like GitHub and other forges, for tests.
package githubtest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	"net/http"
	"net/http/cgi"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
)

// Host serves what GitHub serves, or what another forge does (GitLab, Gitea, Bitbucket), each under its own host name:
// pages, clones, archives, contents of files and the REST API. Its repositories are made by git.
type Host struct {
	Root string // holds the bare repositories, owner/name.git

	NoArchives bool
	NoClones   bool
	Archive    http.HandlerFunc  // if not nil, serves all archives
	Renamed    map[string]string // new names of repositories
	API        map[string]any    // answers by path and query
	APIStatus  int               // of all answers of the API; 0: 200, or 404
	Tokens     map[string]string // the last Authorization field that a host got
	Private    map[string]bool   // repositories that the host shows to those with Token only
	Token      string            // empty: nobody has it

	tb testing.TB
}

// New returns a host without repositories. It skips the test where git is not installed, and fails it in CI.
func New(tb testing.TB) *Host {
	tb.Helper()
	needs.Program(tb, "git")
	return &Host{
		tb: tb, Root: tb.TempDir(), API: map[string]any{}, Renamed: map[string]string{},
		Tokens: map[string]string{}, Private: map[string]bool{},
	}
}

// Git runs git in dir, without the user's configuration, and returns its output.
func Git(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), "git", args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull, "GIT_AUTHOR_NAME=a",
		"GIT_AUTHOR_EMAIL=a@a.test",
		"GIT_COMMITTER_NAME=a", "GIT_COMMITTER_EMAIL=a@a.test", "GIT_AUTHOR_DATE=2024-01-01T00:00:00Z",
		"GIT_COMMITTER_DATE=2024-01-01T00:00:00Z")
	out, err := cmd.CombinedOutput()
	if err != nil {
		tb.Fatalf("git %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(string(out))
}

// Add makes a repository of files by path, in place of one of the same name, and returns the id of its commit. Content
// that begins with "-> " makes a symbolic link. Without files the repository has no commit. Names and dates are fixed,
// so that the same files give the same commit.
func (h *Host) Add(name string, files map[string]string) string {
	h.tb.Helper()
	work := h.tb.TempDir()
	bare := filepath.Join(h.Root, name+".git")
	if err := os.MkdirAll(filepath.Dir(bare), 0o755); err != nil {
		h.tb.Fatal(err)
	}
	Git(h.tb, work, "init", "-q", "-b", "main")
	if files == nil {
		Git(h.tb, work, "init", "-q", "--bare", "-b", "main", bare)
		return ""
	}
	for path, content := range files {
		at := filepath.Join(work, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			h.tb.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			h.tb.Fatal(err)
		}
	}
	Git(h.tb, work, "add", "-A", "-f")
	Git(h.tb, work, "commit", "-q", "-m", "files")
	if err := os.RemoveAll(bare); err != nil {
		h.tb.Fatal(err)
	}
	Git(h.tb, work, "clone", "-q", "--bare", work, bare)
	return Git(h.tb, work, "rev-parse", "HEAD")
}

// has reports whether there is a repository, shown or not.
func (h *Host) has(name string) bool {
	_, err := os.Stat(filepath.Join(h.Root, name+".git"))
	return name != "" && err == nil
}

// ServeHTTP serves all hosts of github.com, told apart by the Host field, as GitHub does.
func (h *Host) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	path := strings.TrimPrefix(r.URL.Path, "/")
	parts := strings.SplitN(path, "/", 3)
	name := ""
	if len(parts) >= 2 {
		name = parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
	}
	there := h.shows(r, name)
	switch {
	case host == "api.github.com":
		h.ServeAPI(w, r)
	case host == "codeload.github.com" && h.Archive != nil:
		h.Archive(w, r)
	case host == "codeload.github.com":
		ref := ""
		if len(parts) == 3 {
			ref = strings.TrimPrefix(parts[2], "tar.gz/")
		}
		switch {
		case h.NoArchives || !there || ref == "" || ref == parts[2]:
			http.Error(w, "404: Not Found", http.StatusNotFound)
		case ref == "HEAD":
			h.ServeArchive(w, r, name)
		default:
			h.serveRef(w, r, name, ref)
		}
	case host == "raw.githubusercontent.com" && there && len(parts) == 3:
		h.ServeRaw(r.Context(), w, name, parts[2])
	case host == "github.com" && h.Renamed[name] != "":
		http.Redirect(w, r, "/"+strings.Replace(path, name, h.Renamed[name], 1)+"?"+r.URL.RawQuery,
			http.StatusMovedPermanently)
	case host == "github.com" && len(parts) == 3 && strings.HasSuffix(parts[1], ".git"):
		h.git(w, r, name)
	case host == "github.com" && there:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, "<!doctype html><title>"+name+"</title><main><h1>"+name+"</h1>"+
			strings.Repeat("<p>The harbour wakes before the town does, and the boats come home past the light.</p>", 12))
	default:
		http.Error(w, "Not Found", http.StatusNotFound)
	}
}

// ServeArchive serves the archive of a repository's default branch with the fields that codeload.github.com sends.
func (h *Host) ServeArchive(w http.ResponseWriter, r *http.Request, name string) {
	cmd := exec.CommandContext(r.Context(), "git", "--git-dir="+filepath.Join(h.Root, name+".git"), "archive",
		"--format=tar.gz", "--prefix="+filepath.Base(name)+"-main/", "HEAD")
	out, err := cmd.Output()
	if err != nil {
		http.Error(w, "404: Not Found", http.StatusNotFound)
		return
	}
	sum := sha256.Sum256(out)
	tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	w.Header().Set("Etag", tag)
	w.Header().Set("Cache-Control", "max-age=0, private, must-revalidate")
	w.Header().Set("Vary", "Authorization,Accept-Encoding")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/x-gzip")
	_, _ = w.Write(out)
}

// ServeRaw serves the file at a branch and path, found by trial as GitHub does; the branch may have slashes.
func (h *Host) ServeRaw(ctx context.Context, w http.ResponseWriter, name, rest string) {
	rest = strings.TrimPrefix(rest, "refs/heads/")
	for i := range len(rest) {
		if rest[i] != '/' {
			continue
		}
		out, err := exec.CommandContext(ctx, "git", "--git-dir="+filepath.Join(h.Root, name+".git"), "show",
			rest[:i]+":"+rest[i+1:]).Output()
		if err != nil {
			continue
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		if bytes.IndexByte(out, 0) >= 0 {
			w.Header().Set("Content-Type", "application/octet-stream")
		}
		w.Header().Set("Cache-Control", "max-age=300")
		_, _ = w.Write(out)
		return
	}
	http.Error(w, "404: Not Found", http.StatusNotFound)
}

// serveGit serves clones by git http-backend, the program that comes with git.
func (h *Host) serveGit(w http.ResponseWriter, r *http.Request) {
	path, err := exec.CommandContext(r.Context(), "git", "--exec-path").Output()
	if err != nil {
		h.tb.Error(err)
		return
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + h.Root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	backend.ServeHTTP(w, r)
}

// ServeAPI serves API as api.github.com does, with an entity tag of the answer. It keeps in Tokens the credential of
// the last request.
func (h *Host) ServeAPI(w http.ResponseWriter, r *http.Request) {
	h.Tokens[r.Host] = r.Header.Get("Authorization")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	v, ok := h.API[r.URL.RequestURI()]
	status := h.APIStatus
	if status == 0 && !ok {
		status = http.StatusNotFound
	}
	if status != 0 {
		w.WriteHeader(status)
		io.WriteString(w, `{"message":"Not Found","documentation_url":"https://docs.github.com/rest"}`)
		return
	}
	text, err := json.Marshal(v)
	if err != nil {
		h.tb.Error(err)
	}
	sum := sha256.Sum256(text)
	tag := `W/"` + hex.EncodeToString(sum[:]) + `"`
	w.Header().Set("Etag", tag)
	w.Header().Set("Cache-Control", "private, max-age=60, s-maxage=60")
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	_, _ = w.Write(text)
}
