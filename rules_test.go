package readthru_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// A citation reads "rule B34", "rules B2, B3", "rules B20 to B24", or AD4 anywhere. A row of a test's table may begin
// with ids.
var (
	ruleID       = regexp.MustCompile(`\b(?:AD\d+[a-z]?|[A-EXH]\d{1,2})\b`)
	citation     = regexp.MustCompile(`\b[Rr]ules? ` + idList)
	decision     = regexp.MustCompile(`\bAD\d+[a-z]?\b`)
	testRow      = regexp.MustCompile("^[\"`]((?:(?:AD\\d+[a-z]?|[A-EX]\\d{1,2}) )+)[^\\d]")
	idRange      = regexp.MustCompile(`\b([A-EXH])(\d{1,2})(?: to |–)[A-EXH](\d{1,2})\b`)
	namedTest    = regexp.MustCompile("`((?:Test|Fuzz)\\w+)`")
	testFunction = regexp.MustCompile(`(?m)^func ((?:Test|Fuzz)\w+)\(`)
	namedFile    = regexp.MustCompile("`([\\w./]+\\.(?:go|txtar))`")
)

const idList = `(?:AD\d+[a-z]?|[A-EXH]\d{1,2})(?:(?:, | and | to |–)(?:AD\d+[a-z]?|[A-EXH]\d{1,2}))*`

func TestEveryCitedRuleHasALine(t *testing.T) {
	rules := ruleLines(t)
	for id, at := range citations(t) {
		if rules[id] == "" {
			t.Errorf("%s cites rule %s, which docs/rules.md does not have", at, id)
		}
	}
}

func TestRulesNameFilesAndTestsThatExist(t *testing.T) {
	rules := ruleLines(t)
	for id, line := range rules {
		if !namedFile.MatchString(line) || !namedTest.MatchString(line) {
			t.Errorf("docs/rules.md: rule %s must name a file and a test", id)
		}
	}
	files, functions := map[string]bool{}, map[string]bool{}
	for path, text := range sources(t) {
		files[path], files[filepath.Base(path)] = true, true
		for _, m := range testFunction.FindAllStringSubmatch(text, -1) {
			functions[m[1]] = true
		}
	}
	for _, name := range []string{
		"docs/rules.md", "docs/rfc9111.md", "docs/security.md", "docs/web.md", "docs/agents.md",
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range namedFile.FindAllStringSubmatch(string(text), -1) {
			if !files[m[1]] {
				t.Errorf("%s names the file %s, which does not exist; name its successor", name, m[1])
			}
		}
		for _, m := range namedTest.FindAllStringSubmatch(string(text), -1) {
			if !functions[m[1]] {
				t.Errorf("%s names %s, which does not exist; name its successor", name, m[1])
			}
		}
	}
}

func TestCitationsAreRead(t *testing.T) {
	for _, tt := range []struct{ text, want string }{
		{"at most 50 (rule B9)", "B9"},
		{"what it is about (rules D2, D7 and D12), once", "D12 D2 D7"},
		{"Rules A9, AD3.", "A9 AD3"},
		{"(rules C1 to C4)", "C1 C2 C3 C4"},
		{"(rules B2–B4)", "B2 B3 B4"},
		{"what is read with credentials (AD4)", "AD4"},
		{"a heading H1 and the page size A4", ""},
	} {
		if got := strings.Join(slices.Sorted(maps.Keys(cited(tt.text))), " "); got != tt.want {
			t.Errorf("cited(%q) = %q, want %q", tt.text, got, tt.want)
		}
	}
}

// ruleLines returns the lines of docs/rules.md by the id in their first column.
func ruleLines(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile("docs/rules.md")
	if err != nil {
		t.Fatal(err)
	}
	lines := map[string]string{}
	for line := range strings.Lines(string(text)) {
		row, ok := strings.CutPrefix(line, "| ")
		id, _, _ := strings.Cut(row, " |")
		if !ok || ruleID.FindString(id) != id || id == "" {
			continue
		}
		if lines[id] != "" {
			t.Errorf("docs/rules.md has two lines for %s", id)
		}
		lines[id] = line
	}
	return lines
}

// citations returns where each rule is cited in Go: in comments, and in strings of tests.
func citations(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	files := token.NewFileSet()
	for path, text := range sources(t) {
		if filepath.Ext(path) != ".go" || filepath.Base(path) == "rules_test.go" {
			continue
		}
		file, err := parser.ParseFile(files, path, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		note := func(text string, at token.Pos) {
			for id := range cited(text) {
				found[id] = files.Position(at).String()
			}
		}
		for _, group := range file.Comments {
			note(strings.ReplaceAll(group.Text(), "\n", " "), group.Pos())
		}
		if !strings.HasSuffix(path, "_test.go") {
			continue
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if s, ok := n.(*ast.BasicLit); ok && s.Kind == token.STRING {
				note(s.Value, s.Pos())
				if m := testRow.FindStringSubmatch(s.Value); m != nil {
					note("rules "+strings.Join(strings.Fields(m[1]), ", "), s.Pos())
				}
			}
			return true
		})
	}
	return found
}

