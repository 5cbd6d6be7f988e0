package github

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/readthru/readthru/internal/symbols"
)

// archiveLimits bounds what is read of a repository. What exceeds a limit is left out, with a warning.
type archiveLimits struct {
	compressed int64 // bytes as sent
	unpacked   int64 // bytes after decompression
	ratio      int64 // unpacked to compressed, once more than 16 MiB are unpacked
	entries    int   // files, folders and links
	file       int64 // bytes read of one file
}

var defaultLimits = archiveLimits{
	compressed: 256 << 20, unpacked: 1 << 30, ratio: 100, entries: 100_000,
	file: 1 << 20,
}

// Bounds of an archive's entries: from how many unpacked bytes the ratio counts, since small archives may compress
// well, and how long a name may be.
const (
	ratioFrom = 16 << 20
	maxName   = 1024 // bytes
)

// archive is what is kept of a repository's archive while it is read: names, the README and .gitignore, and no other
// content.
type archive struct {
	commit     string
	dir        string // with a slash at its end, or empty
	readme     []byte
	readmePath string
	readmeRank int            // index in readmeNames; len(readmeNames): none
	readmeLink map[string]int // targets of READMEs that are links, and the READMEs' ranks
	files      []string       // paths, in the archive's order
	left       map[reason]int // number of files left out of the list
	ignore     ignoreRules
	submodules bool
	cut        string // the limit at which reading ended; empty: it was read to its end
	empty      bool   // it has no entries
}

// reason says why a file is not listed on the page of a repository.
type reason string

const (
	hiddenFolder  reason = "in hidden folders"
	vendored      reason = "vendored"
	generated     reason = "generated"
	ignored       reason = "named by .gitignore"
	unusableNames reason = "with names that cannot be shown"
)

// readmeNames are the names of READMEs, the preferred one first (rule B11).
var readmeNames = []string{"readme.md", "readme.rst", "readme.txt", "readme"}

// limitError names the limit that an archive exceeds.
type limitError string

// Error says which limit of an archive was exceeded.
func (e limitError) Error() string { return "the archive exceeds the limit of " + string(e) }

// A meter counts the bytes read from a stream and fails at a limit, for archives and for the tunnel of git.
type meter struct {
	io.Reader
	n     int64
	limit func(n int64) error
}

// Read implements [io.Reader]: it counts what is read of an archive, and ends beyond its limits.
func (m *meter) Read(p []byte) (int, error) {
	n, err := m.Reader.Read(p)
	m.n += int64(n)
	if over := m.limit(m.n); over != nil {
		return 0, over
	}
	return n, err
}

// packed meters the compressed stream of an archive.
func (l archiveLimits) packed(r io.Reader) *meter {
	return &meter{r, 0, func(n int64) error {
		if n > l.compressed {
			return limitError("compressed size")
		}
		return nil
	}}
}

// unpackedFrom meters the stream of an archive decompressed from packed, which is nil for one that git writes here. The
// ratio tells a bomb from a large repository before it is unpacked.
func (l archiveLimits) unpackedFrom(r io.Reader, packed *meter) *meter {
	return &meter{r, 0, func(n int64) error {
		switch {
		case n > l.unpacked:
			return limitError("unpacked size")
		case packed != nil && n > ratioFrom && n > l.ratio*packed.n:
			return limitError("compression ratio")
		}
		return nil
	}}
}

// readArchive reads the tar of a repository made by git, and writes nothing to disk. It passes each file that wants
// accepts to add, which may keep the content. When a limit is exceeded, or the time of ctx is over, it returns what was
// read so far with cut set. Of a tree it reads the directory dir only, unless that is empty. The error is that of a
// broken stream.
func readArchive(ctx context.Context, r io.Reader, l archiveLimits, dir string, wants func(name string) bool,
	add func(name string, content []byte),
) (*archive, error) {
	t := &archive{readmeRank: len(readmeNames), readmeLink: map[string]int{}, left: map[reason]int{}}
	if dir != "" {
		t.dir = dir + "/"
	}
	entries := tar.NewReader(r)
	for n := 0; ; n++ {
		h, err := entries.Next()
		if err == nil && n >= l.entries {
			err = limitError("entries")
		}
		if err == nil {
			err = t.entry(h, entries, l, wants, add)
		}
		switch limit, over := errors.AsType[limitError](err); {
		case err == nil:
		case errors.Is(err, io.EOF) && !errors.Is(err, io.ErrUnexpectedEOF):
			t.empty = n == 0
			return t, nil
		case over:
			t.cut = string(limit)
			return t, nil
		case errors.Is(context.Cause(ctx), errTimeout) && len(t.files) > 0:
			t.cut = "time"
			return t, nil
		default:
			return nil, fmt.Errorf("read the archive: %w", err)
		}
	}
}

