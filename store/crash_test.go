package store_test

import (
	"bufio"
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/eventually"
	"github.com/readthru/readthru/internal/needs"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// Environment variables that make the test binary a writer: into which directory, and from which number on ("unsynced"
// for writeUnsynced).
const (
	crashDir  = "READTHRU_STORE_TEST_WRITER"
	crashMode = crashDir + "_MODE"
)

// crashContent is what the writer stores as number n: some of one part, some of several, some too long for one
// transaction.
func crashContent(n int) string {
	size := 500 + n*37%20000
	switch n % 10 {
	case 3:
		size = store.PartSize + n
	case 7:
		size = 6*store.PartSize + n
	}
	line := fmt.Sprintf("%d content of a page that was written before the kill\n", n)
	return strings.Repeat(line, size/len(line)+1)
}

func crashURL(n int) string { return fmt.Sprintf("https://crash.test/%d", n%40) }

// writeUntilKilled stores responses and pages, and prints the number of each once it is flushed.
func writeUntilKilled(dir string) {
	s, err := store.Open(store.Options{Dir: dir})
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	start, _ := strconv.Atoi(os.Getenv(crashMode))
	for n := start; ; n++ {
		r := response(crashURL(n))
		r.Class = strconv.Itoa(n)
		content := crashContent(n)
		if err := s.PutResponse(r, strings.NewReader(content), nil); err != nil {
			continue // queue full
		}
		p, md, k := newPage(crashURL(n), content)
		p.ContentHash = store.Sum(sha256.Sum256(md)).String()
		if _, err := s.PutPage(p, md, r.Body); err != nil {
			continue
		}
		s.AddVisit(k, store.Visit{URL: p.URL, Source: page.Local})
		if n%5 == 0 {
			if err := s.Flush(); err != nil {
				fmt.Println("error", err)
				os.Exit(1)
			}
			fmt.Println(n)
		}
	}
}

// writeUnsynced stores responses on a disk whose first sync never ends, and prints the number of each when nothing
// waits to be written; ten are stored meanwhile, because a burst is another matter. What comes first is written while
// nothing is synced, the rest while the sync hangs. Nobody asks the store to write.
func writeUnsynced(dir string) {
	syncing := make(chan struct{})
	s, err := store.OpenWithStuckSync(store.Options{Dir: dir}, sync.OnceFunc(func() { close(syncing) }))
	if err != nil {
		fmt.Println("error", err)
		os.Exit(1)
	}
	young := make(chan struct{}, 10)
	for n := 0; ; n++ {
		young <- struct{}{}
		r := response(crashURL(n))
		r.Class = strconv.Itoa(n)
		if s.PutResponse(r, strings.NewReader(crashContent(n)), nil) != nil {
			<-young
			continue // queue full
		}
		go func() {
			if eventually.Holds(context.Background(), func() bool { return s.Health().Queued == 0 }) == nil {
				fmt.Println(n)
			}
			<-young
		}()
		if n == 10 {
			go func() { _ = s.Flush() }() // it hangs
			<-syncing
		}
	}
}

func TestKillLosesNothingThatWasWrittenWhileASyncHangs(t *testing.T) {
	dir := t.TempDir()
	acked := killAfterSome(t, dir, "unsynced", 60)
	s := openStore(t, store.Options{Dir: dir})
	if h := s.Health(); h.State != "ok" || h.SetAside != "" || h.Damaged != 0 || h.Lost {
		t.Fatalf("Health() = %+v, want a sound store", h)
	}
	found := checkCrashed(t, s)
	if len(acked) < 60 {
		t.Fatalf("%d responses written before the kill, want 60 at least", len(acked))
	}
	for _, n := range acked {
		if !found[n] {
			t.Errorf("response %d was written before the kill and is gone", n)
		}
	}
}

func TestKillLosesNothingThatWasFlushed(t *testing.T) {
	dir := t.TempDir()
	acked := 0
	rounds := 3
	if needs.Brief() {
		rounds = 1
	}
	for round := range rounds {
		acks := killAfterSome(t, dir, strconv.Itoa(acked+1), 12+9*round)
		last := acks[len(acks)-1]
		s, err := store.Open(store.Options{Dir: dir})
		if err != nil {
			t.Fatalf("round %d: Open: %v", round, err)
		}
		if h := s.Health(); h.State != "ok" || h.SetAside != "" || h.Damaged != 0 || h.Lost {
			t.Fatalf("round %d: Health() = %+v, want a sound store", round, h)
		}
		found := checkCrashed(t, s)
		// the newest of a URL; older ones fall to the limit of variants
		for n := max(acked+1, last-20); n <= last; n++ {
			if !found[n] {
				t.Errorf("round %d: response %d was flushed and is gone", round, n)
			}
		}
		if last <= acked {
			t.Fatalf("round %d: nothing was flushed before the kill", round)
		}
		if counted, found := s.RecountedJobs(); counted != found {
			t.Errorf("%d jobs are counted, and %d are there", counted, found)
		}
		got, want := s.Totals(), s.Recounted()
		if got.Pages != want.Pages || got.Versions != want.Versions || got.Responses != want.Responses ||
			got.ResponseBytes != want.ResponseBytes {
			t.Errorf("round %d: Totals() = %+v, counted %+v", round, got, want)
		}
		acked = last + 100
		closeStore(t, s)
	}
}

// killAfterSome starts a writer, kills it after some acknowledgements and returns what it acknowledged.
func killAfterSome(t *testing.T, dir, mode string, acks int) (acked []int) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir, crashMode+"="+mode)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() { // to what it acknowledged before the kill arrived
		n, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Fatalf("writer said %q", lines.Text())
		}
		if acked = append(acked, n); len(acked) == acks {
			time.AfterFunc(time.Duration(acks)*time.Millisecond, func() { _ = cmd.Process.Kill() })
		}
	}
	_ = cmd.Wait() // killed
	if len(acked) == 0 {
		t.Fatal("the writer acknowledged nothing")
	}
	return acked
}

// checkCrashed reads everything that is there: every body must be what its response says, every page must have its job.
func checkCrashed(t *testing.T, s *store.Store) (found map[int]bool) {
	t.Helper()
	found = map[int]bool{}
	for n := range 40 {
		for _, r := range responses(t, s, crashURL(n)) {
			number, _ := strconv.Atoi(r.Class)
			got := bodyOf(t, s, r.Body)
			if got != crashContent(number) || sha256.Sum256([]byte(got)) != [32]byte(r.Body) {
				t.Errorf("response %d has another's body of %d bytes", number, len(got))
			}
			found[number] = true
		}
	}
	jobs := map[page.Key]bool{}
	all, err := s.Jobs("index", 1000)
	if err != nil {
		t.Fatalf("Jobs: %v", err)
	}
	for _, j := range all {
		jobs[j.Page] = true
	}
	pages, _, err := s.Pages(store.PageQuery{Limit: 1000})
	if err != nil {
		t.Fatalf("Pages: %v", err)
	}
	for _, p := range pages {
		k := page.KeyOf(p.NormalizedURL)
		if !jobs[k] {
			t.Errorf("page %s has no job", p.URL)
		}
		if md, err := s.Markdown(k); err != nil || store.Sum(sha256.Sum256(md)).String() != p.ContentHash {
			t.Errorf("page %s: markdown of %d bytes, error %v; want that of its record", p.URL, len(md), err)
		}
	}
	return found
}