// cited returns the ids that a text cites, those inside a range too.
func cited(text string) map[string]bool {
	ids := map[string]bool{}
	for _, list := range citation.FindAllString(text, -1) {
		for _, id := range ruleID.FindAllString(list, -1) {
			ids[id] = true
		}
		for _, m := range idRange.FindAllStringSubmatch(list, -1) {
			first, _ := strconv.Atoi(m[2])
			last, _ := strconv.Atoi(m[3])
			for n := first; n <= last; n++ {
				ids[m[1]+strconv.Itoa(n)] = true
			}
		}
	}
	for _, id := range decision.FindAllString(text, -1) {
		ids[id] = true
	}
	return ids
}

// sources returns the text of the repository's Go files and test scripts by their path.
func sources(t *testing.T) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != "." && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case filepath.Ext(path) == ".txtar", filepath.Ext(path) == ".go" && !strings.Contains(path, "testdata"):
			text, err := os.ReadFile(path)
			found[path] = string(text)
			return err
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// docs/rfc9111.md names files of package cache, and of others by their path. A row without a test says that nothing is
// done.
func TestSectionsOfTheRFCsNameFilesAndTests(t *testing.T) {
	text, err := os.ReadFile("docs/rfc9111.md")
	if err != nil {
		t.Fatal(err)
	}
	rows := 0
	for line := range strings.Lines(string(text)) {
		cells := strings.Split(strings.TrimSpace(line), " | ")
		if len(cells) != 4 || strings.HasPrefix(line, "| §") || strings.HasPrefix(line, "| RFC") {
			continue
		}
		rows++
		files := namedFile.FindAllStringSubmatch(cells[2], -1)
		for _, m := range files {
			name := m[1]
			if !strings.Contains(name, "/") {
				name = "cache/" + name
			}
			if _, err := os.Stat(name); err != nil {
				t.Errorf("docs/rfc9111.md, %s: %v", cells[0], err)
			}
		}
		if (len(files) == 0 || !namedTest.MatchString(cells[3])) && !strings.HasPrefix(cells[1], "No ") {
			t.Errorf("docs/rfc9111.md, %s must name a file and a test", cells[0])
		}
	}
	if rows < 40 {
		t.Errorf("docs/rfc9111.md: %d rows were found", rows)
	}
}

// A row of the first table of docs/web.md is a convention: what it is, its source with a date or an RFC, what is done,
// and a test of that.
func TestConventionsNameSourcesAndTests(t *testing.T) {
	text, err := os.ReadFile("docs/web.md")
	if err != nil {
		t.Fatal(err)
	}
	dated := regexp.MustCompile(`20[12]\d|RFC \d{4}|llmstxt\.org|documentation`)
	rows := 0
	first, _, _ := strings.Cut(string(text), "\n## ")
	for line := range strings.Lines(first) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if !strings.HasPrefix(line, "| ") || strings.HasPrefix(line, "| convention") {
			continue
		}
		if rows++; len(cells) != 4 || !dated.MatchString(cells[1]) ||
			!namedTest.MatchString(cells[3]) && !strings.Contains(cells[3], "`make ") {
			t.Errorf("docs/web.md: a source with its date, what is done, or a test is missing: %s", line)
		}
	}
	if rows < 18 {
		t.Errorf("docs/web.md: %d rows were found", rows)
	}
}

// A row of docs/security.md names where a promise is kept (files, packages or folders that exist, and what is declared
// in them) and at least one test.
func TestPromisesNameWhereTheyAreKeptAndTested(t *testing.T) {
	text, err := os.ReadFile("docs/security.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile("`([\\w./]+)`")
	rows := 0
	_, promises, _ := strings.Cut(string(text), "\n## Who may ask\n") // above it stands who attacks
	for line := range strings.Lines(promises) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), " | ")
		if len(cells) != 3 || !strings.HasPrefix(line, "| ") || strings.Contains(cells[2], "tested by") {
			continue
		}
		rows++
		if !namedTest.MatchString(cells[2]) && !namedFile.MatchString(cells[2]) {
			t.Errorf("docs/security.md: no test holds this: %s", line)
		}
		var source strings.Builder // of the places
		var declared []string
		for _, m := range named.FindAllStringSubmatch(cells[1], -1) {
			info, err := os.Stat(m[1])
			if err != nil && !strings.Contains(m[1], "/") { // a package below internal, by its name
				if inside, e := os.Stat("internal/" + m[1]); e == nil {
					info, err = inside, nil
				}
			}
			switch {
			case err != nil && !strings.Contains(m[1], "/"):
				declared = append(declared, m[1][strings.LastIndexByte(m[1], '.')+1:])
			case err != nil:
				t.Errorf("docs/security.md: %v", err)
			case !info.IsDir():
				file, err := os.ReadFile(m[1])
				if err != nil {
					t.Fatal(err)
				}
				source.Write(file)
			}
		}
		for _, name := range declared {
			at := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`)
			if !at.MatchString(source.String()) {
				t.Errorf("docs/security.md: %s is not declared where this says: %s", name, line)
			}
		}
	}
	if rows < 60 {
		t.Errorf("docs/security.md: %d rows were found", rows)
	}
}
