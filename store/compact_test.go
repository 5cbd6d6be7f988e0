package store_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// filesWith returns the files below a directory that hold a text as it is. The store does not compress what is short.
func filesWith(tb testing.TB, dir, text string) (names []string) {
	tb.Helper()
	err := filepath.WalkDir(dir, func(name string, e os.DirEntry, err error) error {
		if err != nil && !errors.Is(err, fs.ErrNotExist) || err == nil && e.IsDir() {
			return err
		}
		content, err := os.ReadFile(name)
		if errors.Is(err, fs.ErrNotExist) { // the engine has put it into a table
			return nil
		}
		if bytes.Contains(content, []byte(text)) {
			names = append(names, name)
		}
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return names
}

func TestCompactLeavesNothingOfWhatWasDeleted(t *testing.T) {
	needs.Long(t, "it compacts a store again and again")
	const secret, kept = "a sentence to be forgotten", "a sentence to be kept"
	pageURL := func(s string) string { return "https://forget.test/" + s }
	fill := func(t *testing.T, s *store.Store) {
		t.Helper()
		put(t, s, response(pageURL("gone")), "answer: "+secret)
		putPage(t, s, pageURL("gone"), "markdown: "+secret)
		flush(t, s)
	}
	forget := func(t *testing.T, s *store.Store) {
		t.Helper()
		if err := s.DeletePage(page.KeyOf(pageURL("gone"))); err != nil {
			t.Fatal(err)
		}
		if n, err := s.DeleteResponses(pageURL("gone")); n != 1 || err != nil {
			t.Fatalf("DeleteResponses = %d, %v", n, err)
		}
	}
	noise, value := rand.NewChaCha8([32]byte{1}), make([]byte, 200<<10)
	more := func(t *testing.T, s *store.Store, n int, first ...byte) {
		t.Helper()
		for range n {
			_, _ = noise.Read(value)
			apply(t, s, store.Change{Key: "k/" + string(first) + string(value[:16]), Value: value})
		}
	}
	for _, tt := range []struct {
		name   string
		before func(t *testing.T, s *store.Store, reopen func() *store.Store) *store.Store // fills and deletes
	}{
		{"in memory", func(t *testing.T, s *store.Store, _ func() *store.Store) *store.Store {
			fill(t, s)
			forget(t, s)
			return s
		}},
		{"in tables", func(t *testing.T, s *store.Store, reopen func() *store.Store) *store.Store {
			fill(t, s)
			s = reopen()
			forget(t, s)
			return reopen()
		}},
		{"in a table that nothing newer leads to", func(
			t *testing.T, s *store.Store, _ func() *store.Store,
		) *store.Store {
			t.Helper()
			for first := range 64 {
				more(t, s, 1, byte(4*first))
			}
			apply(t, s, store.Change{Key: "k/\x80", Value: []byte(secret)})
			reader, err := s.Records().Snapshot()
			if err != nil {
				t.Fatal(err)
			}
			apply(t, s, store.Change{Key: "k/\x80", Gone: true})
			err = s.RewriteTables(true) // which keeps what the reader may read
			reader.Close()
			for _, first := range []byte{0x01, 0xfe} {
				more(t, s, 20, first)
				err = errors.Join(err, s.RewriteTables(false))
			}
			if err != nil {
				t.Fatal(err)
			}
			return s
		}},
		{"among tables on several levels", func(t *testing.T, s *store.Store, reopen func() *store.Store) *store.Store {
			more(t, s, 100)
			fill(t, s)
			more(t, s, 50)
			forget(t, s)
			s = reopen()
			more(t, s, 20)
			return s
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			s, err := store.Open(store.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { closeStore(t, s) }()
			reopen := func() *store.Store {
				closeStore(t, s)
				if s, err = store.Open(store.Options{Dir: dir}); err != nil {
					t.Fatal(err)
				}
				return s
			}
			put(t, s, response(pageURL("kept")), "answer: "+kept)
			putPage(t, s, pageURL("kept"), "markdown: "+kept)
			flush(t, s)
			s = tt.before(t, s, reopen)
			flush(t, s)
			if len(filesWith(t, dir, secret)) == 0 {
				t.Fatal("the text is gone before Compact: there is nothing to test")
			}
			n := count(s)
			if err := s.Compact(t.Context()); err != nil {
				t.Fatal(err)
			}
			if names := filesWith(t, dir, secret); len(names) > 0 {
				t.Errorf("the text is still in %v", names)
			}
			if len(filesWith(t, dir, kept)) == 0 {
				t.Error("what was not deleted is in no file")
			}
			for range 2 {
				if md, err := s.Markdown(page.KeyOf(pageURL("kept"))); err != nil || string(md) != "markdown: "+kept {
					t.Errorf("kept page: %q, %v", md, err)
				}
				if got := count(s); got != n {
					t.Errorf("%d records of package knowledge, want %d", got, n)
				}
				s = reopen()
			}
			if h := s.Health(); h.State != "ok" || h.Damaged > 0 || h.SetAside != "" {
				t.Errorf("health: %+v", h)
			}
		})
	}
}

func apply(tb testing.TB, s *store.Store, changes ...store.Change) {
	tb.Helper()
	if err := s.Records().Apply(changes...); err != nil {
		tb.Fatal(err)
	}
}

// count returns how many records of package knowledge there are.
func count(s *store.Store) (n int) {
	s.Records().Keys("k/", "", func(string) bool { n++; return true })
	return n
}

func TestCompactWhileOthersReadAndWrite(t *testing.T) {
	s := openStore(t, store.Options{})
	const pages = 50
	at := func(i int) string { return fmt.Sprintf("https://busy.test/%d", i) }
	text := func(i int) string { return strings.Repeat(fmt.Sprintf("page %d\n", i), 200) }
	for i := range pages {
		putPage(t, s, at(i), text(i))
	}
	flush(t, s)
	beside(t, 2, func() {
		for i := range pages {
			if md, err := s.Markdown(page.KeyOf(at(i))); err != nil || string(md) != text(i) {
				t.Errorf("page %d: %d bytes, %v", i, len(md), err)
			}
		}
	})
	beside(t, 1, func() {
		put(t, s, response("https://busy.test/new"), "something new")
		if err := s.Records().Apply(store.Change{Key: "k/new", Value: []byte("new")}); err != nil {
			t.Error(err)
		}
	})
	for range 3 {
		if err := s.Compact(t.Context()); err != nil {
			t.Error(err)
		}
	}
	if h := s.Health(); h.State != "ok" || h.Dropped > 0 || h.Damaged > 0 {
		t.Errorf("health: %+v", h)
	}
}

func TestCompactWaitsForReadersUntilItsContextEnds(t *testing.T) {
	s := openStore(t, store.Options{})
	putPage(t, s, "https://read.test/", "text")
	flush(t, s)
	reader, err := s.Records().Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := s.Compact(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Compact with an open reader: %v, want that it was cancelled", err)
	}
}
