package fetch

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"path"
	"strings"
	"time"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
)

// rawURL is where the content of the file at ref (branch and path, escaped) is. GitHub tells branch and path apart
// itself.
func (t *target) rawURL(ref string) (*url.URL, error) {
	if t.raw != nil {
		return url.Parse(t.raw.JoinPath(t.Owner, t.Repo).String() + "/" + ref)
	}
	return url.Parse(t.base.JoinPath(t.Owner, t.Repo, "raw").String() + "/" + ref)
}

// githubFile answers with a file (rule B14): text as a block of code in its language, markdown as it is, and what is
// converted elsewhere (PDF, say) as there. It returns nil and no error when the file's page is to be fetched instead.
func (f *Fetcher) githubFile(ctx context.Context, a *attempt, t *target) (*Answer, error) {
	begun := time.Now()
	ref := t.ref
	err := f.askRaw(ctx, a, t, ref)
	if rest, ok := strings.CutPrefix(ref, "main/"); ok && err == nil && a.status == http.StatusNotFound {
		a.resp.Body.Close()
		ref = "master/" + rest
		err = f.askRaw(ctx, a, t, ref)
	}
	a.url = a.req.URL
	if err != nil {
		a.told("github-raw", begun, err)
		return nil, err
	}
	a.page.Info.FetchMS = time.Since(a.started).Milliseconds()
	if a.status != http.StatusOK {
		a.told("github-raw", begun, fmt.Errorf("HTTP %d", a.status))
		return nil, &Error{
			Kind: KindHTTP, URL: page.Mask(a.req.URL), Status: a.status,
			RetryAfter: asksToWait(a.resp, time.Now()),
		}
	}
	a.told("github-raw", begun, nil)
	named := page.New(t.onGitHub())
	a.page.Type, a.page.Display, a.page.GitHub = named.Type, named.Display, t.GitHubInfo
	recipe := digest(fmt.Sprintf("github file %d %s %s\n%s", githubRecipe, a.req.URL, ref, f.wanted))
	if a.hasSum {
		if r, err := f.o.Store.Rendition(a.sum, recipe); err == nil && a.memorable {
			a.best, a.kind = r, markdownKind
			return f.narrowed(ctx, a, true)
		}
	}
	if err := a.read(f.o.MaxBody); err != nil || !readable(a.content) {
		if a.kind == textKind && err == nil {
			a.kind = documentKind // its bytes say what it is
		}
		return f.convertible(ctx, a)
	}
	a.best = f.fileRendition(a, t, ref, recipe)
	f.complete(a)
	if a.memorable {
		f.keepFile(a)
	}
	a.kind = markdownKind
	return f.narrowed(ctx, a, false)
}

// askRaw asks for the content of a file.
func (f *Fetcher) askRaw(ctx context.Context, a *attempt, t *target, ref string) error {
	u, err := t.rawURL(ref)
	if err != nil {
		return fmt.Errorf("find the file's content: %w", err)
	}
	if t.operated[hostPort(u)] {
		ctx = Endpoint(ctx, u)
	}
	a.url = u
	return f.ask(ctx, a)
}

// narrowed answers with what the view wants of a page.
func (f *Fetcher) narrowed(ctx context.Context, a *attempt, recalled bool) (*Answer, error) {
	if err := f.narrow(ctx, a); err != nil {
		return nil, err
	}
	return f.answer(a, recalled), nil
}

// fileRendition makes the page of a file whose content is text.
func (f *Fetcher) fileRendition(a *attempt, t *target, ref, recipe string) *store.Rendition {
	name := path.Base(t.Path)
	r := &store.Rendition{Source: a.sum, Recipe: recipe, From: page.Local, Title: name, FinalURL: a.req.URL.String()}
	if markdownPath(name) {
		branch, err := url.PathUnescape(strings.TrimSuffix(ref, "/"+escapedTail(ref, t.Path)))
		if err != nil {
			branch = t.Branch
		}
		var hidden int
		if r.Markdown, hidden = readmeMarkdown(name, a.content, t.linksOf(branch, t.Path)); hidden > 0 {
			r.Warnings = addWarning(r.Warnings, fmt.Sprintf("hidden-text-removed=%d", hidden))
		}
	} else {
		r.Markdown = fenced(language(name), a.content)
	}
	r.Tokens = convert.Tokens(r.Markdown)
	return r
}

// escapedTail returns the part of an escaped ref that stands for a path: as many segments.
func escapedTail(ref, file string) string {
	parts := strings.Split(ref, "/")
	return strings.Join(parts[max(0, len(parts)-strings.Count(file, "/")-1):], "/")
}

// keepFile stores the page of a file under the bytes it was made of.
func (f *Fetcher) keepFile(a *attempt) {
	if err := f.o.Store.PutRendition(a.best); err != nil {
		f.o.Log.Debug("rendition not stored", "url", page.Mask(a.req.URL), "err", err)
	}
}

// language returns the name by which a fence tells the language of a file; empty when the name says nothing.
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

// languages are the names of languages whose files end in something else.
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
