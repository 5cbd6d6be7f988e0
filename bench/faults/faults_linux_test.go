package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/readthru/readthru/internal/webtest"
)

// binary is the program under test.
var binary string

func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == launched {
		fmt.Fprintln(os.Stderr, "faults: error:", launch(os.Args[2:]))
		os.Exit(1)
	}
	dir, err := os.MkdirTemp("", "readthru-faults-")
	if err != nil {
		log.Fatal(err)
	}
	if binary, err = webtest.Program(context.Background(), dir); err != nil {
		log.Fatal(err)
	}
	code := m.Run()
	_ = os.RemoveAll(dir)
	os.Exit(code)
}

// All faults in a short form, on a machine that does other things too: nothing is too slow here. Short tests kill
// alone.
func TestFaultsAreSurvived(t *testing.T) {
	for _, f := range faults {
		t.Run(f.name, func(t *testing.T) {
			if testing.Short() && f.name != "kill" {
				t.Skip("short: make slow runs it")
			}
			s := settings{readthru: binary, dir: t.TempDir(), rounds: 2, last: 3 * time.Second, clients: 8}
			seen, err := f.run(t.Context(), s)
			if err != nil && strings.Contains(err.Error(), "seccomp: ") {
				t.Skipf("this system lets no program watch the syncs of another: %v", err)
			}
			if err != nil {
				t.Errorf("%s: %v", seen, err)
			}
			t.Log(seen)
		})
	}
}

func TestWhatWasNotSyncedIsLostOrTorn(t *testing.T) {
	live, after := t.TempDir(), filepath.Join(t.TempDir(), "after")
	write := func(name, content string) {
		if err := os.WriteFile(filepath.Join(live, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("old", "synced")
	p, err := newDisk(live, filepath.Join(t.TempDir(), "kept"))
	if err != nil {
		t.Fatal(err)
	}
	write("old", "written later")
	write("new", "synced by itself")
	write("named", "only its name is synced")
	if err := p.syncFile(filepath.Join(live, "new")); err != nil {
		t.Fatal(err)
	}
	if err := p.syncDir(live); err != nil {
		t.Fatal(err)
	}
	write("unnamed", "nothing is synced")
	if err := p.after(after, false, nil); err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	entries, _ := os.ReadDir(after)
	for _, e := range entries {
		content, _ := os.ReadFile(filepath.Join(after, e.Name()))
		got[e.Name()] = string(content)
	}
	if want := "map[named: new:synced by itself old:synced]"; fmt.Sprint(got) != want {
		t.Errorf("after a power cut: %v, want %s", got, want)
	}
}
