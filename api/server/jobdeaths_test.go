package server_test

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/needs"
)

// Environment variables that make a test live a life until its process is killed: in which directory, which life, and
// before which of its writes.
const (
	lifeDir   = "READTHRU_API_TEST_LIFE"
	lifeName  = lifeDir + "_NAME"
	lifePoint = lifeDir + "_POINT"
)

// writes are the works before which a process dies: between two of them it writes no record.
var writes = []string{"store: commit", "store: commit records"}

// baseLife is what happens to a knowledge base.
type baseLife struct {
	name string
	acts []baseAct
}

type baseAct struct {
	name      string
	ask       func(t *testing.T, w *world) (*api.Filling, error)
	documents int    // of the base afterwards; negative: there is none
	word      string // which these have, and those before do not
}

func baseLives() []baseLife {
	files := func(refresh bool, texts ...string) func(*testing.T, *world) (*api.Filling, error) {
		return func(t *testing.T, w *world) (*api.Filling, error) {
			t.Helper()
			dir := t.TempDir()
			for i, text := range texts {
				write(t, filepath.Join(dir, fmt.Sprintf("note%d.md", i)), "# Note\n\n"+text+"\n")
			}
			q := api.FilesQuery{Name: "life", Paths: []string{dir}, Refresh: refresh}
			return w.client.FillFromFiles(t.Context(), q, parcelOf(t, dir))
		}
	}
	crawl := func(revised bool) func(*testing.T, *world) (*api.Filling, error) {
		return func(t *testing.T, w *world) (*api.Filling, error) {
			t.Helper()
			w.revised.Store(revised)
			if revised {
				return w.client.RefreshBase(t.Context(), "life", 0)
			}
			return w.client.CreateBase(t.Context(), api.NewBase{Name: "life", Crawl: "https://example.com/site/"})
		}
	}
	gone := baseAct{"delete it", func(t *testing.T, w *world) (*api.Filling, error) {
		t.Helper()
		_, err := w.client.DeleteBase(t.Context(), "life")
		return nil, err
	}, -1, ""}
	return []baseLife{
		{"files", []baseAct{
			{"fill it", files(false, "Of a quince.", "Of a medlar.", "Of a sloe."), 3, "medlar"},
			{"fill it again", files(true, "Of a quince.", "Of a bullace."), 2, "bullace"},
			gone,
		}},
		{"crawl", []baseAct{{"fill it", crawl(false), 3, "heading"}, {"fill it again", crawl(true), 3, "quinces"}, gone}},
	}
}

// live does what is left of a life, after done parts: each act is one that is asked for and one that is done.
func (l *baseLife) live(t *testing.T, w *world, done int, told func(parts int)) {
	t.Helper()
	for i, a := range l.acts {
		if done > 2*i+1 {
			continue
		}
		if done <= 2*i {
			f, err := a.ask(t, w)
			if err != nil {
				t.Fatalf("%s: %v", a.name, err)
			}
			told(2*i + 1)
			if f != nil {
				if last := finished(t, w.client, f, nil); last.State != api.JobDone {
					t.Fatalf("%s: %+v", a.name, last)
				}
			}
		}
		told(2*i + 2)
	}
}

// A daemon that is killed before any write of a job that fills a knowledge base leaves what the next one brings to its
// end: what somebody was told of is done without being asked for again, what nobody was told of can be asked for again,
// and no file is left. Each time a process of its own is killed. make sequences takes every write, make test a few.
func TestADeathAtAnyWriteOfAJobOfABaseIsSurvived(t *testing.T) { // alone: it injects faults
	if dir := os.Getenv(lifeDir); dir != "" {
		liveUntilKilled(t, dir)
		return
	}
	every := 9
	switch {
	case os.Getenv("READTHRU_SEQUENCES_FOR") != "":
		every = 1
	case needs.Brief():
		every = 25
	}
	for _, l := range baseLives() {
		var points atomic.Int64
		fault.Inject(func(work string) {
			if slices.Contains(writes, work) {
				points.Add(1)
			}
		})
		w := newWorld(t, nil)
		l.live(t, w, 0, func(int) {})
		w.shut()
		fault.Inject(nil)
		if points.Load() < 10 {
			t.Fatalf("%s: %d writes", l.name, points.Load())
		}
		for point := 0; point < int(points.Load()); point += every {
			t.Run(fmt.Sprintf("%s, write %d", l.name, point), func(t *testing.T) { l.die(t, point) })
		}
	}
}

