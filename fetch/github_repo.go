package fetch

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"readthru/convert"
	"readthru/page"
	"readthru/store"
	"readthru/symbols"
)

// repository reads a repository: its default branch as an archive, which streams past and is never written to disk,
// else as a bare clone, of which an archive is made (rules B10 to B13).
func (g *github) repository(ctx context.Context, a *attempt, t *target, kept *store.Rendition) (*made, error) {
	if err := g.reading.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer g.reading.Release(1)
	about := g.projectOf(ctx, a, t)
	begun := time.Now()
	m, err := g.fromArchive(ctx, a, t, kept, about)
	a.told("github-archive", begun, err)
	if err == nil || g.f.o.GitHub.Git == "" || ctx.Err() != nil {
		return m, err
	}
	begun = time.Now()
	m, cloneErr := g.fromClone(ctx, t, about)
	a.told("github-clone", begun, cloneErr)
	if cloneErr == nil {
		return m, nil
	}
	return nil, err // what the archive's host said is to the point
}

// archiveURL is where the archive of the default branch is.
func (t *target) archiveURL() string {
	if t.codeload != nil {
		return t.codeload.JoinPath(t.Owner, t.Repo, "tar.gz", "HEAD").String()
	}
	return t.base.JoinPath(t.Owner, t.Repo, "archive", "HEAD.tar.gz").String()
}

func (g *github) fromArchive(ctx context.Context, a *attempt, t *target, kept *store.Rendition,
	about project,
) (*made, error) {
	fields := http.Header{"Accept": {"application/gzip, */*;q=0.1"}, "Accept-Encoding": {"identity"}}
	if kept != nil && kept.Validator != "" {
		fields.Set("If-None-Match", kept.Validator)
	}
	resp, from, err := g.get(ctx, a, t.hub, at(t.archiveURL()), fields)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && kept != nil:
		return &made{unchanged: true}, nil
	case resp.StatusCode != http.StatusOK:
		return nil, refusal(resp, from)
	}
	packed := g.limits.packed(resp.Body)
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	defer unpacked.Close() //nolint:errcheck // its end was read, or is of no matter
	r, err := g.readRepository(ctx, t, about, g.limits.unpackedFrom(unpacked, packed))
	if err != nil {
		return nil, err
	}
	r.Bytes = packed.n
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "repository-cut") }) {
		r.Validator = resp.Header.Get("Etag")
	}
	return &made{rendition: r, private: about.Private}, nil
}

// readRepository makes a repository's page of its archive.
func (g *github) readRepository(ctx context.Context, t *target, about project,
	archive io.Reader,
) (*store.Rendition, error) {
	var builder *symbols.Builder
	var wants func(string) bool
	var add func(string, []byte)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the builder's work, too
	if g.f.o.Symbols != nil {
		builder = g.f.o.Symbols.Begin(ctx)
		wants, add = symbols.Supported, builder.Add
	}
	files, err := readTree(ctx, archive, g.limits, wants, add)
	if err != nil {
		return nil, err
	}
	var m *symbols.Map
	if builder != nil {
		m = builder.Map(symbolTokens)
	}
	return g.compose(t, about, files, m), nil
}

// compose writes a repository's page: README, list of files, symbol map, each told where it is cut.
func (g *github) compose(t *target, about project, files *tree, m *symbols.Map) *store.Rendition {
	r := &store.Rendition{Title: t.name(), Description: about.Description, Meta: page.Meta{}}
	var b bytes.Buffer
	warn := func(token string) { r.Warnings = addWarning(r.Warnings, token) }
	for name, value := range map[string]string{
		"commit": files.commit, "branch": about.Branch,
		"description": about.Description, "license": about.License.Name,
	} {
		if value != "" {
			r.Meta[name] = value
		}
	}
	if files.readme != nil {
		readme, hidden := readmeMarkdown(files.readmePath, files.readme, t.linksOf("HEAD", files.readmePath))
		b.Write(readme)
		r.Readme = store.Span{From: 0, To: b.Len()}
		if hidden > 0 {
			warn(fmt.Sprintf("hidden-text-removed=%d", hidden))
		}
		if int64(len(files.readme)) == g.limits.file {
			warn("readme-cut")
		}
	} else {
		fmt.Fprintf(&b, "# %s\n\nThe repository has no README.\n", t.name())
	}
	b.WriteString("\n## Repository files\n\n")
	if len(files.files) == 0 {
		b.WriteString("There are none to list.\n")
	} else {
		b.Write(fenced("text", []byte(fileList(files.files))))
	}
	b.WriteString("\n" + files.summary() + "\n")
	if m != nil {
		if len(m.Files) > 0 {
			b.WriteString("\n## Symbol map\n\n")
			from := b.Len()
			b.Write(fenced("text", []byte(m.Text())))
			r.SymbolMap = inFence(b.Bytes(), from)
		}
		for _, w := range m.Warnings {
			warn(symbolWarning(w))
		}
	}
	for _, w := range files.warnings() {
		warn(w)
	}
	r.Markdown = b.Bytes()
	r.Tokens = convert.Tokens(r.Markdown)
	return r
}

// inFence returns where the text of the block stands that begins at from and ends the markdown.
func inFence(markdown []byte, from int) store.Span {
	block := markdown[from:]
	begin := bytes.IndexByte(block, '\n') + 1
	end := bytes.LastIndexByte(bytes.TrimRight(block, "\n"), '\n') + 1
	return store.Span{From: from + begin, To: from + end}
}

// symbolWarning is the token for a sentence about a symbol map.
func symbolWarning(sentence string) string {
	if strings.Contains(sentence, "basic") {
		return "symbols-basic"
	}
	return "symbols-cut"
}

// summary says in a sentence what is listed and what is not.
func (t *tree) summary() string {
	s := counted(len(t.files), "file")
	var left []string
	for _, why := range slices.Sorted(maps.Keys(t.left)) {
		left = append(left, fmt.Sprintf("%d %s", t.left[why], why))
	}
	if len(left) > 0 {
		s += "; not listed: " + strings.Join(left, ", ")
	}
	if t.submodules {
		s += "; submodules are not read"
	}
	if t.cut != "" {
		s += "; reading ended at the limit of " + t.cut
	}
	return s + "."
}

// warnings are the tokens for what was left out.
func (t *tree) warnings() (list []string) {
	if t.cut != "" {
		list = append(list, "repository-cut="+strings.ReplaceAll(t.cut, " ", "-"))
	}
	if t.empty {
		list = append(list, "repository-empty")
	}
	if n := t.left[unusableNames]; n > 0 {
		list = append(list, fmt.Sprintf("names-refused=%d", n))
	}
	if t.submodules {
		list = append(list, "submodules")
	}
	if t.ignore.more {
		list = append(list, "gitignore-cut")
	}
	return list
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

// projectLifetime is how long what the API says of a repository is not asked again.
const projectLifetime = 10 * time.Minute

// projectOf asks the API about a repository, when there is a token; the zero value when it cannot be had.
func (g *github) projectOf(ctx context.Context, a *attempt, t *target) (p project) {
	if t.token == "" {
		return p
	}
	key := t.api.JoinPath("repos", t.Owner, t.Repo).String()
	if known, ok := g.projects.Get(key); ok && time.Since(known.asked) < projectLifetime {
		return known
	}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	begun := time.Now()
	_, err := g.api(ctx, a, t, at(key), "", &p)
	if err != nil {
		a.told("github-api", begun, err)
		return project{}
	}
	p.Description, p.asked = strings.Join(strings.Fields(p.Description), " "), time.Now()
	g.projects.Add(key, p)
	return p
}
