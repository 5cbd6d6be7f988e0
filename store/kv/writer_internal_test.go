package kv

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"strings"
	"syscall"
	"testing"
)

func TestWhatMustBeWrittenIsNotOvertaken(t *testing.T) {
	looks := 0
	space := func(string) (free, total uint64, err error) {
		if looks++; looks == 2 { // the first was at opening
			return 1 << 20, 100 << 30, nil // not even a deletion fits
		}
		return 10 << 30, 100 << 30, nil
	}
	o := testOptions(t)
	o.Space = space
	k := openTest(t, o)
	k.w.stop() // we are the writer now: all of this is one drain

	const key = "q/key"
	random := rand.NewChaCha8([32]byte{1})
	must, large, after := &Batch{Must: true}, &Batch{}, &Batch{}
	must.Set(key, []byte(strings.Repeat("before", 30)))
	for _, name := range []string{"q/large1", "q/large2"} { // together too much for the transaction of the one before
		value := make([]byte, MaxBatchBytes/2-80)
		_, _ = random.Read(value)
		large.Set(name, value)
	}
	after.Set(key, []byte("after"))
	for _, b := range []*Batch{must, large, after} {
		if err := k.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	k.drain()

	writeAgain(k)
	if err := k.Barrier(true); err != nil {
		t.Errorf("barrier: %v", err)
	}
	if got, err := k.read(key); string(got) != "after" || err != nil {
		t.Errorf("the disk has %.20q, %v, want what was written last", got, err)
	}
	closeTest(t, k)
}

// TestWhatIsAheadIsWrittenBeforeWhatWaits queues what is written ahead, as visits are, behind more than a transaction
// holds.
func TestWhatIsAheadIsWrittenBeforeWhatWaits(t *testing.T) {
	var k *DB
	var written []bool // whether the visit was on the disk at each look at its space, which comes before each commit
	o := testOptions(t)
	o.Space = func(string) (free, total uint64, err error) {
		if k != nil {
			txn := k.db.NewTransaction(false)
			defer txn.Discard()
			_, err := k.readIn(txn, "vi/visit")
			written = append(written, err == nil)
		}
		return 10 << 30, 100 << 30, nil
	}
	opened := openTest(t, o)
	opened.w.stop() // we are the writer now: all of this is one drain
	random := rand.NewChaCha8([32]byte{1})
	for i := range 4 { // no two fit into a transaction
		value := make([]byte, MaxBatchBytes*2/3)
		_, _ = random.Read(value)
		write(t, opened, fmt.Sprintf("q/%d", i), value)
	}
	visit := &Batch{Ahead: true}
	visit.Set("vi/visit", nil)
	if err := opened.Apply(visit); err != nil {
		t.Fatal(err)
	}
	k = opened
	k.drain()
	if len(written) < 4 || !written[1] {
		t.Errorf("at the looks before the commits, the visit was on disk: %v; want it from the second on", written)
	}
	k = nil
	writeAgain(opened)
	closeTest(t, opened)
}

// writeAgain starts the writer that was stopped.
func writeAgain(k *DB) {
	k.w.quit, k.w.done = make(chan struct{}), make(chan struct{})
	go k.runWriter()
}

func TestALackOfTheMachineIsNoDamage(t *testing.T) {
	for err, want := range map[error]bool{
		nil:        false,
		ErrDamaged: false,
		fmt.Errorf("inspect table: %w", &fs.PathError{Op: "open", Path: "1.sst", Err: syscall.EMFILE}): true,
		fmt.Errorf("open engine: %s", syscall.ENOMEM.Error()):                                          true,
	} {
		if got := lacksResource(err); got != want {
			t.Errorf("lacksResource(%v) = %v, want %v", err, got, want)
		}
	}
}
