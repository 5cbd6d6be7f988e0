package files

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/knowledge/archive"
	"github.com/readthru/readthru/knowledge/index"
	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/page"
)

const (
	maxFile     = 64 << 20 // bytes of one file that is read whole
	maxFiles    = 200_000  // files of one folder tree
	maxSkipped  = 100      // that are named; all are counted
	sniffLength = 8 << 10
)

// Report is the result of adding files.
type Report struct {
	Files     int       `json:"files"`     // read
	Documents int       `json:"documents"` // added
	Skipped   int       `json:"skipped"`   // files and lines that were not taken
	Reasons   []Skipped `json:"reasons,omitempty"`
}

// Skipped is a file, or a line of one, that was not taken.
type Skipped struct {
	Path   string `json:"path"`
	Line   int    `json:"line,omitempty"` // from 1; 0: the whole file
	Reason string `json:"reason"`
}

func (r *Report) skip(path string, line int, reason string) {
	r.Skipped++
	if len(r.Reasons) < maxSkipped {
		r.Reasons = append(r.Reasons, Skipped{path, line, reason})
	}
}

// Options says how files become documents.
type Options struct {
	// Decode returns a text in UTF-8, whatever its encoding, and other content as it is. If nil, files are in UTF-8.
	Decode func(content []byte) []byte

	// Convert makes markdown of a file that is none: HTML, PDF. If nil, such files are not taken.
	Convert func(ctx context.Context, name string, content []byte) (title, markdown string, err error)

	// Add keeps a document. An [*archive.RefusedError] is reported; any other ends everything.
	Add func(ctx context.Context, d *index.Document) error

	// Progress is told of each document or file. It may be nil.
	Progress func(i, total int, name string)
}

// Read adds the files of a parcel. The report lists those that could not be added; that is an error only if none
// was.
func Read(ctx context.Context, parcel io.Reader, o Options) (*Report, error) {
	r := &Report{}
	f := &fileImport{o: o, report: r}
	more := 0 // than files: lines
	err := unpackFiles(parcel, func(file parcelled, total int) error {
		more += max(0, file.lines-1)
		f.total = total + more
		return f.add(ctx, file)
	})
	if err == nil && r.Documents == 0 {
		err = fmt.Errorf("no document in the files: %s", r.reason())
	}
	return r, err
}

// reason says why no file became a document.
func (r *Report) reason() string {
	if len(r.Reasons) == 0 {
		return "there are no files of a kind that can be read"
	}
	s := r.Reasons[0]
	if s.Line > 0 {
		return fmt.Sprintf("%s, line %d: %s", s.Path, s.Line, s.Reason)
	}
	return s.Path + ": " + s.Reason
}

// sourceFile is a file to be read.
type sourceFile struct {
	path  string // absolute
	named bool   // by the caller, not found in a folder
}

// listFiles returns files and those in folders, each once, in order of their paths within each folder, and none of the
// folder private.
func listFiles(ctx context.Context, paths []string, private string) (files []sourceFile, err error) {
	seen := map[string]bool{}
	add := func(f sourceFile) error {
		if len(files) == maxFiles {
			return fmt.Errorf("more than %d files: add fewer at a time", maxFiles)
		}
		if !seen[f.path] {
			seen[f.path] = true
			files = append(files, f)
		}
		return nil
	}
	for _, path := range paths {
		root, err := filepath.Abs(path)
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
		info, err := os.Stat(root)
		switch {
		case within(private, root):
			return nil, fmt.Errorf("read %s: files of the data directory are not read", path)
		case err != nil:
			return nil, fmt.Errorf("read files: %w", err)
		case info.Mode().IsRegular():
			if err := add(sourceFile{root, true}); err != nil {
				return nil, err
			}
			continue
		case !info.IsDir():
			return nil, fmt.Errorf("read %s: not a file or folder", path)
		}
		err = filepath.WalkDir(root, func(at string, d fs.DirEntry, err error) error {
			hidden := strings.HasPrefix(d.Name(), ".") && at != root
			switch {
			case ctx.Err() != nil:
				return ctx.Err()
			case d.IsDir() && (hidden || d.Name() == "node_modules" || within(private, at)):
				return fs.SkipDir
			case err == nil && !hidden && d.Type().IsRegular() && formOf(at) != unknownForm:
				return add(sourceFile{path: at})
			}
			return nil // what may not be read holds nothing for us
		})
		if err != nil {
			return nil, fmt.Errorf("read %s: %w", path, err)
		}
	}
	return files, nil
}

type fileForm int

const (
	unknownForm fileForm = iota
	markdownForm
	textForm
	convertedForm // HTML, PDF
	linesForm
)

