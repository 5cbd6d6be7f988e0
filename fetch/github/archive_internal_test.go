package github

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"maps"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// archiveOf makes a tar of entries in order.
func archiveOf(tb testing.TB, entries ...tar.Header) []byte {
	tb.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, h := range entries {
		content := h.Linkname
		if h.Typeflag == 0 {
			h.Typeflag = tar.TypeReg
		}
		if h.Typeflag == tar.TypeReg {
			h.Size, h.Linkname = int64(len(content)), ""
		}
		if h.Typeflag != tar.TypeXGlobalHeader {
			h.Mode = 0o644
		}
		if err := w.WriteHeader(&h); err != nil {
			tb.Fatal(err)
		}
		if h.Typeflag == tar.TypeReg {
			_, _ = io.WriteString(w, content)
		}
	}
	if err := w.Close(); err != nil {
		tb.Fatal(err)
	}
	return b.Bytes()
}

// file is an entry: archiveOf takes the content from Linkname.
func file(name, content string) tar.Header { return tar.Header{Name: name, Linkname: content} }

func TestHostileNamesAreRefused(t *testing.T) {
	text := archiveOf(t,
		tar.Header{
			Typeflag:   tar.TypeXGlobalHeader,
			PAXRecords: map[string]string{"comment": "0123456789abcdef0123456789abcdef01234567"},
		},
		file("r/README.md", "# Hi"), file("r/../../etc/cron.d/x", "x"), file("/etc/passwd", "x"), file("r/a/../../b", "x"),
		file("r/new\nline", "x"), file("r/esc\x1b[2J", "x"),
		file("r/\u202etxt.exe", "x"), file("r/"+strings.Repeat("n", 2000), "x"), file("top", "x"), file("r//double", "x"),
		tar.Header{Typeflag: tar.TypeSymlink, Name: "r/readme", Linkname: "/etc/passwd"},
		tar.Header{Typeflag: tar.TypeLink, Name: "r/hard", Linkname: "/etc/shadow"},
		tar.Header{Typeflag: tar.TypeChar, Name: "r/dev"}, tar.Header{Typeflag: tar.TypeFifo, Name: "r/fifo"},
		tar.Header{Typeflag: tar.TypeDir, Name: "r/dir/"},
		file("r/ok.go", "package ok"), file("r/README.md", "# twice"),
	)
	var read []string
	got, err := readArchive(t.Context(), bytes.NewReader(text), defaultLimits, "", func(string) bool { return true },
		func(path string, _ []byte) { read = append(read, path) })
	if err != nil {
		t.Fatal(err)
	}
	// /etc/passwd is one in the folder ""
	if diff := cmp.Diff([]string{"README.md", "etc/passwd", "ok.go", "README.md"}, got.files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
	if string(got.readme) != "# Hi" || got.commit != "0123456789abcdef0123456789abcdef01234567" ||
		got.left[unusableNames] != 8 || got.cut != "" {
		t.Errorf("archive = %+v", got)
	}
}

func TestArchiveIsReadUpToItsLimits(t *testing.T) {
	var many []tar.Header
	for i := range 300 {
		many = append(many, file(fmt.Sprintf("r/f%03d.txt", i), strings.Repeat("x", 1000)))
	}
	text := archiveOf(t, append([]tar.Header{file("r/README.md", "# Hi")}, many...)...)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	_, _ = z.Write(text)
	_, _ = z.Write(make([]byte, 40<<20)) // zeros: a ratio of a thousand
	_ = z.Close()
	for name, change := range map[string]func(*archiveLimits){
		"entries":         func(l *archiveLimits) { l.entries = 10 },
		"unpacked size":   func(l *archiveLimits) { l.unpacked = 50_000 },
		"compressed size": func(l *archiveLimits) { l.compressed = 1500 },
	} {
		l := defaultLimits
		change(&l)
		in := l.packed(slowReader{bytes.NewReader(packed.Bytes())})
		un, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readArchive(t.Context(), l.unpackedFrom(un, in), l, "", nil, nil)
		if err != nil || got.cut != name || string(got.readme) != "# Hi" || len(got.files) > 200 {
			t.Errorf("%s: cut %q, %d files, %v", name, got.cut, len(got.files), err)
		}
	}
	// A bomb: one file of zeros that a little becomes.
	var bomb bytes.Buffer
	z = gzip.NewWriter(&bomb)
	w := tar.NewWriter(z)
	_ = w.WriteHeader(&tar.Header{Typeflag: tar.TypeReg, Name: "r/a.txt", Size: 1 << 30, Mode: 0o644})
	_, _ = io.CopyN(w, zeros{}, 64<<20)
	_ = z.Close()
	in := defaultLimits.packed(&bomb)
	un, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readArchive(t.Context(), defaultLimits.unpackedFrom(un, in), defaultLimits, "", nil, nil)
	if err != nil || got.cut != "compression ratio" {
		t.Errorf("bomb: %+v, %v", got, err)
	}
}

// slowReader returns little at a time, so that a limit is exceeded between reads.
type slowReader struct{ io.Reader }

func (r slowReader) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 100)]) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBrokenArchiveIsAnError(t *testing.T) {
	text := archiveOf(t, file("r/README.md", "# Hi"), file("r/b.txt", strings.Repeat("x", 5000)))
	for _, cut := range []int{100, 1800} {
		if got, err := readArchive(t.Context(), bytes.NewReader(text[:cut]), defaultLimits, "", nil, nil); err == nil {
			t.Errorf("after %d bytes: %+v, want an error", cut, got)
		}
	}
}

