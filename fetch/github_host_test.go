package fetch_test

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
)

// githubHost is a host like GitHub: pages and clones, archives, contents of files and the REST API, each under its own
// name, of real repositories made by git.
type githubHost struct {
	t    testing.TB
	root string // of the bare repositories, owner/name.git

	noArchives bool
	noClones   bool
	archive    http.HandlerFunc // in place of the archives
	renamed    map[string]string
	api        map[string]any // answers by path and query
	apiStatus  int            // of all answers of the API; 0: 200, or 404
	tokens     map[string]string
	private    map[string]bool
}

func newGitHubHost(tb testing.TB) *githubHost {
	tb.Helper()
	if _, err := exec.LookPath("git"); err != nil {
		if os.Getenv("CI") != "" {
			tb.Fatal("git is not installed")
		}
		tb.Skip("git is not installed: .ci/clients installs it")
	}
	return &githubHost{
		t: tb, root: tb.TempDir(), api: map[string]any{}, renamed: map[string]string{},
		tokens: map[string]string{}, private: map[string]bool{},
	}
}

// git runs git in a directory.
func git(tb testing.TB, dir string, args ...string) string {
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

// add makes a repository of files, or gives one its next commit. What begins with "-> " is a link. It returns the
// commit's name.
func (h *githubHost) add(name string, files map[string]string) string {
	h.t.Helper()
	work := h.t.TempDir()
	bare := filepath.Join(h.root, name+".git")
	if err := os.MkdirAll(filepath.Dir(bare), 0o755); err != nil {
		h.t.Fatal(err)
	}
	git(h.t, work, "init", "-q", "-b", "main")
	if files == nil {
		git(h.t, work, "init", "-q", "--bare", "-b", "main", bare)
		return ""
	}
	for path, content := range files {
		at := filepath.Join(work, path)
		if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
			h.t.Fatal(err)
		}
		var err error
		if to, ok := strings.CutPrefix(content, "-> "); ok {
			err = os.Symlink(to, at)
		} else {
			err = os.WriteFile(at, []byte(content), 0o644)
		}
		if err != nil {
			h.t.Fatal(err)
		}
	}
	git(h.t, work, "add", "-A", "-f")
	git(h.t, work, "commit", "-q", "-m", "files")
	if err := os.RemoveAll(bare); err != nil {
		h.t.Fatal(err)
	}
	git(h.t, work, "clone", "-q", "--bare", work, bare)
	return git(h.t, work, "rev-parse", "HEAD")
}

func (h *githubHost) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := strings.Cut(r.Host, ":")
	path := strings.TrimPrefix(r.URL.Path, "/")
	parts := strings.SplitN(path, "/", 3)
	name := ""
	if len(parts) >= 2 {
		name = parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
	}
	_, err := os.Stat(filepath.Join(h.root, name+".git"))
	there := name != "" && err == nil && !h.private[name]
	switch {
	case host == "api.github.com":
		h.serveAPI(w, r)
	case host == "codeload.github.com" && h.archive != nil:
		h.archive(w, r)
	case host == "codeload.github.com":
		if h.noArchives || !there || len(parts) < 3 || parts[2] != "tar.gz/HEAD" {
			http.Error(w, "404: Not Found", http.StatusNotFound)
			return
		}
		h.serveArchive(w, r, name)
	case host == "raw.githubusercontent.com" && there && len(parts) == 3:
		h.serveRaw(r.Context(), w, name, parts[2])
	case host == "github.com" && h.renamed[name] != "":
		http.Redirect(w, r, "/"+strings.Replace(path, name, h.renamed[name], 1)+"?"+r.URL.RawQuery,
			http.StatusMovedPermanently)
	case host == "github.com" && len(parts) == 3 && strings.HasSuffix(parts[1], ".git"):
		if h.noClones || !there {
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Authentication required", http.StatusUnauthorized)
			return
		}
		h.serveGit(w, r)
	case host == "github.com" && there:
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		io.WriteString(w, article("The page of "+name))
	default:
		http.Error(w, "Not Found", http.StatusNotFound)
	}
}

// serveArchive serves what git makes of the default branch, as codeload does: with an entity tag, private to the one
// who asks.
func (h *githubHost) serveArchive(w http.ResponseWriter, r *http.Request, name string) {
	cmd := exec.CommandContext(r.Context(), "git", "--git-dir="+filepath.Join(h.root, name+".git"), "archive",
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

// serveRaw serves a file, at a branch whose name may have slashes.
func (h *githubHost) serveRaw(ctx context.Context, w http.ResponseWriter, name, rest string) {
	rest = strings.TrimPrefix(rest, "refs/heads/")
	for i := range len(rest) {
		if rest[i] != '/' {
			continue
		}
		out, err := exec.CommandContext(ctx, "git", "--git-dir="+filepath.Join(h.root, name+".git"), "show",
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

// serveGit serves clones by git's own program.
func (h *githubHost) serveGit(w http.ResponseWriter, r *http.Request) {
	path, err := exec.CommandContext(r.Context(), "git", "--exec-path").Output()
	if err != nil {
		h.t.Error(err)
		return
	}
	backend := &cgi.Handler{
		Path: filepath.Join(strings.TrimSpace(string(path)), "git-http-backend"),
		Env: []string{
			"GIT_PROJECT_ROOT=" + h.root, "GIT_HTTP_EXPORT_ALL=1", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_COUNT=1",
			"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		},
	}
	backend.ServeHTTP(w, r)
}

func (h *githubHost) serveAPI(w http.ResponseWriter, r *http.Request) {
	h.tokens[r.Host] = r.Header.Get("Authorization")
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	v, ok := h.api[r.URL.RequestURI()]
	status := h.apiStatus
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
		h.t.Error(err)
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
