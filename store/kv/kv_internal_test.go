package kv

import (
	"log/slog"
	"testing"
)

// testOptions are those of a store whose user takes no notice of changes.
func testOptions(t *testing.T) Options {
	t.Helper()
	return Options{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Schema: Schema{1, 1},
		Recount:  func(_ *DB, before Totals) Totals { return before },
		LastJob:  func(*DB) uint64 { return 0 },
		OnChange: func(string) {}, OnDrop: func() {},
	}
}

func openTest(t *testing.T, o Options) *DB {
	t.Helper()
	k, err := Open(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t *testing.T, k *DB, key string, value []byte) {
	t.Helper()
	b := &Batch{}
	b.Set(key, value)
	if err := k.Apply(b); err != nil {
		t.Fatal(err)
	}
}

func closeTest(t *testing.T, k *DB) {
	t.Helper()
	if err := k.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
