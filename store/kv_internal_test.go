package store

import (
	"log/slog"
	"testing"
)

// testOptions are those of a store whose user takes no notice of changes.
func testOptions(t *testing.T) options {
	t.Helper()
	return options{
		Dir: t.TempDir(), Log: slog.New(slog.DiscardHandler), Schema: schema{1, 1},
		Recount:  func(_ *kv, before totals) totals { return before },
		LastJob:  func(*kv) uint64 { return 0 },
		OnChange: func(string) {}, OnDrop: func() {},
	}
}

func openTest(t *testing.T, o options) *kv {
	t.Helper()
	k, err := openKV(o)
	if err != nil {
		t.Fatal(err)
	}
	return k
}

func write(t *testing.T, k *kv, key string, value []byte) {
	t.Helper()
	b := &batch{}
	b.set(key, value)
	if err := k.apply(b); err != nil {
		t.Fatal(err)
	}
}

func closeTest(t *testing.T, k *kv) {
	t.Helper()
	if err := k.close(); err != nil {
		t.Errorf("close: %v", err)
	}
}