func TestFilesThatRunOutOfTimeAreTold(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	text := archiveOf(t, file("r/README.md", "# Hi"), file("r/b.txt", "x"))
	slow := io.MultiReader(bytes.NewReader(text[:1024]), readerFunc(func([]byte) (int, error) {
		cancel(errTimeout)
		return 0, context.Cause(ctx)
	}))
	got, err := readArchive(ctx, slow, defaultLimits, "", nil, nil)
	if err != nil || got.cut != "time" || len(got.files) != 1 {
		t.Errorf("%+v, %v", got, err)
	}
}

type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

func TestLargeAndBinaryFilesAreNotRead(t *testing.T) {
	text := archiveOf(t, file("r/big.go", strings.Repeat("x", 1<<20+1)), file("r/small.go", "package a"),
		file("r/README.md", strings.Repeat("y", 2<<20)))
	var read []string
	got, err := readArchive(t.Context(), bytes.NewReader(text), defaultLimits, "", func(string) bool { return true },
		func(path string, content []byte) { read = append(read, path) })
	if err != nil || !slices.Equal(read, []string{"small.go"}) || len(got.readme) != 1<<20 {
		t.Errorf("read %v and %d bytes of README, %v", read, len(got.readme), err)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(archiveOf(f, file("r/README.md", "# Hi"), file("r/.gitignore", "*.x\n!y\n/z/**/q"), file("r/a/b.x", "c")))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := archiveLimits{compressed: 1 << 20, unpacked: 1 << 20, ratio: 100, entries: 100, file: 1 << 10}
		got, err := readArchive(t.Context(), l.unpackedFrom(bytes.NewReader(text), nil), l, "",
			func(string) bool { return true },
			func(path string, content []byte) {
				if len(content) > 1<<10 || strings.Contains(path, "..") && slices.Contains(strings.Split(path, "/"), "..") ||
					strings.HasPrefix(path, "/") {
					t.Errorf("read %q, %d bytes", path, len(content))
				}
			})
		if err == nil {
			_ = fileList(got.files)
			_ = slices.Collect(maps.Keys(got.left))
			_ = new(Page).readmeMarkdown(got.readmePath, got.readme, func(string) *url.URL { return nil })
		}
	})
}
