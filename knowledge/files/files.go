package files

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
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

// skip reports a file, or a line of one, that became no document. Only the first maxSkipped are named.
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

// reason says why no file that was to be added became a document.
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

// lines reads a file of JSON lines, one at a time.
func (f *fileImport) lines(ctx context.Context, path string, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for number := 1; ; number++ {
		line, err := readLine(r)
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, errLongLine):
			f.report.skip(path, number, reasonOf(err)) // the rest cannot be read
			return nil
		case err == nil && len(bytes.TrimSpace(line)) == 0:
			continue
		}
		name, err := f.line(ctx, line, err)
		if refused, ok := errors.AsType[*archive.RefusedError](err); ok {
			f.report.skip(path, number, refused.Error())
		} else if err != nil {
			return err
		} else {
			f.report.Documents++
		}
		f.count(name)
	}
}

// line adds the document that a line describes. What is wrong with it is a *archive.RefusedError.
func (f *fileImport) line(ctx context.Context, line []byte, err error) (name string, _ error) {
	if err != nil {
		return "", &archive.RefusedError{Reason: err}
	}
	d, err := parseRecord(line)
	if err != nil {
		return "", &archive.RefusedError{Reason: err}
	}
	return d.URL, f.o.Add(ctx, d)
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
		if u := page.SavedFrom(content); u != nil && !page.HasSecret(u) {
			d.URL = u.String() // it is that page, wherever it lies
		}
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

// looksBinary reports whether a file to be added is no text, by its beginning.
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

// frontTitle returns the title that the front matter of a file to be added names.
func frontTitle(block []byte) string {
	for line := range bytes.Lines(block) {
		if value, ok := bytes.CutPrefix(line, []byte("title:")); ok {
			return strings.Trim(strings.TrimSpace(string(value)), `"'`)
		}
	}
	return ""
}

// titleOf returns the title of a file to be added: the first heading of a text that begins with one, else a name.
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
