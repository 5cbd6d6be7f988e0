package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// file is a file of a store: what is written of it, and how large it is. Logs are mostly holes, which no test needs to
// copy.
type file struct {
	written []byte
	size    int64
}

// damages are what can happen to a file. They change a copy of their own; nil means that it is gone.
var damages = []struct {
	name string
	do   func(f file) *file
}{
	{"cut to nothing", func(file) *file { return &file{} }},
	{"cut to half", func(f file) *file {
		half := f.size / 2
		return &file{f.written[:min(half, int64(len(f.written)))], half}
	}},
	{"16 bytes flipped in the middle", func(f file) *file { return flip(f, 0.5) }},
	{"16 bytes flipped near the start", func(f file) *file { return flip(f, 0.02) }},
	{"last quarter zeroed", func(f file) *file {
		return &file{f.written[:min(f.size*3/4, int64(len(f.written)))], f.size}
	}},
	{"deleted", func(file) *file { return nil }},
}

// flip damages what is written, not the hole behind it.
func flip(f file, at float64) *file {
	written := len(f.written)
	for i := range min(16, written) {
		f.written[min(int(at*float64(written))+i, written-1)] ^= 0xff
	}
	return &f
}

// readTree returns the files of a folder by their names below it.
func readTree(t *testing.T, dir string) map[string]file {
	t.Helper()
	files := map[string]file{}
	err := filepath.WalkDir(dir, func(name string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		files[rel] = file{slices.Clip(withoutHole(b)), int64(len(b))}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// withoutHole returns b up to its last byte that is not zero. It looks at many zeros at once: the race detector sees
// each look.
func withoutHole(b []byte) []byte {
	zeros := make([]byte, 4096)
	for bytes.HasSuffix(b, zeros) {
		b = b[:len(b)-len(zeros)]
	}
	return bytes.TrimRight(b, "\x00")
}

// writeTree makes a folder of files.
func writeTree(t *testing.T, dir string, files map[string]file) {
	t.Helper()
	for name, f := range files {
		name = filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.written, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Truncate(name, f.size); err != nil {
			t.Fatal(err)
		}
	}
}

// So many pages are in tables, in logs of values and in the log of what is in memory; the larger ones have two parts.
const damagePages = 12

func damageContent(n int) string {
	return strings.Repeat(fmt.Sprintf("paragraph %d of a page\n", n), 100+n*1400)
}

func damageURL(n int) string { return fmt.Sprintf("https://damage.test/%d", n) }

func TestNoDamageStopsTheStoreOrGivesWrongBytes(t *testing.T) {
	source := t.TempDir()
	s := openStore(t, store.Options{Dir: source})
	fill := func(from, to int) {
		for n := from; n < to; n++ {
			r := put(t, s, response(damageURL(n)), damageContent(n))
			p, md, _ := newPage(damageURL(n), damageContent(n))
			p.ContentHash = damageURL(n)
			if _, err := s.PutPage(p, md, r.Body); err != nil {
				t.Fatal(err)
			}
		}
		flush(t, s)
	}
	fill(0, damagePages/2)
	closeStore(t, s) // makes tables
	var err error
	if s, err = store.Open(store.Options{Dir: source}); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	fill(damagePages/2, damagePages) // stays in the log
	template := readTree(t, source)
	delete(template, "LOCK")
	if len(template) < 6 {
		t.Fatalf("only %d files of the store", len(template))
	}
	for i, name := range slices.Sorted(maps.Keys(template)) {
		for j, damage := range damages {
			if needs.Brief() && (i+j)%3 > 0 {
				continue
			}
			t.Run(filepath.Base(name)+" "+damage.name, func(t *testing.T) {
				dir := t.TempDir()
				files := maps.Clone(template)
				f := files[name]
				f.written = bytes.Clone(f.written)
				if damaged := damage.do(f); damaged != nil {
					files[name] = *damaged
				} else {
					delete(files, name)
				}
				writeTree(t, dir, files)
				checkDamaged(t, dir)
			})
		}
	}
}

// checkDamaged opens a store, reads all that it gives, and writes and reads again.
func checkDamaged(t *testing.T, dir string) {
	t.Helper()
	var log bytes.Buffer
	s, err := store.Open(store.Options{Dir: dir, Log: logTo(&log)})
	if err != nil {
		t.Fatalf("Open: %v", err)
	}
	defer func() {
		_ = s.Close()
		if s.Health().SetAside != "" {
			leftByEngine = append(leftByEngine, goleak.IgnoreCurrent())
		}
	}()
	bodies, pages := 0, 0
	for n := range damagePages {
		for _, r := range responses(t, s, damageURL(n)) {
			b, err := s.Body(r.Body)
			if err != nil {
				continue
			}
			got, err := io.ReadAll(b)
			_ = b.Close()
			if err == nil && string(got) != damageContent(n) {
				t.Errorf("body %d: %d wrong bytes", n, len(got))
			}
			if err == nil {
				bodies++
			}
		}
		if md, err := s.Markdown(page.KeyOf(damageURL(n))); err == nil {
			if pages++; string(md) != damageContent(n) {
				t.Errorf("markdown %d: %d wrong bytes", n, len(md))
			}
		}
	}
	h := s.Health()
	if h.SetAside != "" {
		if _, err := os.Stat(h.SetAside); err != nil {
			t.Errorf("SetAside = %s: %v", h.SetAside, err)
		}
		if bodies+pages > 0 {
			t.Errorf("an empty store gave %d bodies and %d pages", bodies, pages)
		}
	} else if pages < damagePages && h.Damaged == 0 && !h.Lost {
		t.Errorf("%d of %d pages are gone and Health() = %+v says nothing", damagePages-pages, damagePages, h)
	}
	r := put(t, s, response("https://damage.test/new"), "new")
	if err := s.Flush(); err != nil {
		t.Errorf("Flush: %v", err)
	}
	s.Chill()
	if got := bodyOf(t, s, r.Body); got != "new" {
		t.Errorf("new body = %q", got)
	}
	t.Logf("%d bodies, %d pages, %+v %s", bodies, pages, h, strings.Join(strings.Split(log.String(), "\n"), " / "))
}

// What is behind damage in the log of what was in memory is not read. The log says so, also if nothing of it was
// synced; after a kill without damage it says nothing.
func TestWhatCannotBeReadOfALogIsTold(t *testing.T) {
	source := t.TempDir()
	s := openStore(t, store.Options{Dir: source})
	for n := range damagePages {
		put(t, s, response(damageURL(n)), damageContent(n))
	}
	flush(t, s)
	files := readTree(t, source) // as a process leaves it that is killed
	delete(files, filepath.Join("db", "LOCK"))
	for _, damaged := range []bool{false, true} {
		dir := t.TempDir()
		for name, f := range files {
			if damaged && filepath.Ext(name) == ".mem" {
				files[name] = *flip(f, 0.5)
			}
		}
		writeTree(t, dir, files)
		var log bytes.Buffer
		s, err := store.Open(store.Options{Dir: dir, Log: logTo(&log)})
		if err != nil {
			t.Fatal(err)
		}
		closeStore(t, s)
		if told := strings.Contains(log.String(), "the end of a log cannot be read"); told != damaged {
			t.Errorf("damaged is %v, and the log says %s", damaged, &log)
		}
	}
}

func TestDamagedRecordIsAMissAndDeleted(t *testing.T) {
	s := openStore(t, store.Options{})
	long := strings.Repeat("a line of text\n", store.PartSize/5)
	r := put(t, s, response("https://a.test/"), long)
	flush(t, s)
	s.Chill()
	for _, record := range [][]byte{nil, {0}, []byte("not a record at all"), make([]byte, 300)} {
		if err := s.PutRaw(store.PartKey(r.Body, 1), record); err != nil {
			t.Fatal(err)
		}
		b, err := s.Body(r.Body)
		if err != nil {
			t.Fatalf("record %q: Body: %v, want its first part", record, err)
		}
		got, err := io.ReadAll(b)
		_ = b.Close()
		if err == nil || !strings.HasPrefix(long, string(got)) || len(got) != store.PartSize {
			t.Errorf("record %q: read %d bytes, error %v; want the first part and an error", record, len(got), err)
		}
		if _, err := s.Body(r.Body); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("record %q: Body again: %v, want ErrNotFound", record, err)
		}
		put(t, s, response("https://a.test/"), long)
		flush(t, s)
		s.Chill()
		if bodyOf(t, s, r.Body) != long {
			t.Errorf("record %q: stored again, the body is another", record)
		}
	}
	if h := s.Health(); h.Damaged < 3 {
		t.Errorf("Damaged = %d, want each counted", h.Damaged)
	}
}

func TestSecondOpenerIsToldWhoHasTheStore(t *testing.T) {
	dir := t.TempDir()
	openStore(t, store.Options{Dir: dir})
	_, err := store.Open(store.Options{Dir: dir})
	var locked *store.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() || locked.Dir != dir {
		t.Errorf("second Open: %v, want a LockedError of %s with process %d", err, dir, os.Getpid())
	}
}

func TestNewerStoreIsLeftAsItIs(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	if err := s.SetSchema(9, 9); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	for range 2 {
		if _, err := store.Open(store.Options{Dir: dir}); !errors.Is(err, store.ErrNewer) {
			t.Fatalf("Open: %v, want ErrNewer", err)
		}
	}
	if aside, _ := filepath.Glob(filepath.Join(dir, "*damaged*")); len(aside) > 0 {
		t.Errorf("set aside: %v", aside)
	}
}

func TestNewerStoreThatOldReadersUnderstandOpens(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir})
	if err := s.SetSchema(9, 1); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	openStore(t, store.Options{Dir: dir})
}
