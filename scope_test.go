package readthru_test

import (
	"bytes"
	"encoding/json"
	"go/scanner"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// TestTheProgramIsNoLargerThanItsScope counts what docs/scope.md bounds. What is named in pages is counted there: other
// tests hold that these name all commands, keys and operations.
func TestTheProgramIsNoLargerThanItsScope(t *testing.T) {
	code := countCode(t)
	now := map[string]int{
		"commands at the top":         matches(t, "docs/cli.md", `(?m)^### `),
		"commands":                    matches(t, "docs/cli.md", `(?m)^#{3,5} `),
		"options":                     matches(t, "docs/cli.md", "(?m)^\\| `--"),
		"configuration keys":          len(keysOf(t, "config.example.yaml")),
		"operations of the API":       len(readJSON[map[string]any](t, "api/server/examples.json")),
		"tools of the MCP server":     matches(t, "mcp/tools.go", `(?m)^\t\t\w+Tool\(\),$`),
		"folders at the top":          code.top,
		"packages":                    len(code.packages),
		"files of a package":          code.packages[code.mostFiles()].files,
		"lines of code of a package":  code.packages[code.mostLines()].lines,
		"lines of a file":             code.lines,
		"lines of code of conversion": code.linesBelow("convert"),
		"lines of code":               code.linesBelow(""),
	}
	where := map[string]string{
		"files of a package": " in " + code.mostFiles(), "lines of code of a package": " in " + code.mostLines(),
		"lines of a file": " in " + code.longest,
	}
	text, err := os.ReadFile("docs/scope.md")
	if err != nil {
		t.Fatal(err)
	}
	said := map[string]bool{}
	for _, row := range regexp.MustCompile(`(?m)^\| ([\w ]+) \| ([\d,]+) \|`).FindAllStringSubmatch(string(text), -1) {
		most, err := strconv.Atoi(strings.ReplaceAll(row[2], ",", ""))
		if err != nil {
			t.Fatal(err)
		}
		is, known := now[row[1]]
		said[row[1]] = true
		switch {
		case row[1] == "megabytes of the program": // make size
		case !known:
			t.Errorf("docs/scope.md bounds %q, which is not counted", row[1])
		case is > most:
			t.Errorf("%s: %d%s, and docs/scope.md allows %d: take something out, or raise it there and say in the commit "+
				"who needs it", row[1], is, where[row[1]], most)
		case is < most-most/20: // so that it stays a bound
			t.Errorf("%s: %d, and docs/scope.md allows %d: lower it", row[1], is, most)
		}
	}
	for what := range now {
		if !said[what] {
			t.Errorf("docs/scope.md has no row for %s", what)
		}
	}
}

func matches(t *testing.T, file, pattern string) int {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	if err != nil {
		t.Fatal(err)
	}
	return len(regexp.MustCompile(pattern).FindAll(text, -1))
}

func readJSON[T any](t *testing.T, file string) (v T) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	if err == nil {
		err = json.Unmarshal(text, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// keysOf returns the paths of the values in a YAML file.
func keysOf(t *testing.T, file string) (keys []string) {
	t.Helper()
	text, err := os.ReadFile(file) //nolint:gosec // a file of the repository
	if err != nil {
		t.Fatal(err)
	}
	var all map[string]any
	if err := yaml.Unmarshal(text, &all); err != nil {
		t.Fatal(err)
	}
	var walk func(path string, of map[string]any)
	walk = func(path string, of map[string]any) {
		for name, v := range of {
			if below, ok := v.(map[string]any); ok && len(below) > 0 {
				walk(path+name+".", below)
			} else {
				keys = append(keys, path+name)
			}
		}
	}
	walk("", all)
	return keys
}

// code is what the module has outside tests.
type code struct {
	packages map[string]struct{ files, lines int }
	top      int    // folders at the top that have code or documentation
	longest  string // the longest file
	lines    int    // its lines, all of them
}

// mostFiles returns the package with the most files.
func (c code) mostFiles() (most string) {
	for name, p := range c.packages {
		if p.files > c.packages[most].files {
			most = name
		}
	}
	return most
}

// mostLines returns the package with the most lines of code.
func (c code) mostLines() (most string) {
	for name, p := range c.packages {
		if p.lines > c.packages[most].lines {
			most = name
		}
	}
	return most
}

func (c code) linesBelow(dir string) (n int) {
	for name, p := range c.packages {
		if dir == "" || name == dir || strings.HasPrefix(name, dir+"/") {
			n += p.lines
		}
	}
	return n
}

// countCode counts lines that have more than comments. Packages for tests, and modules beside the program's, are not of
// it.
func countCode(t *testing.T) code {
	t.Helper()
	c := code{packages: map[string]struct{ files, lines int }{}}
	beside := []string{"bench", "tools", "testdata", "bin", "dist", "node_modules"}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && path != ".":
			if strings.HasPrefix(d.Name(), ".") || strings.HasSuffix(d.Name(), "test") || slices.Contains(beside, d.Name()) {
				return fs.SkipDir
			}
			if !strings.Contains(path, string(filepath.Separator)) {
				c.top++
			}
		case strings.HasSuffix(path, ".go") && !strings.HasSuffix(path, "_test.go"):
			src, err := os.ReadFile(path) //nolint:gosec // a file of the repository
			if err != nil {
				return err
			}
			dir := filepath.ToSlash(filepath.Dir(path))
			p := c.packages[dir]
			p.files++
			p.lines += linesOfCode(src)
			c.packages[dir] = p
			if lines := bytes.Count(src, []byte("\n")); lines > c.lines {
				c.longest, c.lines = path, lines
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// linesOfCode counts lines on which a token begins or goes on.
func linesOfCode(src []byte) (n int) {
	var s scanner.Scanner
	files := token.NewFileSet()
	file := files.AddFile("", -1, len(src))
	s.Init(file, src, nil, 0)
	for last := 0; ; {
		pos, tok, text := s.Scan()
		if tok == token.EOF {
			return n
		}
		if tok == token.SEMICOLON && text == "\n" { // of the scanner
			continue
		}
		first := file.Line(pos)
		end := first + strings.Count(text, "\n")
		n += end - max(first-1, last)
		last = max(last, end)
	}
}
