package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/internal/needs"
)

// kept runs do with a journal that keeps requests in a directory, as one process does.
func kept(t *testing.T, o journal.Options, do func(*journal.Journal)) {
	t.Helper()
	j := journal.New(o)
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- j.Run(ctx) }()
	do(j)
	stop()
	if err := <-done; err != nil {
		t.Error(err)
	}
	j.Close()
}

func fill(j *journal.Journal, prefix string, n int) (want []string) {
	for i := range n {
		e := request(fmt.Sprintf("https://a.test/%s/%d", prefix, i), 200, "miss")
		e.Asked = "Accept: */*\n"
		j.Add(e)
		want = append(want, e.URL)
	}
	return want
}

// all lists requests in parts, oldest first.
func all(t *testing.T, j *journal.Journal, filter string, limit int) (got []string) {
	t.Helper()
	f, err := journal.ParseFilter(filter)
	if err != nil {
		t.Fatal(err)
	}
	for cursor := ""; ; {
		list, next, damage := j.List(f, cursor, limit)
		if len(damage) > 0 {
			t.Errorf("damage: %q", damage)
		}
		got = append(got, urls(list)...)
		if next == cursor && next != "" {
			t.Fatalf("the cursor %s leads to itself", next)
		}
		if cursor = next; cursor == "" {
			slices.Reverse(got)
			return got
		}
	}
}

func files(t *testing.T, dir string) []string {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestRequestsOutliveTheProcess(t *testing.T) {
	o := journal.Options{Dir: filepath.Join(t.TempDir(), "requests"), Days: 3}
	var want []string
	for run := range 3 {
		kept(t, o, func(j *journal.Journal) {
			want = append(want, fill(j, fmt.Sprint("run", run), 300)...)
			if got := all(t, j, "", 77); !slices.Equal(got, want) {
				t.Errorf("process %d lists %d requests, want %d", run, len(got), len(want))
			}
		})
	}
	j := journal.New(journal.Options{Dir: o.Dir}) // it only reads
	if got := all(t, j, "", 300); !slices.Equal(got, want) {
		t.Errorf("%d requests, want %d", len(got), len(want))
	}
	if got := all(t, j, "run1/7", 5); len(got) != 11 {
		t.Errorf("the filter finds %d, want 11: %q", len(got), got)
	}
	list, _, _ := j.List(journal.Filter{}, "", 1000)
	for _, i := range []int{0, 299, 300, 899} {
		e, ok := j.Find(list[i].ID)
		if !ok || e.URL != list[i].URL || e.Asked != "Accept: */*\n" || e.Micros != 1500 {
			t.Errorf("find %s: %v %+v", list[i].ID, ok, e)
		}
	}
	var exported []string
	for e := range j.All(journal.Filter{}, func(damage string) { t.Error(damage) }) {
		exported = append(exported, e.URL)
	}
	if !slices.Equal(exported, want) {
		t.Errorf("%d requests are exported, want %d", len(exported), len(want))
	}
	if info, err := os.Stat(files(t, o.Dir)[0]); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("a file of requests is readable by others: %v %v", info.Mode(), err)
	}
	for _, cursor := range []string{"no cursor at all", "0123456789abcdef"} {
		if list, next, _ := j.List(journal.Filter{}, cursor, 5); len(list) != 0 || next != "" {
			t.Errorf("the cursor %q gives %d requests", cursor, len(list))
		}
	}
}

func TestMoreThanMemoryHoldsIsListedOnce(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Days: 1}
	synctest.Test(t, func(t *testing.T) {
		kept(t, o, func(j *journal.Journal) {
			var want []string
			for i := range 15 {
				want = append(want, fill(j, fmt.Sprint(i), 1000)...)
				time.Sleep(2 * time.Second) // it is written meanwhile
			}
			if got := all(t, j, "", 5000); !slices.Equal(got, want) {
				t.Errorf("%d requests, want %d", len(got), len(want))
			}
			var exported []string
			for e := range j.All(journal.Filter{}, func(damage string) { t.Error(damage) }) {
				exported = append(exported, e.URL)
			}
			if !slices.Equal(exported, want) {
				t.Errorf("%d requests are exported, want %d", len(exported), len(want))
			}
			if err := j.Clear(); err != nil {
				t.Error(err)
			}
			if got := all(t, j, "", 5000); len(got) != 0 || len(files(t, o.Dir)) != 0 {
				t.Errorf("%d requests and files %q after all were cleared", len(got), files(t, o.Dir))
			}
			want = fill(j, "after", 3)
			time.Sleep(2 * time.Second)
			if got := all(t, j, "", 10); !slices.Equal(got, want) {
				t.Errorf("requests %q after all were cleared, want %q", got, want)
			}
		})
	})
}

func TestFilesAreBounded(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Days: 2, MaxSize: 4 << 20}
	synctest.Test(t, func(t *testing.T) {
		kept(t, o, func(j *journal.Journal) {
			time.Sleep(500 * time.Millisecond) // so that no write falls among what is added
			for i := range 12 {
				for range 8 {
					e := request(fmt.Sprint("https://a.test/", i), 200, "miss")
					e.Error = strings.Repeat("x", 100<<10)
					j.Add(e)
				}
				time.Sleep(2 * time.Second)
			}
			var sum int64
			for _, name := range files(t, o.Dir) {
				info, err := os.Stat(name)
				if err != nil {
					t.Fatal(err)
				}
				sum += info.Size()
			}
			if sum > 6<<20 || sum < 2<<20 {
				t.Errorf("%d bytes are kept, want about %d", sum, o.MaxSize)
			}
			time.Sleep(72 * time.Hour)
			fill(j, "later", 1)
			time.Sleep(2 * time.Second)
			if n := len(files(t, o.Dir)); n != 1 {
				t.Errorf("%d files after three days, want 1", n)
			}
		})
	})
}

