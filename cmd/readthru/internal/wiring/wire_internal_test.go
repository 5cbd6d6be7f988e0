package wiring

import (
	"bytes"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
)

func TestPartitionKeyIsKeptAndSetAsideIfDamaged(t *testing.T) {
	dir := t.TempDir()
	first, err := partitionKey(dir, slog.New(slog.DiscardHandler))
	if err != nil || len(first) != 32 {
		t.Fatalf("%x, %v", first, err)
	}
	if again, err := partitionKey(dir, slog.New(slog.DiscardHandler)); err != nil || !bytes.Equal(first, again) {
		t.Errorf("%x, %v, want %x", again, err, first)
	}
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 || entries[0].Name() != "cache.key" {
		t.Errorf("the directory holds %v, %v, want cache.key alone", entries, err)
	}
	if info, err := os.Stat(filepath.Join(dir, "cache.key")); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v, want mode 0600", info, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "cache.key"), []byte("short"), 0o600); err != nil {
		t.Fatal(err)
	}
	fresh, err := partitionKey(dir, slog.New(slog.DiscardHandler))
	if err != nil || len(fresh) != 32 || bytes.Equal(fresh, first) {
		t.Errorf("after damage: %x, %v, want a new key", fresh, err)
	}
	aside, _ := filepath.Glob(filepath.Join(dir, "cache.key.damaged-*")) // the pattern is well-formed
	if len(aside) != 1 {
		t.Fatalf("set aside: %q, want one file", aside)
	}
	if kept, err := os.ReadFile(aside[0]); err != nil || string(kept) != "short" {
		t.Errorf("set aside: %q, %v", kept, err)
	}
}
