package readthru_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// In the Makefile: go test -run NAMES PACKAGES, and in the target corpora try VARIABLE FOLDER NAMES PACKAGES.
var (
	runOption = regexp.MustCompile(`go test [^\n#]*-run '?([\w|]+)'? ((?:\./[\w/]+ ?)+)`)
	tryCall   = regexp.MustCompile(`try (READTHRU_\w+) "[^"]*" '?([\w|]+)'? '?((?:\./[\w/]+ ?)+)`)
)

// A pattern that matches no test makes go test succeed without a test.
func TestTestsThatTheMakefileNamesExist(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	check := func(variable, names, packages string) {
		var tests []string
		for dir := range strings.FieldsSeq(packages) {
			here := testsIn(t, dir, variable)
			if !slices.ContainsFunc(here, regexp.MustCompile(names).MatchString) {
				t.Errorf("-run %s matches no test of %s", names, dir)
			}
			tests = append(tests, here...)
		}
		for name := range strings.SplitSeq(names, "|") {
			if !slices.ContainsFunc(tests, func(test string) bool { return strings.Contains(test, name) }) {
				t.Errorf("-run %s matches no test of %s", name, packages)
			}
		}
	}
	runs, tries := runOption.FindAllStringSubmatch(string(text), -1), tryCall.FindAllStringSubmatch(string(text), -1)
	for _, m := range runs {
		check("", m[1], m[2])
	}
	for _, m := range tries {
		check(m[1], m[2], m[3])
	}
	if all := strings.Count(string(text), "-run ") - strings.Count(string(text), `-run '^$$'`) - 3; len(runs) != all {
		t.Errorf("read %d of %d patterns of -run", len(runs), all) // one is the shell variable of corpora, two are FULL
	}
	if all := strings.Count(string(text), "try READTHRU_"); len(tries) != all || all == 0 {
		t.Errorf("read %d of %d calls of try", len(tries), all)
	}
}

// In the Makefile: what make test runs in full without the race detector.
var fullTests = regexp.MustCompile(`(?m)^FULL    = ((?:[\w ]+\\\n\t)*[\w ]+)\nFULL_IN = (.+)$`)

var (
	anyFunction = regexp.MustCompile(`^func (?:\([^)]*\) )?(\w+)\(`)
	asksForLess = regexp.MustCompile(`\bneeds\.(?:Brief|Long)\(`)
)

// A test that is brief under the race detector runs in full without it: the Makefile names it, and no others.
func TestWhatIsBriefUnderTheRaceDetectorRunsInFull(t *testing.T) {
	text, err := os.ReadFile("Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := fullTests.FindStringSubmatch(string(text))
	if m == nil {
		t.Fatal("the Makefile has no FULL")
	}
	names, packages, used := strings.Fields(strings.ReplaceAll(m[1], "\\", "")), strings.Fields(m[2]), map[string]bool{}
	for path, code := range sources(t) {
		dir := "./" + filepath.Dir(path)
		for _, name := range briefTests(code) {
			used[dir] = true
			i := slices.IndexFunc(names, func(part string) bool { return strings.Contains(name, part) })
			if i < 0 || !slices.Contains(packages, dir) {
				t.Errorf("%s: %s is not in FULL of the Makefile", path, name)
				continue
			}
			used[names[i]] = true
		}
	}
	for _, each := range slices.Concat(names, packages) {
		if !used[each] {
			t.Errorf("%s is in FULL of the Makefile, and no test that asks needs for less", each)
		}
	}
}

// briefTests returns the functions of a file that ask package needs whether they are to be brief.
func briefTests(code string) (names []string) {
	function := ""
	for line := range strings.Lines(code) {
		if m := anyFunction.FindStringSubmatch(line); m != nil {
			function = m[1]
		}
		if asksForLess.MatchString(line) && !slices.Contains(names, function) {
			names = append(names, function)
		}
	}
	return names
}

// testsIn returns the names of the test functions of the package in dir. Its tests must read variable, unless that is
// empty.
func testsIn(t *testing.T, dir, variable string) (tests []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	read := variable == ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		read = read || strings.Contains(string(text), `"`+variable+`"`)
		for _, m := range testFunction.FindAllStringSubmatch(string(text), -1) {
			tests = append(tests, m[1])
		}
	}
	if !read {
		t.Errorf("no test of %s reads %s", dir, variable)
	}
	return tests
}