func TestDamageIsToldAndLosesNothingElse(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Days: 1}
	for run := range 3 {
		kept(t, o, func(j *journal.Journal) { fill(j, fmt.Sprint("run", run), 10) })
	}
	names := files(t, o.Dir)
	if len(names) != 3 {
		t.Fatalf("files %q, want one for each process", names)
	}
	b, err := os.ReadFile(names[1])
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(string(b), "\n")
	lines[3], lines[4] = "\x00\xff garbage\n", `{"id":"x"}`+"\n"
	b = []byte(strings.Join(lines, ""))
	if err := os.WriteFile(names[1], b[:len(b)-20], 0o600); err != nil { // and a crash cut the last line off
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(o.Dir, "00000009-20260101-0000000a.jsonl"), 0o700); err != nil {
		t.Fatal(err)
	}
	j := journal.New(o)
	list, next, damage := j.List(journal.Filter{}, "", 100)
	if len(list) != 27 || next != "" {
		t.Errorf("%d requests, want 27", len(list))
	}
	if text := strings.Join(damage, "\n"); len(damage) != 2 || !strings.Contains(text, "2 damaged lines") ||
		!strings.Contains(text, filepath.Base(names[1])) || !strings.Contains(text, "0000000a.jsonl") {
		t.Errorf("damage %q, want that of two files", damage)
	}
}

func TestARequestThatWasCutOffIsToldOnce(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Days: 1}
	kept(t, o, func(j *journal.Journal) { fill(j, "run", 3) })
	names := files(t, o.Dir)
	b, err := os.ReadFile(names[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(names[0], b[:len(b)-20], 0o600); err != nil {
		t.Fatal(err)
	}
	j := journal.New(o)
	for i, want := range []int{1, 0, 0} {
		list, _, damage := j.List(journal.Filter{}, "", 100)
		if len(list) != 2 || len(damage) != want || want > 0 && !strings.Contains(damage[0], "was not written whole") {
			t.Errorf("%d: %d requests, damage %q", i, len(list), damage)
		}
	}
}

func TestARuleThatHidesRequestsIsToldOf(t *testing.T) {
	j := journal.New(journal.Options{})
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	j.Add(&journal.Entry{Time: at, Rule: "a.test/favicon.ico", Hidden: true})
	if s := j.Sums(); s.Hidden != 1 || !s.Hiding["a.test/favicon.ico"].Equal(at) {
		t.Errorf("%d hidden, by %v", s.Hidden, s.Hiding)
	}
}

func TestNothingIsWrittenUnlessAsked(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "requests")
	for _, o := range []journal.Options{{Dir: dir}, {Dir: dir, Days: 1, Full: func() bool { return true }}} {
		kept(t, o, func(j *journal.Journal) { fill(j, "x", 3) })
		if _, err := os.Stat(dir); err == nil {
			t.Errorf("%+v: the directory was made", o)
		}
	}
}

func TestTheLastRequestsAreKeptHoweverOldTheyAre(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Last: 1000}
	synctest.Test(t, func(t *testing.T) {
		var want []string
		for run := range 8 {
			kept(t, o, func(j *journal.Journal) {
				for i := range 4 {
					want = append(want, fill(j, fmt.Sprint(run, "/", i), 200)...)
					time.Sleep(2 * time.Second)
				}
			})
			time.Sleep(48 * time.Hour)
		}
		j := journal.New(o)
		if got := all(t, j, "", 5000); len(got) < 1000 || len(got) > 1000+2*800 ||
			!slices.Equal(got, want[len(want)-len(got):]) {
			t.Errorf("%d requests are kept, want the last 1,000 and those of two files", len(got))
		}
	})
}

func TestProcessesThatTellLittleLeaveFewFiles(t *testing.T) {
	needs.Long(t, "it stands for 300 processes")
	o := journal.Options{Dir: t.TempDir(), Last: 5000}
	var want []string
	for run := range 300 {
		kept(t, o, func(j *journal.Journal) { want = append(want, fill(j, fmt.Sprint(run), 1)...) })
	}
	if n := len(files(t, o.Dir)); n > 257 || n < 250 {
		t.Errorf("%d files of 300 processes", n)
	}
	if got := all(t, journal.New(o), "", 5000); !slices.Equal(got, want[len(want)-len(got):]) {
		t.Error("the requests are not the last ones")
	}
}

func TestMuchIsWrittenSeldom(t *testing.T) {
	o := journal.Options{Dir: t.TempDir(), Last: 5000}
	written := func() (n int64) {
		for _, name := range files(t, o.Dir) {
			info, err := os.Stat(name)
			if err != nil {
				t.Fatal(err)
			}
			n += info.Size()
		}
		return n
	}
	synctest.Test(t, func(t *testing.T) {
		kept(t, o, func(j *journal.Journal) {
			time.Sleep(500 * time.Millisecond)
			fill(j, "few", 100)
			time.Sleep(time.Second)
			first := written()
			if first == 0 {
				t.Error("a few requests are not written after a second")
			}
			for range 3 {
				fill(j, "many", 4000)
				time.Sleep(time.Second)
			}
			if now := written(); now != first {
				t.Errorf("%d bytes more are written after three seconds", now-first)
			}
			time.Sleep(3 * time.Second)
			if got := all(t, journal.New(o), "", 9000); len(got) != 5100 || got[5099] != "https://a.test/many/3999" {
				t.Errorf("%d requests are on disk, want the 5,000 in memory and 100", len(got))
			}
		})
	})
}
