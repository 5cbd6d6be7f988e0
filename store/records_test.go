package store_test

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/readthru/readthru/store"
)

func applyRecords(t *testing.T, r *store.Records, changes ...store.Change) {
	t.Helper()
	if err := r.Apply(changes...); err != nil {
		t.Fatalf("Apply: %v", err)
	}
}

func TestRecordsAreThereAtOnceTogetherAndInOrder(t *testing.T) {
	s := openStore(t, store.Options{})
	r := s.Records()
	applyRecords(t, r,
		store.Change{Key: "k/a/2", Value: []byte("two")}, store.Change{Key: "k/a/1", Value: []byte("one")},
		store.Change{Key: "k/a/3"}, store.Change{Key: "k/b/1", Value: []byte("other")})
	if got, err := r.Get("k/a/1"); err != nil || string(got) != "one" {
		t.Errorf("Get = %q, %v", got, err)
	}
	walk := func(prefix, from string) (list []string) {
		r.Walk(prefix, from, func(key string, value []byte) bool {
			list = append(list, key+"="+string(value))
			return true
		})
		return list
	}
	if got := walk("k/a/", ""); !slices.Equal(got, []string{"k/a/1=one", "k/a/2=two", "k/a/3="}) {
		t.Errorf("Walk = %v", got)
	}
	if got := walk("k/a/", "k/a/2"); !slices.Equal(got, []string{"k/a/2=two", "k/a/3="}) {
		t.Errorf("Walk from 2 = %v", got)
	}
	applyRecords(t, r, store.Change{Key: "k/a/1", Gone: true}, store.Change{Key: "k/a/2", Value: []byte("new")})
	var keys []string
	r.Keys("k/", "", func(key string) bool {
		keys = append(keys, key)
		return len(keys) < 2
	})
	if !slices.Equal(keys, []string{"k/a/2", "k/a/3"}) {
		t.Errorf("Keys, stopped after two = %v", keys)
	}
	if _, err := r.Get("k/a/1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a deleted record: %v, want ErrNotFound", err)
	}
}

// TestNoReadSeesLessThanOneBeforeIt reads each key that a walk or a snapshot found, while keys are written.
func TestNoReadSeesLessThanOneBeforeIt(t *testing.T) {
	r := openStore(t, store.Options{}).Records()
	const keys = 3000
	var written sync.WaitGroup
	defer written.Wait()
	written.Go(func() {
		for n := range keys {
			if err := r.Apply(store.Change{Key: fmt.Sprintf("k/a/%04d", n)}); err != nil {
				t.Errorf("Apply: %v", err)
				return
			}
		}
	})
	readBack := func(how, key string) {
		if _, err := r.Get(key); err != nil {
			t.Errorf("Get of %s, which %s found: %v", key, how, err)
		}
	}
	for from := 0; from < keys && !t.Failed(); {
		r.Keys("k/a/", fmt.Sprintf("k/a/%04d", from), func(key string) bool {
			readBack("a walk", key)
			from++
			return true
		})
		s, err := r.Snapshot()
		if err != nil {
			t.Fatal(err)
		}
		if key := fmt.Sprintf("k/a/%04d", from); from < keys {
			if _, err := s.Get(key); err == nil {
				readBack("a snapshot", key)
			}
		}
		s.Close()
	}
}

func TestASnapshotDoesNotSeeWhatComesAfter(t *testing.T) {
	s := openStore(t, store.Options{})
	r := s.Records()
	applyRecords(t, r, store.Change{Key: "k/1", Value: []byte("old")})
	snap, err := r.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	applyRecords(t, r, store.Change{Key: "k/1", Value: []byte("new")}, store.Change{Key: "k/2", Value: []byte("more")})
	if got, err := snap.Get("k/1"); err != nil || string(got) != "old" {
		t.Errorf("Get = %q, %v, want the old value", got, err)
	}
	n := 0
	snap.Walk("k/", "", func(string, []byte) bool { n++; return true })
	if n != 1 {
		t.Errorf("Walk met %d records, want 1", n)
	}
	snap.Close()
	snap.Close()
}

func TestRecordsRefuseWhatDoesNotFit(t *testing.T) {
	s := openStore(t, store.Options{})
	many := make([]store.Change, store.MaxChanges+1)
	for i := range many {
		many[i].Key = fmt.Sprintf("k/%d", i)
	}
	half := bytes.Repeat([]byte("x"), store.MaxChangeBytes/2)
	for name, changes := range map[string][]store.Change{
		"another class":    {{Key: "k/good"}, {Key: "p/page"}},
		"too many":         many,
		"too large":        {{Key: "k/good"}, {Key: "k/1", Value: make([]byte, 1<<20)}},
		"together too big": {{Key: "k/1", Value: half}, {Key: "k/2", Value: half}},
		"a key too long":   {{Key: "k/" + strings.Repeat("x", 5000)}},
	} {
		if err := s.Records().Apply(changes...); err == nil || errors.Is(err, store.ErrFull) {
			t.Errorf("%s: Apply = %v, want an error that waiting does not mend", name, err)
		}
	}
	if got := s.Keys("k/"); len(got) != 0 {
		t.Errorf("something of it was stored: %q", got)
	}
	// The most that fits does fit: no refusal of the engine is hidden behind these limits.
	value := make([]byte, store.MaxChangeBytes/store.MaxChanges-48)
	for i := range many {
		many[i] = store.Change{Key: fmt.Sprintf("k/%06d", i), Value: value}
	}
	applyRecords(t, s.Records(), many[:store.MaxChanges]...)
}