// liveUntilKilled lives the life that the environment names, and kills its process.
func liveUntilKilled(t *testing.T, dir string) {
	t.Helper()
	lives := baseLives()
	l := &lives[slices.IndexFunc(lives, func(l baseLife) bool { return l.name == os.Getenv(lifeName) })]
	until, _ := strconv.ParseInt(os.Getenv(lifePoint), 10, 64)
	var seen atomic.Int64
	kill := func() {
		if p, err := os.FindProcess(os.Getpid()); err == nil {
			_ = p.Kill()
		}
		select {}
	}
	fault.Inject(func(work string) {
		if slices.Contains(writes, work) && seen.Add(1) > until {
			kill()
		}
	})
	l.live(t, newWorldIn(t, dir, nil, nil, nil), 0, func(parts int) { fmt.Println("told", parts) })
	fmt.Println("told all")
	kill()
}

// die lives a life until it dies, and what is left of it after that.
func (l *baseLife) die(t *testing.T, point int) {
	t.Helper()
	dir := t.TempDir()
	cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+strings.Split(t.Name(), "/")[0]+"$", "-test.v")
	cmd.Env = append(os.Environ(), lifeDir+"="+dir, lifeName+"="+l.name, lifePoint+"="+strconv.Itoa(point),
		"TMPDIR="+t.TempDir())
	var said bytes.Buffer
	cmd.Stdout, cmd.Stderr = &said, &said
	if err := cmd.Run(); err == nil || strings.Contains(said.String(), "--- FAIL") {
		t.Fatalf("it was not killed: %v\n%s", err, &said)
	}
	done := 0
	for line := range strings.Lines(said.String()) {
		_, _ = fmt.Sscanf(line, "told %d", &done)
	}
	w := newWorldIn(t, dir, nil, nil, nil)
	w.revised.Store(done >= 3)
	w.server.Memory().Resume()
	w.settle(t)
	if i := (done+1)/2 - 1; i >= 0 && done%2 == 1 {
		l.acts[i].check(t, w, "what somebody was told of")
	}
	l.finish(t, w, done)
	if left, err := filepath.Glob(filepath.Join(dir, "parcel*")); err != nil || len(left) > 0 {
		t.Errorf("files are left: %q, %v", left, err)
	}
}

// finish does what is left of a life. Nobody knows whether the first act was done that nobody was told of: when it
// was, to ask for it again is refused.
func (l *baseLife) finish(t *testing.T, w *world, done int) {
	t.Helper()
	for i := (done + 1) / 2; i < len(l.acts); i++ {
		a := &l.acts[i]
		f, err := a.ask(t, w)
		if status := statusOf(err); i == (done+1)/2 && (status == http.StatusConflict || status == http.StatusNotFound) {
			w.settle(t)
		} else if err != nil {
			t.Fatalf("%s: %v", a.name, err)
		} else if f != nil {
			if last := finished(t, w.client, f, nil); last.State != api.JobDone {
				t.Fatalf("%s: %+v", a.name, last)
			}
		}
		a.check(t, w, a.name)
	}
}

// settle waits until no job runs, and all is indexed.
func (w *world) settle(t *testing.T) {
	t.Helper()
	list, err := w.client.Jobs(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, j := range list.Jobs {
		if err := w.client.WatchJob(t.Context(), j.ID, func(api.Job) error { return nil }); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.know.Drain(context.WithoutCancel(t.Context())); err != nil {
		t.Fatal(err)
	}
}

// check compares the base with what an act makes of it.
func (a *baseAct) check(t *testing.T, w *world, when string) {
	t.Helper()
	b, err := w.client.Base(t.Context(), "life")
	if a.documents < 0 {
		if statusOf(err) != http.StatusNotFound {
			t.Errorf("%s: %+v, %v, want no base", when, b, err)
		}
		return
	}
	if err != nil || b.Documents != a.documents || b.Building || b.Paused {
		jobs, _ := w.client.Jobs(t.Context())
		t.Fatalf("%s: %+v, %v, want %d documents; jobs %+v", when, b, err, a.documents, jobs)
	}
	if res, err := w.client.Search(t.Context(), api.SearchQuery{Text: a.word, KB: "life"}); err != nil ||
		len(res.Hits) == 0 {
		t.Errorf("%s: %q is not found: %+v, %v", when, a.word, res, err)
	}
}
