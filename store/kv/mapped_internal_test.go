package kv

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"
)

// What the engine has mapped leaves the process's memory, also while it is read and tables come and go, and no byte
// changes.
func TestTablesAreLetGoUnderReaders(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("only Linux tells what is mapped")
	}
	real := t.TempDir()
	dir := filepath.Join(t.TempDir(), "link") // the system knows the directory by another name
	if err := os.Symlink(real, dir); err != nil {
		t.Fatal(err)
	}
	o := testOptions(t)
	o.Dir = dir
	k := openTest(t, o)
	contents := map[string][]byte{}
	fill := func(from int) {
		for i := range 20 {
			content := make([]byte, 100<<10)
			_, _ = rand.NewChaCha8([32]byte{byte(from), byte(i)}).Read(content)
			key := fmt.Sprintf("b/%d/%d", from, i)
			b := &Batch{}
			b.Set(key, content)
			if err := k.Apply(b); err != nil {
				t.Error(err)
				return
			}
			contents[key] = content
		}
		if err := k.Barrier(true); err != nil {
			t.Error(err)
		}
	}
	fill(0)
	closeTest(t, k) // what was written is in tables now
	k = openTest(t, o)
	defer func() { closeTest(t, k) }()

	before := contents
	readAll := func() {
		for key, want := range before {
			if got, err := k.Get(key); err != nil || !bytes.Equal(got, want) {
				t.Errorf("%s: %d bytes, %v, want %d bytes", key, len(got), err, len(want))
			}
		}
	}
	readAll()
	if got := residentTables(t, real); got < 1<<18 {
		t.Fatalf("%d bytes of tables are resident after they were read: the test does not see them", got)
	}
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Minute)
	bounded := make(chan struct{})
	go func() { defer close(bounded); k.boundMapped(ctx, 0) }()
	for residentTables(t, real) != 0 && ctx.Err() == nil {
		runtime.Gosched()
	}
	if ctx.Err() != nil {
		t.Errorf("%d bytes of tables stay resident", residentTables(t, real))
	}
	stop()
	<-bounded

	contents = map[string][]byte{}
	done := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		defer close(done)
		for n := range 2 {
			fill(1 + n)
			if err := k.db.Flatten(1); err != nil {
				t.Error(err)
			}
		}
	})
	for range 2 {
		wg.Go(func() {
			for more := true; more; {
				select {
				case <-done:
					more = false
				default:
				}
				readAll()
				k.LetGo(0)
			}
		})
	}
	wg.Wait()
	before = contents
	readAll()
}

// residentTables returns how much of the tables under a directory this process holds in memory, in bytes.
func residentTables(t *testing.T, dir string) (total int64) {
	t.Helper()
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		t.Fatal(err) // Linux tells
	}
	defer func() { _ = f.Close() }() // it was only read
	ours := false
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if strings.Contains(line, "-") && strings.Contains(line, ":") && !strings.HasSuffix(line, "kB") {
			ours = strings.Contains(line, dir) && strings.HasSuffix(line, ".sst")
		}
		var kb int64
		if n, _ := fmt.Sscanf(line, "Rss: %d kB", &kb); n == 1 && ours {
			total += kb << 10
		}
	}
	return total
}

// Without the pool the engine would keep the buffers of its tables: a new version of it may have it elsewhere.
func TestTheEnginesBuffersAreNotKept(t *testing.T) {
	k := openTest(t, testOptions(t))
	defer closeTest(t, k)
	if !keepNoBuffers(k.db) {
		t.Error("the engine's pool of buffers is not where it was")
	}
}
