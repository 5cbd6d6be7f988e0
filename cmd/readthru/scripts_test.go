package main_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"
)

// A script listens on ports that the system chooses, or on an address of its own: another run of the tests may be at
// the same line.
func TestNoScriptListensWhereAnotherRunDoes(t *testing.T) {
	fixed := regexp.MustCompile(`(?m)^env READTHRU_\w+_LISTEN=[\d.]+:0*[1-9].*`)
	scripts, err := filepath.Glob("testdata/script/*.txtar")
	if err != nil || len(scripts) == 0 {
		t.Fatalf("%d scripts, %v", len(scripts), err)
	}
	for _, name := range scripts {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range fixed.FindAll(text, -1) {
			t.Errorf("%s: %s", name, found)
		}
	}
}
