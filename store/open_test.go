package store_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/readthru/readthru/store"
)

func TestStoreWithoutAWriteOpensQuietly(t *testing.T) {
	var log bytes.Buffer
	dir := t.TempDir()
	for range 3 {
		s, err := store.Open(store.Options{Dir: dir, Log: logTo(&log)})
		if err != nil {
			t.Fatalf("Open: %v", err)
		}
		if h := s.Health(); h.Lost || h.SetAside != "" {
			t.Errorf("Health() = %+v, want a sound store", h)
		}
		closeStore(t, s)
	}
	if strings.Contains(log.String(), "level=WARN") || strings.Contains(log.String(), "level=ERROR") {
		t.Errorf("three openings of an empty store said:\n%s", &log)
	}
}
