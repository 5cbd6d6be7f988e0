package store_test

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/readthru/readthru/store"
)

func TestBodyReadLater(t *testing.T) {
	s := openStore(t, store.Options{})
	for _, content := range []string{"", "short", strings.Repeat("a line of text\n", store.PartSize/5)} {
		r := put(t, s, response("https://later.test/"), content)
		for _, on := range []string{"memory", "disk"} {
			b := s.Later(r)
			if b.Len() != int64(len(content)) || b.Sum() != r.Body {
				t.Errorf("%d bytes in %s: Len %d, Sum %s", len(content), on, b.Len(), b.Sum())
			}
			if err := b.Ready(); err != nil {
				t.Errorf("%d bytes in %s: Ready: %v", len(content), on, err)
			}
			if got, err := io.ReadAll(b); err != nil || string(got) != content {
				t.Errorf("%d bytes in %s: read %d, %v", len(content), on, len(got), err)
			}
			_ = b.Close()
			flush(t, s)
			s.Chill()
		}
	}
}

func TestBodyReadLaterIsNotDeletedMeanwhile(t *testing.T) {
	s := openStore(t, store.Options{})
	long := strings.Repeat("a line of text\n", store.PartSize/5)
	r := put(t, s, response("https://later.test/"), long)
	b := s.Later(r)
	defer func() { _ = b.Close() }()
	if _, err := s.DeleteResponses(r.URL); err != nil {
		t.Fatal(err)
	}
	flush(t, s)
	s.Chill()
	if got, err := io.ReadAll(b); err != nil || string(got) != long {
		t.Errorf("read %d bytes of %d, %v", len(got), len(long), err)
	}
}

func TestLostBodyReadLater(t *testing.T) {
	s := openStore(t, store.Options{})
	r := put(t, s, response("https://later.test/"), "what will be lost")
	flush(t, s)
	s.Chill()
	if err := s.PutRaw(store.PartKey(r.Body, 0), []byte("not a record")); err != nil {
		t.Fatal(err)
	}
	b := s.Later(r)
	defer func() { _ = b.Close() }()
	if err := b.Ready(); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Ready: %v, want ErrNotFound", err)
	}
	if n, err := b.Read(make([]byte, 10)); n != 0 || !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Read: %d, %v; want 0, ErrNotFound", n, err)
	}
	if _, err := s.Use(r); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Use afterwards: %v, want ErrNotFound", err)
	}
}
