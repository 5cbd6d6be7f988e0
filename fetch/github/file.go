package github

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strconv"
	"strings"

	"github.com/readthru/readthru/internal/lazy"
	"github.com/readthru/readthru/page"
)

// Refs returns the references (branch and path, escaped) under which a file may be found, in the order to try them: a
// file of branch main may be one of branch master, as repositories were renamed and links to them were not.
func (t *Target) Refs() []string {
	prefix := ""
	if t.kind == page.Gitea {
		prefix = "branch/"
	}
	if rest, ok := strings.CutPrefix(t.ref, prefix+"main/"); ok {
		return []string{t.ref, prefix + "master/" + rest}
	}
	return []string{t.ref}
}

// RawURL returns the URL of the file's content under one of Refs. The host finds out where the branch ends and the path
// begins.
func (t *Target) RawURL(ref string) *url.URL { return t.forge().raw(t, ref) }

// Private reports whether the target, a file, is known to need a credential that there may be. Then the caller asks for
// a file by Content at once.
func (r *Reader) Private(t *Target) bool { return r.private(t) && t.wallet.mayHave() }

// MayBePrivate reports whether there may be a credential for the target, so that Content is worth a try when the file
// is refused without one.
func (r *Reader) MayBePrivate(t *Target) bool { return t.wallet.mayHave() }

// Content requests a file's content under one of Refs with the credential of its host. The error wraps [ErrGone] if
// there is no credential, or nothing to read with it. The caller closes the body.
func (r *Reader) Content(ctx context.Context, t *Target, ref string,
	follow func(next *url.URL) error,
) (*http.Response, *url.URL, error) {
	c := t.wallet.open(ctx)
	if c == nil {
		return nil, nil, ErrGone
	}
	rd := &read{Reader: r, t: t, follow: follow}
	fields := http.Header{"Accept": {"*/*"}}
	t.authorise(fields, c)
	resp, from, err := rd.get(ctx, t.RawURL(ref), fields)
	if err != nil {
		return nil, nil, err
	}
	if resp.StatusCode != http.StatusOK {
		resp.Body.Close()
		return nil, nil, statusError(resp, from)
	}
	r.markPrivate(t)
	return resp, from, nil
}

// FileRecipe names how the page of the file at u is made of its content under ref: a stored page with another recipe is
// made again.
func (t *Target) FileRecipe(u *url.URL, ref string) string {
	return fmt.Sprintf("github file %d %s %s", recipe, u, ref)
}

// File makes the page of a file whose content, found under ref, is UTF-8 text: markdown with absolute links, other text
// as a fenced code block in its language (rule B14).
func (t *Target) File(ref string, content []byte) *Page {
	p := &Page{Title: path.Base(t.Path)}
	if !isMarkdown(p.Title) {
		p.Markdown = p.fenced(language(p.Title), content)
		p.warnHidden()
		return p
	}
	p.Markdown = p.readmeMarkdown(p.Title, content, t.linksOf(t.refOf(ref), t.Path))
	p.warnHidden()
	return p
}

// lineRange are the fragments by which forges name lines of a file: L10, L10-L20, L10C5-L20C1, L10-20, lines-10:20.
var lineRange = lazy.Pattern(`^(?:L(\d{1,7})(?:C\d+)?(?:-L?(\d{1,7})(?:C\d+)?)?|lines-(\d{1,7})(?::(\d{1,7}))?)$`)

// LineRange returns the first and last line that the fragment of a file's URL names, from 1; ok is false if it names
// none.
func LineRange(fragment string) (from, to int, ok bool) {
	m := lineRange().FindStringSubmatch(fragment)
	if m == nil {
		return 0, 0, false
	}
	from, _ = strconv.Atoi(m[1] + m[3]) // one of them is empty; the pattern says that it is a number
	if to, _ = strconv.Atoi(m[2] + m[4]); to == 0 {
		to = from
	}
	return min(from, to), max(from, to), from > 0
}

// Lines makes the page of some lines of a file, from 1, as they are in its source, fenced even if it is markdown; nil
// if the file ends before them.
func (t *Target) Lines(content []byte, from, to int) *Page {
	lines := bytes.SplitAfter(content, []byte("\n"))
	if last := len(lines) - 1; len(lines[last]) == 0 {
		lines = lines[:last]
	}
	if from > len(lines) {
		return nil
	}
	p := &Page{Title: path.Base(t.Path)}
	p.Markdown = p.fenced(language(p.Title), bytes.Join(lines[from-1:min(to, len(lines))], nil))
	p.warnHidden()
	return p
}

// refOf returns what precedes the file's path in one of Refs, escaped: the branch as the host's URLs name it.
func (t *Target) refOf(ref string) string {
	return strings.TrimSuffix(ref, "/"+lastSegments(ref, t.Path))
}

// BranchOf returns the name of a file's branch in one of Refs, for people: without what tells branches, tags and
// commits apart in URLs.
func (t *Target) BranchOf(ref string) string {
	name := t.refOf(ref)
	for _, prefix := range []string{"refs/heads/", "refs/tags/", "branch/", "tag/", "commit/"} {
		if rest, ok := strings.CutPrefix(name, prefix); ok && (prefix[0] == 'r' || t.kind == page.Gitea) {
			name = rest
			break
		}
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return name
}

// lastSegments returns as many of the last segments of a reference as file has: where branch and path meet is known by
// the length of the path.
func lastSegments(ref, file string) string {
	parts := strings.Split(ref, "/")
	return strings.Join(parts[max(0, len(parts)-strings.Count(file, "/")-1):], "/")
}

// isMarkdown reports whether a file's name is that of a markdown file.
func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// language returns the language of a file, by its name, as fences name it; empty if it is not known. An extension that
// is no language's is taken for a name, if it could be one.
func language(name string) string {
	switch base := strings.ToLower(name); {
	case base == "dockerfile", strings.HasPrefix(base, "dockerfile."):
		return "dockerfile"
	case base == "makefile", base == "gnumakefile":
		return "makefile"
	case base == "cmakelists.txt":
		return "cmake"
	}
	ext := strings.TrimPrefix(strings.ToLower(path.Ext(name)), ".")
	if known, ok := languages[ext]; ok {
		return known
	}
	if len(ext) > 12 || strings.Trim(ext, "abcdefghijklmnopqrstuvwxyz0123456789+-_") != "" {
		return ""
	}
	return ext
}

// languages are the languages whose name is not the extension of their files.
var languages = map[string]string{
	"py": "python", "pyi": "python", "js": "javascript", "mjs": "javascript", "cjs": "javascript", "ts": "typescript",
	"mts": "typescript", "cts": "typescript",
	"rs": "rust", "rb": "ruby", "sh": "bash", "bash": "bash", "zsh": "zsh", "h": "c", "hh": "cpp", "hpp": "cpp",
	"hxx": "cpp", "cc": "cpp", "cxx": "cpp", "kt": "kotlin", "kts": "kotlin",
	"cs": "csharp", "fs": "fsharp", "hs": "haskell", "ml": "ocaml", "ex": "elixir", "exs": "elixir", "erl": "erlang",
	"pl": "perl", "pm": "perl", "ps1": "powershell",
	"yml": "yaml", "htm": "html", "txt": "text", "tf": "hcl", "proto": "protobuf", "m": "objectivec", "mm": "objectivec",
	"jl": "julia", "clj": "clojure",
}