// formOf returns the form that a file's name promises.
func formOf(path string) fileForm {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".md", ".markdown", ".mdown", ".mkd", ".mdx":
		return markdownForm
	case ".txt", ".text", ".rst", ".adoc", ".asciidoc", ".org", ".tex", ".log":
		return textForm
	case ".html", ".htm", ".xhtml", ".pdf":
		return convertedForm
	case ".jsonl", ".ndjson":
		return linesForm
	}
	return unknownForm
}

// fileImport is one call of Read.
type fileImport struct {
	o        Options
	report   *Report
	i, total int
}

// count counts a document or a file and reports the progress.
func (f *fileImport) count(name string) {
	f.i++
	if f.o.Progress != nil {
		f.o.Progress(f.i, max(f.total, f.i), name)
	}
}

// add reads one file. An error ends everything; a file that cannot be taken is reported.
func (f *fileImport) add(ctx context.Context, file parcelled) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if file.failed != "" {
		f.report.skip(file.path, 0, file.failed)
		f.count(file.path)
		return nil
	}
	form := formOf(file.path)
	if form == linesForm {
		f.report.Files++
		return f.lines(ctx, file.path, file)
	}
	d, err := f.document(ctx, file, form)
	defer f.count(file.path)
	if err != nil {
		f.report.skip(file.path, 0, reasonOf(err))
		return ctx.Err()
	}
	f.report.Files++
	err = f.o.Add(ctx, d)
	if refused, ok := errors.AsType[*archive.RefusedError](err); ok {
		f.report.skip(file.path, 0, refused.Error())
		return nil
	}
	if err == nil {
		f.report.Documents++
	}
	return err
}

// document reads a file that is one document.
func (f *fileImport) document(ctx context.Context, file parcelled, form fileForm) (*index.Document, error) {
	content, err := io.ReadAll(io.LimitReader(file, maxFile+1))
	if err != nil {
		return nil, err
	}
	switch {
	case len(content) > maxFile:
		return nil, fmt.Errorf("larger than %d MiB", maxFile>>20)
	case len(bytes.TrimSpace(content)) == 0:
		return nil, errors.New("empty")
	case form == unknownForm && bytes.HasPrefix(content, []byte("%PDF-")):
		form = convertedForm
	case form != convertedForm:
		if f.o.Decode != nil {
			content = f.o.Decode(content)
		}
		if looksBinary(content) {
			return nil, errors.New("binary, not text")
		}
	}
	d := &index.Document{URL: URL(file.path), Kind: archive.KindFile, Markdown: content, FetchedAt: file.modTime.UTC()}
	switch form {
	case convertedForm:
		if f.o.Convert == nil {
			return nil, errors.New("cannot convert HTML and PDF")
		}
		title, md, err := f.o.Convert(ctx, filepath.Base(file.path), content)
		if err != nil {
			return nil, err
		}
		_, d.Markdown = page.SplitFrontMatter([]byte(md))
		d.Title = title
	default:
		d.Markdown = bytes.TrimPrefix(d.Markdown, []byte("\ufeff"))
		if form != textForm {
			var block []byte
			block, d.Markdown = page.SplitFrontMatter(d.Markdown)
			d.Title = frontTitle(block)
		}
	}
	if len(bytes.TrimSpace(d.Markdown)) == 0 {
		return nil, errors.New("no text")
	}
	if d.Title == "" {
		d.Title = titleOf(d.Markdown, filepath.Base(file.path))
	}
	return d, nil
}

// reasonOf returns what went wrong without the path that stands beside it.
func reasonOf(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// looksBinary reports whether content is no text, by its beginning.
func looksBinary(content []byte) bool {
	start := content[:min(len(content), sniffLength)]
	for i := 0; i < utf8.UTFMax && len(start) < len(content) && !utf8.Valid(start) && len(start) > 0; i++ {
		start = start[:len(start)-1] // a character may have been cut
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return true
	}
	bad := 0
	for i := 0; i < len(start); {
		r, n := utf8.DecodeRune(start[i:])
		if r == utf8.RuneError && n == 1 || unicode.IsControl(r) && !strings.ContainsRune("\t\n\r\f\x1b", r) {
			bad++
		}
		i += n
	}
	return bad*20 > len(start)
}

// URL returns the URL of a file.
func URL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive's letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// frontTitle returns the title that front matter names.
func frontTitle(block []byte) string {
	for line := range bytes.Lines(block) {
		if value, ok := bytes.CutPrefix(line, []byte("title:")); ok {
			return strings.Trim(strings.TrimSpace(string(value)), `"'`)
		}
	}
	return ""
}

// titleOf returns the first heading of a text that begins with one, else a name.
func titleOf(md []byte, name string) string {
	title := ""
	head := md[:min(len(md), sniffLength)]
	for b := range markdown.Blocks(head) {
		if b.Kind == markdown.Heading {
			if b.Level == 1 {
				title = outline.TitleText(b.Title(head))
			}
			break
		}
	}
	if title == "" {
		return name
	}
	return title
}
