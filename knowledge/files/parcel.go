package files

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/readthru/readthru/knowledge/archive"
)

// A parcel carries files from who may read them to who indexes them: it is a tar file whose entries have the files'
// absolute paths. Its first entry is of no file and says how many there are. These are the records of its headers.
const (
	parcelFiles = "READTHRU.files" // how many files follow
	parcelNamed = "READTHRU.named" // the user named this file
	parcelLines = "READTHRU.lines" // of a file of JSON lines
	parcelError = "READTHRU.error" // why the file could not be read
)

// Pack writes a parcel of files to w: files, and the files in folders. In folders, it leaves out files
// of other kinds, hidden files, links, and the folder private, which may be empty. A file in private that the user
// names is an error.
func Pack(ctx context.Context, w io.Writer, paths []string, private string) error {
	files, err := listFiles(ctx, paths, private)
	if err != nil {
		return err
	}
	out := tar.NewWriter(w)
	err = out.WriteHeader(&tar.Header{
		Typeflag: tar.TypeXGlobalHeader, Name: "readthru", Format: tar.FormatPAX,
		PAXRecords: map[string]string{parcelFiles: strconv.Itoa(len(files))},
	})
	for _, f := range files {
		if err == nil {
			err = context.Cause(ctx)
		}
		if err == nil {
			err = f.pack(out)
		}
	}
	if err == nil {
		err = out.Close()
	}
	return err
}

// pack writes a file to a parcel. An error ends the parcel; a file that cannot be read is an entry that says why.
func (f sourceFile) pack(out *tar.Writer) error {
	h := &tar.Header{Typeflag: tar.TypeReg, Name: f.path, Format: tar.FormatPAX, PAXRecords: map[string]string{}}
	if f.named {
		h.PAXRecords[parcelNamed] = "1"
	}
	in, err := os.Open(f.path)
	if err != nil {
		h.PAXRecords[parcelError] = reasonOf(err)
		return out.WriteHeader(h)
	}
	defer in.Close() //nolint:errcheck // it was only read
	info, err := in.Stat()
	if err != nil {
		h.PAXRecords[parcelError] = reasonOf(err)
		return out.WriteHeader(h)
	}
	h.Size, h.ModTime = info.Size(), info.ModTime()
	if formOf(f.path) == linesForm {
		if n, err := countLines(in); err == nil {
			h.PAXRecords[parcelLines] = strconv.Itoa(n)
		}
	}
	if err := out.WriteHeader(h); err != nil {
		return err
	}
	if _, err := io.CopyN(out, in, h.Size); errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s: it became shorter while it was read", f.path)
	} else if err != nil {
		return fmt.Errorf("read %s: %w", f.path, err)
	}
	return nil
}

// parcelled is a file of a parcel.
type parcelled struct {
	path    string
	named   bool
	lines   int
	modTime time.Time
	failed  string // why it could not be read
	io.Reader
}

// unpackFiles calls f with each file of a parcel. total is how many there are.
func unpackFiles(r io.Reader, f func(file parcelled, total int) error) error {
	total := 0
	for in := tar.NewReader(r); ; {
		h, err := in.Next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil && !errors.Is(err, tar.ErrInsecurePath): // the paths are names here, and nothing is written
			return fmt.Errorf("%w: the files are no parcel: %w", archive.ErrInvalid, err)
		case h.Typeflag == tar.TypeXGlobalHeader:
			total, _ = strconv.Atoi(h.PAXRecords[parcelFiles])
			continue
		case h.Typeflag != tar.TypeReg || !absolute(h.Name):
			return fmt.Errorf("%w: %.80q in the parcel is no file with an absolute path", archive.ErrInvalid, h.Name)
		}
		lines, _ := strconv.Atoi(h.PAXRecords[parcelLines])
		err = f(parcelled{
			path: h.Name, named: h.PAXRecords[parcelNamed] != "", lines: lines, modTime: h.ModTime,
			failed: h.PAXRecords[parcelError], Reader: in,
		}, total)
		if err != nil {
			return err
		}
	}
}

// absolute reports whether the path of a file in a parcel is absolute on the machine that packed it, which may be of
// another kind.
func absolute(path string) bool {
	return strings.HasPrefix(path, "/") || filepath.IsAbs(path) || len(path) > 2 && path[1] == ':'
}
