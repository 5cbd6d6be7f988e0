package github

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

	"github.com/readthru/readthru/internal/symbols"
	"github.com/readthru/readthru/page"
)

// repository reads the default branch of a repository, or a directory of another branch, from its archive, which is
// never written to disk, or else from the archive of a bare clone (rules B10 to B13). maxReads are read at once; the
// others wait.
func (r *read) repository(ctx context.Context) (*Page, error) {
	if err := r.reads.Acquire(ctx, 1); err != nil {
		return nil, err
	}
	defer r.reads.Release(1)
	about := r.project(ctx)
	if r.t.tree {
		r.divide(ctx)
	}
	begun := time.Now()
	var p *Page
	private, err := r.shown(ctx, r.t, func(c *credential) (err error) {
		p, err = r.fromArchive(ctx, about, c)
		return err
	})
	r.tried("archive", begun, err)
	if err == nil {
		p.Private = private || about.Private
		return p, nil
	}
	if r.o.Git == "" || ctx.Err() != nil {
		return nil, err
	}
	begun = time.Now()
	var cloneErr error
	private, cloneErr = r.shown(ctx, r.t, func(c *credential) (err error) {
		p, err = r.fromClone(ctx, about, c)
		return err
	})
	r.tried("clone", begun, cloneErr)
	if cloneErr == nil {
		p.Private = private || about.Private
		return p, nil
	}
	return nil, err // a clone fails for the same reason, with a less clear error
}

// branch returns the branch of a repository that is read; empty for the default branch.
func (t *Target) branch() string {
	if !t.tree {
		return ""
	}
	return t.Branch
}

// dir returns the directory of a repository that is read; empty for the whole tree.
func (t *Target) dir() string {
	if !t.tree {
		return ""
	}
	return t.Path
}

// fromArchive reads a repository: the archive that the forge makes of a branch, as it comes. With the validator of a
// page the forge may say that nothing has changed. The error is a refusedError if the host answers with something else,
// as hosts do that want a reader to sign in.
func (r *read) fromArchive(ctx context.Context, about project, c *credential) (*Page, error) {
	// The archive is compressed already; a coding on top would hide how large it is.
	fields := http.Header{"Accept": {"application/gzip, */*;q=0.1"}, "Accept-Encoding": {"identity"}}
	r.t.authorise(fields, c)
	if r.validator != "" {
		fields.Set("If-None-Match", r.validator)
	}
	resp, from, err := r.get(ctx, r.t.forge().archive(r.t, r.t.branch(), about.Branch), fields)
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
		return nil, &refusedError{fmt.Errorf("read the archive: %w", err)}
	}
	defer unpacked.Close() //nolint:errcheck // its end was read, or is of no matter
	p, err := r.archivePage(ctx, about, r.limits.unpackedFrom(unpacked, packed))
	if err != nil {
		return nil, err
	}
	p.Bytes = packed.n
	// What was cut must be read again, even if it has not changed.
	if !slices.ContainsFunc(p.Warnings, func(w string) bool { return strings.HasPrefix(w, "repository-cut") }) {
		p.Validator = resp.Header.Get("Etag")
	}
	return p, nil
}

// archivePage makes a repository's page of its archive, a tar. Files of languages that are known go to the maker of the
// symbol map while the archive is read.
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
	files, err := readArchive(ctx, tar, r.limits, r.t.dir(), wants, add)
	if err != nil {
		return nil, err
	}
	if r.t.dir() != "" && len(files.files) == 0 && files.readme == nil {
		return nil, fmt.Errorf("%w: the branch has no directory %s", ErrGone, r.t.dir())
	}
	var m *symbols.Map
	if builder != nil {
		m = builder.Map(symbolTokens)
	}
	// The API was not asked, or did not answer; git's list of branches names the default branch, too.
	if about.Branch == "" && !r.t.tree {
		about.Branch = r.listRefs(ctx).head
	}
	return r.t.repositoryPage(about, files, m, r.limits.file), nil
}

// repositoryPage writes a repository's page: README, list of files and symbol map, with a warning for each that is cut.
// A README of maxFile bytes was cut. m may be nil.
func (t *Target) repositoryPage(about project, files *archive, m *symbols.Map, maxFile int64) *Page {
	p := &Page{Title: t.name(), Description: singleLine(about.Description), Meta: page.Meta{}}
	branch, ref := about.Branch, "HEAD"
	if t.tree {
		branch, ref = t.Branch, escape(t.Branch)
	}
	if t.kind == page.Gitea && branch != "" {
		ref = "branch/" + escape(branch)
	}
	if t.dir() != "" {
		p.Title += " · " + singleLine(t.Path)
	}
	var b bytes.Buffer
	for name, value := range map[string]string{
		"commit": files.commit, "branch": branch,
		"description": p.Description, "license": about.License,
	} {
		if value = singleLine(value); value != "" {
			p.Meta[name] = value
		}
	}
	if files.readme != nil {
		b.Write(p.readmeMarkdown(files.readmePath, files.readme, t.linksOf(ref, files.readmePath)))
		p.Readme = Span{From: 0, To: b.Len()}
		if int64(len(files.readme)) == maxFile {
			p.warn("readme-cut")
		}
	} else {
		what := "repository"
		if t.dir() != "" {
			what = "directory"
		}
		fmt.Fprintf(&b, "# %s\n\nThe %s%s", inlineText(p.Title), what, noReadme)
	}
	b.WriteString(filesHeading)
	if len(files.files) == 0 {
		b.WriteString("No files to list.\n")
	} else {
		b.Write(p.fenced("text", []byte(fileList(files.files))))
	}
	b.WriteString("\n" + files.summary() + "\n")
	if m != nil {
		if len(m.Files) > 0 {
			b.WriteString(symbolsHeading)
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

// The headings of a repository's page, by which Parts finds its parts again.
const (
	filesHeading   = "\n## Repository files\n\n"
	symbolsHeading = "\n## Symbol map\n\n"
	noReadme       = " has no README.\n"
)

// Parts returns where README and symbol map are in a repository's page, as the page had them when it was made. A stored
// page has only its text; the last headings count, since a README may have the same ones.
func Parts(markdown []byte) (readme, symbolMap Span) {
	files := bytes.LastIndex(markdown, []byte(filesHeading))
	if files < 0 {
		return Span{}, Span{}
	}
	if !bytes.HasSuffix(markdown[:files], []byte(noReadme)) {
		readme = Span{0, files}
	}
	if at := bytes.LastIndex(markdown, []byte(symbolsHeading)); at > files {
		symbolMap = inFence(markdown, at+len(symbolsHeading))
	}
	return readme, symbolMap
}

// inFence returns the span of the text in the fenced block of a repository's page that begins at from and ends the
// markdown.
func inFence(markdown []byte, from int) Span {
	block := markdown[from:]
	begin := bytes.IndexByte(block, '\n') + 1
	end := bytes.LastIndexByte(bytes.TrimRight(block, "\n"), '\n') + 1
	return Span{From: from + begin, To: from + end}
}

// symbolWarning returns, for the page of a repository, the warning token for a sentence of package symbols about a
// symbol map.
func symbolWarning(sentence string) string {
	if strings.Contains(sentence, "basic") {
		return "symbols-basic"
	}
	return "symbols-cut"
}

// summary says in a sentence how many files of a repository are listed, and why others are not.
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

// warnings returns the tokens for what was left out of a repository's archive.
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
