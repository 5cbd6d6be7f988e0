package fetch

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"net"
	"net/http"
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
	got, err := readTree(t.Context(), bytes.NewReader(text), defaultTreeLimits, func(string) bool { return true },
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
		t.Errorf("tree = %+v", got)
	}
}

func TestTreeEndsAtItsLimits(t *testing.T) {
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
	for name, change := range map[string]func(*treeLimits){
		"entries":         func(l *treeLimits) { l.entries = 10 },
		"unpacked size":   func(l *treeLimits) { l.unpacked = 50_000 },
		"compressed size": func(l *treeLimits) { l.compressed = 1500 },
	} {
		l := defaultTreeLimits
		change(&l)
		in := l.packed(iotest{bytes.NewReader(packed.Bytes())})
		un, err := gzip.NewReader(in)
		if err != nil {
			t.Fatal(err)
		}
		got, err := readTree(t.Context(), l.unpackedFrom(un, in), l, nil, nil)
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
	in := defaultTreeLimits.packed(&bomb)
	un, err := gzip.NewReader(in)
	if err != nil {
		t.Fatal(err)
	}
	got, err := readTree(t.Context(), defaultTreeLimits.unpackedFrom(un, in), defaultTreeLimits, nil, nil)
	if err != nil || got.cut != "compression ratio" {
		t.Errorf("bomb: %+v, %v", got, err)
	}
}

// iotest hands out little at a time, so that a limit is met on the way.
type iotest struct{ io.Reader }

func (r iotest) Read(p []byte) (int, error) { return r.Reader.Read(p[:min(len(p), 100)]) }

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestBrokenArchiveIsAnError(t *testing.T) {
	text := archiveOf(t, file("r/README.md", "# Hi"), file("r/b.txt", strings.Repeat("x", 5000)))
	for _, cut := range []int{100, 1800} {
		if got, err := readTree(t.Context(), bytes.NewReader(text[:cut]), defaultTreeLimits, nil, nil); err == nil {
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
	got, err := readTree(ctx, slow, defaultTreeLimits, nil, nil)
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
	got, err := readTree(t.Context(), bytes.NewReader(text), defaultTreeLimits, func(string) bool { return true },
		func(path string, content []byte) { read = append(read, path) })
	if err != nil || !slices.Equal(read, []string{"small.go"}) || len(got.readme) != 1<<20 {
		t.Errorf("read %v and %d bytes of README, %v", read, len(got.readme), err)
	}
}

func TestGitignore(t *testing.T) {
	var g ignoreRules
	g.add(".", []byte("# comment\n*.log\n!keep.log\n/top\nbuild/\ndoc/*.txt\na/**/z\n**/cache/**\n\\#hash\nfoo[0-9]\ntrail \n"))
	g.add("sub", []byte("/only\nlocal\n"))
	for name, want := range map[string]bool{
		"x.log": true, "d/x.log": true, "keep.log": false, "d/keep.log": false, "top": true, "d/top": false, "build/x": true,
		"d/build/x/y": true, "build": false,
		"doc/a.txt": true, "doc/d/a.txt": false, "a/z": true, "a/b/c/z": true, "a/b": false, "cache/x": true,
		"d/cache/e/x": true, "#hash": true, "foo1": true, "foox": false, "trail": true,
		"sub/only": true, "only": false, "sub/d/only": false, "sub/d/local": true, "local": false, "README.md": false,
	} {
		if got := g.ignores(name); got != want {
			t.Errorf("ignores(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestHostileGitignoreTakesBoundedTime(t *testing.T) {
	var g ignoreRules
	g.add(".", []byte(strings.Repeat("**/a*b*c*d*e*f*g*h/**/x\n", 3000)))
	if !g.more || len(g.rules) != maxIgnoreRules {
		t.Errorf("%d rules, more %t", len(g.rules), g.more)
	}
	name := strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", 30) + "y"
	for range 3 {
		if g.ignores(name) {
			t.Error("ignored")
		}
	}
}

func TestListOfFilesKeepsToItsLength(t *testing.T) {
	var files []string
	for i := range 30_000 {
		files = append(files, fmt.Sprintf("src/package%03d/part%02d/file%05d.go", i%700, i%13, i))
	}
	files = append(files, "README.md", "go.mod")
	rand.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	list := fileList(files)
	if len(list) > listBudget+4<<10 || !strings.HasPrefix(list, "README.md\ngo.mod\nsrc/ (30000 files)\n") {
		t.Errorf("%d bytes:\n%.500s", len(list), list)
	}
	list = fileList([]string{"b/c/d.go", "a.go", "b/x.go", "b/a.go"})
	if want := "a.go\nb/: a.go x.go\nb/c/: d.go\n"; list != want {
		t.Errorf("fileList = %q, want %q", list, want)
	}
}

func TestCommentsAreTakenOut(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		hidden     int
	}{
		{"a <!-- b --> c\n", "a  c\n", 1},
		{"a\n<!-- b\n```\nc -->d\n", "a\nd\n", 1},
		{"```\n<!-- code -->\n```\n", "```\n<!-- code -->\n```\n", 0},
		{"`<!--` is how one begins\n", "`<!--` is how one begins\n", 0},
		{"x <!-- never\nclosed\n", "x ", 1},
		{"~~~\nopen", "~~~\nopen\n~~~\n", 0},
	} {
		if got, n := withoutComments(tt.text); got != tt.want || n != tt.hidden {
			t.Errorf("withoutComments(%q) = %q, %d, want %q, %d", tt.text, got, n, tt.want, tt.hidden)
		}
	}
}

func TestTunnelIsForOneHostAndWhoKnowsThePassword(t *testing.T) {
	dialled := 0
	tun, err := openTunnel(t.Context(), "github.com:443", 1<<20, func(context.Context, string, string) (net.Conn, error) {
		dialled++
		return nil, errors.New("guarded")
	})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tun.Close() }()
	good := "Proxy-Authorization: " + basic("readthru", tun.password) + "\r\n"
	for request, want := range map[string]string{
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\n":                                    "407",
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\nProxy-Authorization: Basic eDp5\r\n": "407",
		"CONNECT 127.0.0.1:22 HTTP/1.1\r\nHost: 127.0.0.1:22\r\n" + good:                                 "403",
		"CONNECT github.com:22 HTTP/1.1\r\nHost: github.com:22\r\n" + good:                               "403",
		"GET http://github.com:443/ HTTP/1.1\r\nHost: github.com:443\r\n" + good:                         "405",
		"CONNECT github.com:443 HTTP/1.1\r\nHost: github.com:443\r\n" + good:                             "502",
	} {
		conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", tun.listener.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(conn, request+"\r\n")
		answer, _ := io.ReadAll(conn)
		_ = conn.Close()
		if !strings.HasPrefix(string(answer), "HTTP/1.1 "+want) {
			t.Errorf("%q: answer %.40q, want %s", request, answer, want)
		}
	}
	if dialled != 1 || tun.failure() == nil {
		t.Errorf("dialled %d times, failure %v", dialled, tun.failure())
	}
}

func basic(user, password string) string {
	r := http.Request{Header: http.Header{}}
	r.SetBasicAuth(user, password)
	return r.Header.Get("Authorization")
}

func FuzzTree(f *testing.F) {
	f.Add(archiveOf(f, file("r/README.md", "# Hi"), file("r/.gitignore", "*.x\n!y\n/z/**/q"), file("r/a/b.x", "c")))
	f.Fuzz(func(t *testing.T, text []byte) {
		l := treeLimits{compressed: 1 << 20, unpacked: 1 << 20, ratio: 100, entries: 100, file: 1 << 10}
		got, err := readTree(t.Context(), l.unpackedFrom(bytes.NewReader(text), nil), l, func(string) bool { return true },
			func(path string, content []byte) {
				if len(content) > 1<<10 || strings.Contains(path, "..") && slices.Contains(strings.Split(path, "/"), "..") ||
					strings.HasPrefix(path, "/") {
					t.Errorf("read %q, %d bytes", path, len(content))
				}
			})
		if err == nil {
			_ = fileList(got.files)
			_ = slices.Collect(maps.Keys(got.left))
			_, _ = readmeMarkdown(got.readmePath, got.readme, func(string) *url.URL { return nil })
		}
	})
}
