package wholefile_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/wholefile"
)

func TestAFileIsWrittenWholeOrStaysAsItWas(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	failed := errors.New("no more")
	steps := []struct {
		what  string
		write func() error
		want  string // the content, or of an error
		mode  fs.FileMode
	}{
		{"a new file", func() error { return wholefile.Write(name, []byte("one"), 0o644) }, "one", 0o644},
		{"a file that is there", func() error { return wholefile.Write(name, []byte("two"), 0o600) }, "two", 0o600},
		{"a writer that fails in between", func() error {
			return wholefile.WriteFrom(name, func(f *os.File) error {
				if _, err := f.WriteString("thr"); err != nil {
					return err
				}
				return failed
			})
		}, "two", 0o600},
		{"a directory that is not there", func() error {
			return wholefile.Write(filepath.Join(dir, "none", "a"), nil, 0o600)
		}, "two", 0o600},
		{"a directory in the way", func() error { return wholefile.Write(dir, nil, 0o600) }, "two", 0o600},
	}
	for _, s := range steps {
		err := s.write()
		if fails := !strings.HasPrefix(s.what, "a new") && !strings.HasPrefix(s.what, "a file"); fails != (err != nil) {
			t.Errorf("%s: %v", s.what, err)
		} else if fails && (!strings.HasPrefix(err.Error(), "write "+dir) || strings.Contains(err.Error(), "/.")) {
			t.Errorf("%s: the error is %q, which does not name the file", s.what, err)
		}
		got, err := os.ReadFile(name)
		if err != nil || string(got) != s.want {
			t.Errorf("%s: the file has %q, %v; want %q", s.what, got, err, s.want)
		}
		info, err := os.Stat(name)
		if err != nil || runtime.GOOS != "windows" && info.Mode() != s.mode {
			t.Errorf("%s: mode %v, %v; want %v", s.what, info.Mode(), err, s.mode)
		}
		if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
			t.Errorf("%s: left behind: %v, %v", s.what, left, err)
		}
	}
}
