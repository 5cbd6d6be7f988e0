package githubtest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// authorised reports whether a request to the test's host carries the host's token, in any of the schemes that forges
// take.
func (h *Host) authorised(r *http.Request) bool {
	if h.Token == "" {
		return false
	}
	if _, password, ok := r.BasicAuth(); ok {
		return password == h.Token
	}
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	return token == h.Token && (scheme == "Bearer" || scheme == "token")
}

// shows reports whether the test's host has a repository and shows it to who asks.
func (h *Host) shows(r *http.Request, name string) bool {
	return h.has(name) && (!h.Private[name] || h.authorised(r))
}

// answer serves the answer of API for a path and query, as JSON, or 404 as GitLab words it.
func (h *Host) answer(w http.ResponseWriter, key string) {
	v, ok := h.API[key]
	if !ok {
		notFound(w, `{"message":"404 Not Found"}`)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(v); err != nil {
		h.tb.Error(err)
	}
}

// notFound answers 404 with the text of a forge.
func notFound(w http.ResponseWriter, text string) {
	w.WriteHeader(http.StatusNotFound)
	io.WriteString(w, text)
}

// GitLab serves repositories as GitLab does, with groups, on one host name: git, the API below /api/v4, whose answers
// are in API by what follows that, and raw files. It sends who has not signed in to its form.
func (h *Host) GitLab() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := strings.Trim(r.URL.EscapedPath(), "/")
		if rest, ok := strings.CutPrefix(path, "api/v4/projects/"); ok {
			id, what, _ := strings.Cut(rest, "/")
			name, _ := url.PathUnescape(id)
			switch {
			case !h.shows(r, name):
				notFound(w, `{"message":"404 Project Not Found"}`)
			case what == "repository/archive.tar.gz":
				h.serveRef(w, r, name, r.URL.Query().Get("sha"))
			case strings.HasSuffix(what, "/notes") && !h.authorised(r):
				w.WriteHeader(http.StatusUnauthorized)
				io.WriteString(w, `{"message":"401 Unauthorized"}`)
			default:
				h.answer(w, strings.TrimPrefix(r.URL.RequestURI(), "/api/v4"))
			}
			return
		}
		if name, _, ok := strings.Cut(path, ".git/"); ok {
			h.git(w, r, name)
			return
		}
		name, rest, ok := strings.Cut(path, "/-/raw/")
		switch {
		case r.URL.Path == "/users/sign_in":
			io.WriteString(w, "<!doctype html><title>Sign in</title><input type=password>")
		case !h.shows(r, name):
			http.Redirect(w, r, "/users/sign_in", http.StatusFound)
		case ok:
			h.ServeRaw(r.Context(), w, name, rest)
		default:
			io.WriteString(w, "<!doctype html><title>"+name+"</title>")
		}
	})
}

// Gitea serves repositories as Gitea and Forgejo do on one host name, with the API below /api/v1.
func (h *Host) Gitea() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, api := strings.CutPrefix(strings.Trim(r.URL.Path, "/"), "api/v1/repos/")
		parts := strings.SplitN(path, "/", 4)
		for len(parts) < 4 {
			parts = append(parts, "")
		}
		name := parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
		switch ref, archive := strings.CutSuffix(strings.Join(parts[3:], "/"), ".tar.gz"); {
		case strings.HasSuffix(parts[1], ".git"):
			h.git(w, r, name)
		case !h.shows(r, name):
			http.NotFound(w, r)
		case api:
			h.answer(w, strings.TrimPrefix(r.URL.RequestURI(), "/api/v1"))
		case parts[2] == "archive" && archive:
			h.serveRef(w, r, name, ref)
		case parts[2] == "raw":
			_, rest, _ := strings.Cut(parts[3], "/") // branch, tag or commit
			h.ServeRaw(r.Context(), w, name, rest)
		default:
			io.WriteString(w, "<!doctype html><title>"+name+"</title>")
		}
	})
}

// Bitbucket serves repositories as Bitbucket Cloud does: bitbucket.org, and the API at api.bitbucket.org/2.0.
func (h *Host) Bitbucket() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path, api := strings.CutPrefix(strings.Trim(r.URL.Path, "/"), "2.0/repositories/")
		parts := strings.SplitN(path, "/", 4)
		for len(parts) < 4 {
			parts = append(parts, "")
		}
		name := parts[0] + "/" + strings.TrimSuffix(parts[1], ".git")
		switch ref, archive := strings.CutSuffix(parts[3], ".tar.gz"); {
		case strings.HasSuffix(parts[1], ".git"):
			h.git(w, r, name)
		case !h.shows(r, name):
			w.WriteHeader(http.StatusForbidden)
		case api && strings.HasPrefix(r.Host, "api."):
			h.answer(w, strings.TrimPrefix(r.URL.RequestURI(), "/2.0"))
		case parts[2] == "get" && archive:
			h.serveRef(w, r, name, ref)
		case parts[2] == "raw":
			h.ServeRaw(r.Context(), w, name, parts[3])
		default:
			io.WriteString(w, "<!doctype html><title>"+name+"</title>")
		}
	})
}

// git serves a clone of a repository, or asks for credentials, as forges do for what they do not show.
func (h *Host) git(w http.ResponseWriter, r *http.Request, name string) {
	if h.NoClones || !h.shows(r, name) {
		w.Header().Set("WWW-Authenticate", `Basic realm="git"`)
		http.Error(w, "Authentication required", http.StatusUnauthorized)
		return
	}
	h.serveGit(w, r)
}

// serveRef serves the archive of a branch, tag or commit of a repository; of the default branch if ref is empty.
func (h *Host) serveRef(w http.ResponseWriter, r *http.Request, name, ref string) {
	if ref == "" {
		ref = "HEAD"
	}
	out, err := exec.CommandContext(r.Context(), "git", "--git-dir="+filepath.Join(h.Root, name+".git"), "archive",
		"--format=tar.gz", "--prefix="+filepath.Base(name)+"/", ref).Output()
	if err != nil || h.NoArchives {
		http.Error(w, "404: Not Found", http.StatusNotFound)
		return
	}
	w.Header().Set("Content-Type", "application/gzip")
	w.Header().Set("Content-Length", strconv.Itoa(len(out)))
	_, _ = w.Write(out)
}
