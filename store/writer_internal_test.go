package store

import (
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/http"
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
	s, err := open(Options{Dir: t.TempDir()}, disk{space, syncEngine})
	if err != nil {
		t.Fatal(err)
	}
	k := s.kv
	k.w.stop() // we are the writer now: all of this is one drain

	const key = "q/key"
	random := rand.NewChaCha8([32]byte{1})
	must, large, after := &batch{must: true}, &batch{}, &batch{}
	must.set(key, []byte(strings.Repeat("before", 30)))
	for _, name := range []string{"q/large1", "q/large2"} { // together too much for the transaction of the one before
		value := make([]byte, maxTxnBytes/2-80)
		_, _ = random.Read(value)
		large.set(name, value)
	}
	after.set(key, []byte("after"))
	for _, b := range []*batch{must, large, after} {
		if err := k.apply(b); err != nil {
			t.Fatal(err)
		}
	}
	k.drain()

	writeAgain(k)
	if err := s.Flush(); err != nil {
		t.Errorf("Flush: %v", err)
	}
	if got, err := k.read(key); string(got) != "after" || err != nil {
		t.Errorf("the disk has %.20q, %v, want what was written last", got, err)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

func TestCountsAreRightAgainAfterWritesWereDropped(t *testing.T) {
	looks := 0
	space := func(string) (free, total uint64, err error) {
		if looks++; looks == 2 { // the first was at opening
			return 200 << 20, 100 << 30, nil // nothing but deletions fits
		}
		return 10 << 30, 100 << 30, nil
	}
	o := Options{Dir: t.TempDir()}
	s, err := open(o, disk{space, syncEngine})
	if err != nil {
		t.Fatal(err)
	}
	s.kv.w.stop() // we are the writer now: all of this is one drain
	r := &Response{URL: "https://a.test/", Status: http.StatusOK}
	if err := s.PutResponse(r, strings.NewReader("content"), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := s.DeleteResponses(r.URL); err != nil {
		t.Fatal(err)
	}
	s.kv.drain()
	writeAgain(s.kv)
	if err := s.Close(); err == nil {
		t.Error("Close does not tell that a write was dropped")
	}

	s, err = Open(o)
	if err != nil {
		t.Fatal(err)
	}
	if got := s.Totals(); got.Responses != 0 || got.ResponseBytes != 0 {
		t.Errorf("Totals() = %+v after opening again, want nothing", got)
	}
	if err := s.Close(); err != nil {
		t.Errorf("Close: %v", err)
	}
}

// writeAgain starts the writer that was stopped.
func writeAgain(k *kv) {
	k.w.quit, k.w.done = make(chan struct{}), make(chan struct{})
	go k.runWriter()
}

func TestALackOfTheMachineIsNoDamage(t *testing.T) {
	for err, want := range map[error]bool{
		nil:        false,
		errDamaged: false,
		fmt.Errorf("inspect table: %w", &fs.PathError{Op: "open", Path: "1.sst", Err: syscall.EMFILE}): true,
		fmt.Errorf("open engine: %s", syscall.ENOMEM.Error()):                                          true,
	} {
		if got := lacksResource(err); got != want {
			t.Errorf("lacksResource(%v) = %v, want %v", err, got, want)
		}
	}
}