// entry reads one entry of a repository's archive: a file that is listed, the README, .gitignore, the global header
// with the commit. All else is skipped, links but to a README included.
func (t *archive) entry(h *tar.Header, content io.Reader, l archiveLimits, wants func(string) bool,
	add func(string, []byte),
) error {
	// git writes the id of the commit as a comment in a global header.
	switch h.Typeflag {
	case tar.TypeXGlobalHeader:
		if id := h.PAXRecords["comment"]; commitID(id) {
			t.commit = id
		}
		return nil
	case tar.TypeReg, tar.TypeSymlink:
	default:
		return nil
	}
	name, ok := entryName(h.Name)
	if !ok {
		t.left[unusableNames]++
		return nil
	}
	// Rules of .gitignore above the directory hold in it.
	if path.Base(name) != ".gitignore" && name != ".gitmodules" && !strings.HasPrefix(name, t.dir) {
		return nil
	}
	if h.Typeflag == tar.TypeSymlink {
		t.link(name, h.Linkname)
		return nil
	}
	why := t.leftOut(name)
	switch {
	case why != "":
		t.left[why]++
	case strings.HasPrefix(name, t.dir):
		t.files = append(t.files, name)
	}
	switch rank := t.readmeOf(name); {
	case rank < t.readmeRank:
		b, err := readFile(content, l.file)
		if err != nil {
			return err
		}
		t.readme, t.readmePath, t.readmeRank = b, name, rank
	case path.Base(name) == ".gitignore" && (why == "" || why == ignored):
		b, err := readFile(content, maxIgnoreFile)
		if err != nil {
			return err
		}
		t.ignore.add(path.Dir(name), b)
	case name == ".gitmodules":
		t.submodules = true
	case why == "" && h.Size <= l.file && wants != nil && wants(name):
		b, err := readFile(content, l.file)
		if err != nil {
			return err
		}
		add(name, b)
	}
	return nil
}

// readFile reads a file of an archive, at most limit bytes of it. The tar reader skips the rest.
func readFile(r io.Reader, limit int64) ([]byte, error) {
	return io.ReadAll(io.LimitReader(r, limit))
}

// entryName returns the name of an archive's entry without the folder that all entries are in. It rejects names that
// are absolute, lead out of that folder, or hold characters that cannot be displayed or that change how text around
// them is.
func entryName(name string) (string, bool) {
	_, name, ok := strings.Cut(name, "/")
	if !ok || name == "" || len(name) > maxName || !utf8.ValidString(name) {
		return "", false
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." {
			return "", false
		}
	}
	hostile := strings.IndexFunc(name, func(r rune) bool {
		return unicode.IsControl(r) || unicode.In(r, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp) || r == utf8.RuneError
	})
	return name, hostile < 0
}

// readmeOf returns the rank of the file at a path as the README of the repository, or of the directory that is read;
// len(readmeNames) if it is none.
func (t *archive) readmeOf(name string) int {
	if rank, ok := t.readmeLink[name]; ok {
		return rank
	}
	return t.readmeRankOf(name)
}

// readmeRankOf returns the rank of a path's own name, in the directory that is read.
func (t *archive) readmeRankOf(name string) int {
	name, ok := strings.CutPrefix(name, t.dir)
	if !ok {
		return len(readmeNames)
	}
	return readmeRank(name)
}

// readmeRank returns, of a file in an archive, the index of a file's name in readmeNames, or len(readmeNames). Case
// does not matter.
func readmeRank(name string) int {
	for rank, readme := range readmeNames {
		if strings.EqualFold(name, readme) {
			return rank
		}
	}
	return len(readmeNames)
}

// link notes a README of the archive that is a link to a file of the repository. That file mostly comes later, for git
// lists capitals first. All other links are ignored.
func (t *archive) link(name, to string) {
	if rank := t.readmeRankOf(name); rank < len(readmeNames) && !path.IsAbs(to) {
		if to = path.Join(path.Dir(name), to); to != ".." && !strings.HasPrefix(to, "../") &&
			len(t.readmeLink) < len(readmeNames) {
			t.readmeLink[to] = rank
		}
	}
}

// leftOut returns why a file of a repository is not listed; empty if it is. What its authors did not write tells
// nothing of it.
func (t *archive) leftOut(name string) reason {
	dir := path.Dir(name)
	for part := range strings.SplitSeq(dir, "/") {
		switch {
		case part == "node_modules", part == "vendor", part == "bower_components", part == "third_party":
			return vendored
		case part != "." && strings.HasPrefix(part, "."):
			return hiddenFolder
		}
	}
	switch {
	case t.ignore.ignores(name):
		return ignored
	case symbols.GeneratedName(path.Base(name)):
		return generated
	}
	return ""
}

// commitID reports whether s, which an archive names, is the id of a commit of git: SHA-1 or SHA-256 in hex.
func commitID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}
