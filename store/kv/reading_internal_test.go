package kv

import (
	"fmt"
	"sync"
	"testing"
)

// TestReadsSeeWhatWasWritten reads each record by several goroutines as soon as it is written, on both ways to write.
func TestReadsSeeWhatWasWritten(t *testing.T) {
	k := openTest(t, testOptions(t))
	for n := range 200 {
		value := fmt.Sprint(n)
		b := &Batch{}
		b.Set("k/x", []byte(value))
		if err := k.WriteThrough(b); err != nil {
			t.Fatal(err)
		}
		write(t, k, "q/x", []byte(value))
		if n%2 == 0 { // else it may be queued still
			if err := k.Barrier(false); err != nil {
				t.Fatal(err)
			}
		}
		var readers sync.WaitGroup
		for range 4 {
			readers.Go(func() {
				for _, key := range []string{"k/x", "q/x"} {
					if got, err := k.Get(key); err != nil || string(got) != value {
						t.Errorf("%s: %q, %v; want %q", key, got, err, value)
					}
				}
			})
		}
		readers.Wait()
	}
	closeTest(t, k)
	if k.reading.now != nil {
		t.Error("a snapshot outlives the store")
	}
}
