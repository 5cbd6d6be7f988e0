package github

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/klauspost/compress/gzip"

	"readthru/page"
	"readthru/symbols"
)

// repository reads the default branch of a repository from its archive, which is never written to disk, or else from
// the archive of a bare clone (rules B10 to B13).
func (r *read) repository(ctx context.Context) (*Page, error) {
	if err := r.reads.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.reads.Release(1)
	about := r.project(ctx)
	begun := time.Now()
	p, err := r.fromArchive(ctx, about)
	r.tried("github-archive", begun, err)
	if err == nil || r.o.Git == "" || ctx.Err() != nil {
		return p, err
	}
	begun = time.Now()
	p, cloneErr := r.fromClone(ctx, about)
	r.tried("github-clone", begun, cloneErr)
	if cloneErr == nil {
		return p, nil
	}
	return nil, err // a clone fails for the same reason, with a less clear error
}

// archiveURL returns the URL of the default branch's archive.
func (t *Target) archiveURL() *url.URL {
	if t.codeload != nil {
		return t.codeload.JoinPath(t.Owner, t.Repo, "tar.gz", "HEAD")
	}
	return t.base.JoinPath(t.Owner, t.Repo, "archive", "HEAD.tar.gz")
}

func (r *read) fromArchive(ctx context.Context, about project) (*Page, error) {
	fields := http.Header{"Accept": {"application/gzip, */*;q=0.1"}, "Accept-Encoding": {"identity"}}
	if r.validator != "" {
		fields.Set("If-None-Match", r.validator)
	}
	resp, from, err := r.get(ctx, r.t.archiveURL(), fields)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	switch {
	case resp.StatusCode == http.StatusNotModified && r.validator != "":
		return &Page{Unchanged: true}, nil
	case resp.StatusCode != http.StatusOK:
		return nil, statusError(resp, from)
	}
	packed := r.limits.packed(resp.Body)
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		return nil, fmt.Errorf("read the archive: %w", err)
	}
	defer unpacked.Close() //nolint:errcheck // its end was read, or is of no matter
	p, err := r.archivePage(ctx, about, r.limits.unpackedFrom(unpacked, packed))
	if err != nil {
		return nil, err
	}
	p.Bytes = packed.n
	if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "repository-cut") }) {
		p.Validator = resp.Header.Get("Etag")
	}
	return p, nil
}

// archivePage makes a repository's page of its archive.
func (r *read) archivePage(ctx context.Context, about project, tar io.Reader) (*Page, error) {
	var builder *symbols.Builder
	var wants func(string) bool
	var add func(string, []byte)
	ctx, cancel := context.WithCancel(ctx)
	defer cancel() // ends the builder's work too
	if r.o.Symbols != nil {
		builder = r.o.Symbols.Begin(ctx)
		wants, add = symbols.Supported, builder.Add
	}
	files, err := readArchive(ctx, tar, r.limits, wants, add)
	if err != nil {
		return nil, err
	}
	var m *symbols.Map
	if builder != nil {
		m = builder.Map(symbolTokens)
	}
	p := r.t.repositoryPage(about, files, m, r.limits.file)
	p.Private = about.Private
	return p, nil
}

// repositoryPage writes a repository's page: README, list of files and symbol map, with a warning for each that is cut.
// A README of maxFile bytes was cut.
func (t *Target) repositoryPage(about project, files *archive, m *symbols.Map, maxFile int64) *Page {
	p := &Page{Title: t.name(), Description: singleLine(about.Description), Meta: page.Meta{}}
	var b bytes.Buffer
	for name, value := range map[string]string{
		"commit": files.commit, "branch": about.Branch,
		"description": p.Description, "license": about.License.Name,
	} {
		if value = singleLine(value); value != "" {
			p.Meta[name] = value
		}
	}
	if files.readme != nil {
		b.Write(p.readmeMarkdown(files.readmePath, files.readme, t.linksOf("HEAD", files.readmePath)))
		p.Readme = Span{From: 0, To: b.Len()}
		if int64(len(files.readme)) == maxFile {
			p.warn("readme-cut")
		}
	} else {
		fmt.Fprintf(&b, "# %s\n\nThe repository has no README.\n", t.name())
	}
	b.WriteString("\n## Repository files\n\n")
	if len(files.files) == 0 {
		b.WriteString("There are none to list.\n")
	} else {
		b.Write(p.fenced("text", []byte(fileList(files.files))))
	}
	b.WriteString("\n" + files.summary() + "\n")
	if m != nil {
		if len(m.Files) > 0 {
			b.WriteString("\n## Symbol map\n\n")
			from := b.Len()
			b.Write(p.fenced("text", []byte(m.Text())))
			p.SymbolMap = inFence(b.Bytes(), from)
		}
		for _, w := range m.Warnings {
			p.warn(symbolWarning(w))
		}
	}
	for _, w := range files.warnings() {
		p.warn(w)
	}
	p.warnHidden()
	p.Markdown = b.Bytes()
	return p
}

// inFence returns the span of the text in the fenced block that begins at from and ends the markdown.
func inFence(markdown []byte, from int) Span {
	block := markdown[from:]
	begin := bytes.IndexByte(block, '\n') + 1
	end := bytes.LastIndexByte(bytes.TrimRight(block, "\n"), '\n') + 1
	return Span{From: from + begin, To: from + end}
}

// symbolWarning returns the token for a sentence about a symbol map.
func symbolWarning(sentence string) string {
	if strings.Contains(sentence, "basic") {
		return "symbols-basic"
	}
	return "symbols-cut"
}

// summary says in a sentence how many files are listed, and why others are not.
func (t *archive) summary() string {
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

// warnings returns the tokens for what was left out.
func (t *archive) warnings() (list []string) {
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
