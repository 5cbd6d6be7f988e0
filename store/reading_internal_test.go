package store

import (
	"fmt"
	"sync"
	"testing"
)

// TestReadsSeeWhatWasWritten reads each record by several goroutines as soon as it is written, on both ways to write.
func TestReadsSeeWhatWasWritten(t *testing.T) {
	s, err := Open(Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	for n := range 200 {
		value := fmt.Sprint(n)
		if err := s.records.Apply(Change{Key: "k/x", Value: []byte(value)}); err != nil {
			t.Fatal(err)
		}
		b := &batch{}
		b.set("q/x", []byte(value))
		if err := s.kv.apply(b); err != nil {
			t.Fatal(err)
		}
		if n%2 == 0 {
			s.settle() // else it may be queued still
		}
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for _, key := range []string{"k/x", "q/x"} {
					if got, err := s.kv.get(key); err != nil || string(got) != value {
						t.Errorf("%s: %q, %v; want %q", key, got, err, value)
					}
				}
			})
		}
		readers.Wait()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if s.kv.reading.now != nil {
		t.Error("a snapshot outlives the store")
	}
}