func TestRecordsSurviveReopeningBackupAndEviction(t *testing.T) {
	dir := t.TempDir()
	s := openStore(t, store.Options{Dir: dir, MaxSize: 1})
	text := strings.Repeat("compressible words ", 4000)
	applyRecords(t, s.Records(), store.Change{Key: "k/1", Value: []byte(text)})
	put(t, s, response("https://a.test/"), strings.Repeat("x", 10000)) // over the quota: evicted
	flush(t, s)
	var backup bytes.Buffer
	if err := s.Backup(&backup); err != nil {
		t.Fatal(err)
	}
	closeStore(t, s)
	restored := t.TempDir() + "/restored"
	if err := store.Restore(restored, &backup); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{dir, restored} {
		s := openStore(t, store.Options{Dir: dir})
		if got, err := s.Records().Get("k/1"); err != nil || string(got) != text {
			t.Errorf("Get from %s: %d bytes, %v", dir, len(got), err)
		}
	}
}

func TestADamagedRecordIsAMissAndGoes(t *testing.T) {
	s := openStore(t, store.Options{})
	applyRecords(t, s.Records(), store.Change{Key: "k/1", Value: []byte("one")},
		store.Change{Key: "k/2", Value: []byte("two")})
	for _, key := range []string{"k/1", "k/2"} {
		if err := s.PutRaw(key, []byte("this is no record at all")); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := s.Records().Get("k/1"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get of a damaged record = %q, %v, want ErrNotFound", got, err)
	}
	s.Records().Walk("k/", "", func(key string, value []byte) bool {
		t.Errorf("Walk gives the damaged record %s = %q", key, value)
		return true
	})
	flush(t, s)
	if got := s.Keys("k/"); len(got) != 0 || s.Health().Damaged < 2 {
		t.Errorf("left %q, %d counted as damaged", got, s.Health().Damaged)
	}
	applyRecords(t, s.Records(), store.Change{Key: "k/1", Value: []byte("again")})
	if got, err := s.Records().Get("k/1"); err != nil || string(got) != "again" {
		t.Errorf("Get after writing it again = %q, %v", got, err)
	}
}

func TestANearlyFullDiskTakesOnlyDeletions(t *testing.T) {
	free := uint64(100 << 30)
	s, err := store.OpenWithSpace(store.Options{Dir: t.TempDir()},
		func(string) (uint64, uint64, error) { return free, 200 << 30, nil })
	if err != nil {
		t.Fatal(err)
	}
	r := s.Records()
	applyRecords(t, r, store.Change{Key: "k/1", Value: []byte("one")})
	free = 300 << 20
	if err := r.Apply(store.Change{Key: "k/1", Gone: true}, store.Change{Key: "k/2"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("Apply on a nearly full disk: %v, want ErrFull", err)
	}
	if _, err := r.Get("k/1"); err != nil {
		t.Errorf("Get on a nearly full disk: %v", err)
	}
	applyRecords(t, r, store.Change{Key: "k/1", Gone: true})
	free = 100 << 30
	applyRecords(t, r, store.Change{Key: "k/2"})
	closeStore(t, s)
	if err := r.Apply(store.Change{Key: "k/3"}); !errors.Is(err, store.ErrFull) {
		t.Errorf("Apply after Close: %v, want ErrFull", err)
	}
	if _, err := r.Get("k/2"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Get after Close: %v, want ErrNotFound", err)
	}
	if _, err := r.Snapshot(); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("Snapshot after Close: %v, want ErrNotFound", err)
	}
	r.Walk("k/", "", func(string, []byte) bool { t.Error("Walk after Close finds something"); return false })
}

func TestRecordsAreSyncedByThemselves(t *testing.T) {
	begun := make(chan struct{}, 16)
	s, err := store.OpenWithSync(store.Options{Dir: t.TempDir()}, func() { begun <- struct{}{} })
	if err != nil {
		t.Fatal(err)
	}
	defer closeStore(t, s)
	applyRecords(t, s.Records(), store.Change{Key: "k/1"})
	<-begun
}

func BenchmarkApplyAMegabyte(b *testing.B) {
	s := openStore(b, store.Options{})
	text := []byte(strings.Repeat("some words of an index, ", 1400))
	b.SetBytes(30 * int64(len(text)))
	n := 0
	for b.Loop() {
		changes := make([]store.Change, 30)
		for i := range changes {
			n++
			changes[i] = store.Change{Key: fmt.Sprintf("k/t/%08d", n), Value: text}
		}
		if err := s.Records().Apply(changes...); err != nil {
			b.Fatal(err)
		}
	}
}
