package readthru_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

var (
	usedAction = regexp.MustCompile(`uses: *(\S+)(.*)`)
	byCommit   = regexp.MustCompile(`^[\w-]+/[\w-]+@[0-9a-f]{40}$`)
	itsVersion = regexp.MustCompile(`^ # v\d+\.\d+\.\d+$`)
	runTarget  = regexp.MustCompile(`run: *make ([\w -]+)`)
	makeTarget = regexp.MustCompile(`(?m)^([\w-]+):`)
)

// A tag can be moved to other code, a commit cannot.
func TestWorkflowsNameActionsByCommitAndTargetsThatExist(t *testing.T) {
	makefile, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	targets := map[string]bool{}
	for _, m := range makeTarget.FindAllStringSubmatch(string(makefile), -1) {
		targets[m[1]] = true
	}
	files, err := filepath.Glob(".github/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d workflows, %v", len(files), err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range usedAction.FindAllStringSubmatch(string(text), -1) {
			if !byCommit.MatchString(m[1]) || !itsVersion.MatchString(m[2]) {
				t.Errorf("%s uses %s%s, want a commit and its version", file, m[1], m[2])
			}
		}
		for _, m := range runTarget.FindAllStringSubmatch(string(text), -1) {
			for target := range strings.FieldsSeq(m[1]) {
				if !targets[target] {
					t.Errorf("%s makes %s, which the Makefile does not have", file, target)
				}
			}
		}
	}
}

// What is linked is asked about where changes are published, and its standard library is that of a patch that is named.
func TestVulnerabilitiesAreLookedForAndAPatchOfGoIsNamed(t *testing.T) {
	tests, err := os.ReadFile(".github/workflows/test.yml")
	if err != nil {
		t.Fatal(err)
	}
	module, err := os.ReadFile("go.mod")
	if err != nil {
		t.Fatal(err)
	}
	if !regexp.MustCompile(`(?m)run: make vuln$`).Match(tests) {
		t.Error("the workflow of the tests does not make vuln")
	}
	if !regexp.MustCompile(`(?m)^toolchain go1\.\d+\.\d+$`).Match(module) {
		t.Error("go.mod names no patch of Go")
	}
}
