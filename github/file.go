package github

import (
	"fmt"
	"net/url"
	"path"
	"strings"
)

// Refs returns the references (branch and path, escaped) under which a file may be found, in the order to try them: a
// file of branch main may be one of branch master.
func (t *Target) Refs() []string {
	if rest, ok := strings.CutPrefix(t.ref, "main/"); ok {
		return []string{t.ref, "master/" + rest}
	}
	return []string{t.ref}
}

// RawURL returns the URL of the file's content under one of Refs. GitHub finds out where the branch ends and the path
// begins.
func (t *Target) RawURL(ref string) (*url.URL, error) {
	dir := t.base.JoinPath(t.Owner, t.Repo, "raw")
	if t.raw != nil {
		dir = t.raw.JoinPath(t.Owner, t.Repo)
	}
	u, err := url.Parse(dir.String() + "/" + ref)
	if err != nil {
		return nil, fmt.Errorf("find the file's content: %w", err)
	}
	return u, nil
}

// FileRecipe names how the page of the file at u is made of its content under ref.
func (t *Target) FileRecipe(u *url.URL, ref string) string {
	return fmt.Sprintf("github file %d %s %s", recipe, u, ref)
}

// File makes the page of a file whose content, found under ref, is UTF-8 text: markdown with absolute links, other text
// as a fenced code block (rule B14).
func (t *Target) File(ref string, content []byte) *Page {
	p := &Page{Title: path.Base(t.Path)}
	if !isMarkdown(p.Title) {
		p.Markdown = p.fenced(language(p.Title), content)
		p.warnHidden()
		return p
	}
	branch, err := url.PathUnescape(strings.TrimSuffix(ref, "/"+lastSegments(ref, t.Path)))
	if err != nil {
		branch = t.Branch
	}
	p.Markdown = p.readmeMarkdown(p.Title, content, t.linksOf(branch, t.Path))
	p.warnHidden()
	return p
}

// lastSegments returns as many of the last segments of ref as file has.
func lastSegments(ref, file string) string {
	parts := strings.Split(ref, "/")
	return strings.Join(parts[max(0, len(parts)-strings.Count(file, "/")-1):], "/")
}

// isMarkdown reports whether a file's name is that of a markdown file.
func isMarkdown(name string) bool {
	ext := strings.ToLower(path.Ext(name))
	return ext == ".md" || ext == ".markdown"
}

// language returns the language of a file, by its name, as fences name it; empty if it is not known.
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
