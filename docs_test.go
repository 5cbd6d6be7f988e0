package readthru_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var pathOfFile = regexp.MustCompile("[`(]((?:[a-z0-9_]+/)+[\\w.-]+\\.(?:go|md|yaml|txtar))[`)]")

func TestDocsNameFilesThatExist(t *testing.T) {
	for name, folder := range map[string]string{
		"README.md": "", "docs/design.md": "docs/", "docs/agents.md": "docs/", "docs/cli.md": "docs/", "docs/clients.md": "docs/",
	} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range pathOfFile.FindAllStringSubmatch(string(text), -1) {
			_, fromRoot := os.Stat(m[1])
			_, fromDoc := os.Stat(folder + m[1])
			if fromRoot != nil && fromDoc != nil {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
	}
}

var (
	linkInDoc = regexp.MustCompile(`\]\(([^)\s]+)\)`)
	codeBlock = regexp.MustCompile("(?ms)^ *```.*?^ *```")
	headline  = regexp.MustCompile(`(?m)^#+ (.+)$`)
	notInSlug = regexp.MustCompile(`[^\p{L}\p{N} _-]`)
)

// A link of a page for people leads to a file, and to a heading of it, that exist. Links to other sites are not
// followed.
func TestLinksOfPagesLeadSomewhere(t *testing.T) {
	pages, err := filepath.Glob("docs/*.md")
	if err != nil {
		t.Fatal(err)
	}
	decisions, err := filepath.Glob("docs/decisions/*.md")
	if err != nil {
		t.Fatal(err)
	}
	links := 0
	for _, name := range append(append(pages, decisions...), "README.md", "CHANGELOG.md", "CONTRIBUTING.md") {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range linkInDoc.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
			if strings.Contains(m[1], ":") {
				continue
			}
			links++
			path, anchor, _ := strings.Cut(m[1], "#")
			to := name
			if path != "" {
				to = filepath.Join(filepath.Dir(name), path)
			}
			if _, err := os.Stat(to); err != nil {
				t.Errorf("%s links to %s: %v", name, m[1], err)
			} else if anchor != "" && !slices.Contains(anchors(t, to), anchor) {
				t.Errorf("%s links to %s, which has no such heading", name, m[1])
			}
		}
	}
	if links < 50 {
		t.Errorf("read %d links", links)
	}
}

// anchors returns what the headings of a page are called in links to it.
func anchors(t *testing.T, name string) (found []string) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range headline.FindAllStringSubmatch(codeBlock.ReplaceAllString(string(text), ""), -1) {
		slug := notInSlug.ReplaceAllString(strings.ToLower(m[1]), "")
		found = append(found, strings.ReplaceAll(slug, " ", "-"))
	}
	return found
}

func TestEveryPackageHasALineInTheDesign(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range imports(t) {
		top, room, _ := strings.Cut(name, "/")
		switch {
		case strings.HasSuffix(name, "test"): // of no request
		case top == "cmd":
			if !strings.Contains(string(text), "`"+name+"`") && !strings.Contains(string(text), "`"+filepath.Base(name)+"`") {
				t.Errorf("docs/design.md has no line for package %s", name)
			}
		case !strings.Contains(string(text), "| `"+top+"` |"), !strings.Contains(string(text), room+"`"):
			t.Errorf("docs/design.md has no line for package %s", name)
		}
	}
}

// In a row of the table "who owns what": an owner, and the files behind it.
var (
	ownerName = regexp.MustCompile("`(?:([a-z]+)\\.)?([A-Za-z]+(?:\\.[A-Z]\\w+)?)`((?:,? ?\\(?(?:, )?`[\\w/]+\\.go`)*)")
	goFile    = regexp.MustCompile("`([\\w/]+\\.go)`")
)

// An owner that has moved or has another name leads a newcomer nowhere.
func TestOwnersStandWhereTheDesignSays(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "\n## Who owns what\n")
	table, _, _ = strings.Cut(table, "\n## ")
	owners := 0
	for row := range strings.Lines(table) {
		cells := strings.Split(row, "|")
		if len(cells) < 3 {
			continue
		}
		for _, m := range ownerName.FindAllStringSubmatch(cells[2], -1) {
			folder, name := m[1], m[2][strings.LastIndex(m[2], ".")+1:]
			var files []string
			for _, file := range goFile.FindAllStringSubmatch(m[3], -1) {
				files = append(files, file[1])
			}
			if _, err := os.Stat(folder); err == nil && folder != "" && len(files) == 0 {
				files, _ = filepath.Glob(folder + "/*.go")
			}
			if len(files) == 0 {
				continue // a package, or an option of many packages
			}
			owners++
			declared := regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`)
			if !slices.ContainsFunc(files, func(file string) bool {
				source, err := os.ReadFile(file)
				return err == nil && declared.Match(source)
			}) {
				t.Errorf("%s is not declared in %s", m[2], strings.Join(files, ", "))
			}
		}
	}
	if owners < 25 {
		t.Errorf("read %d owners", owners)
	}
}

// In an item of "Who owns what" of a package's doc.go: owners that stand right before the files they are declared in.
var (
	ownersInDoc = regexp.MustCompile(`((?:\[?[\w.]+\]?, )*\[?[\w.]+\]?) \(([\w/]+\.go(?:, [\w/]+\.go)*)\)`)
	fileInDoc   = regexp.MustCompile(`[\w/]+\.go\b`)
)

// Owners that a package lists in its doc.go are declared in the files it names.
func TestOwnersStandWhereDocGoSays(t *testing.T) {
	var docs []string
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Name() == "doc.go" {
			docs = append(docs, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	owners := 0
	for _, doc := range docs {
		text, err := os.ReadFile(doc)
		if err != nil {
			t.Fatal(err)
		}
		_, list, found := strings.Cut(string(text), "\n// # Who owns what\n")
		if !found {
			continue
		}
		list = strings.ReplaceAll(strings.ReplaceAll(list, "\n//     ", " "), "\n//", "\n")
		for line := range strings.Lines(list) {
			item, ok := strings.CutPrefix(line, "   - ")
			if !ok {
				continue
			}
			for _, name := range fileInDoc.FindAllString(item, -1) {
				if source(doc, name) == nil {
					t.Errorf("%s names %s, which does not exist", doc, name)
				}
			}
			for _, m := range ownersInDoc.FindAllStringSubmatch(item, -1) {
				var text []byte
				for name := range strings.SplitSeq(m[2], ", ") {
					text = append(text, source(doc, name)...)
				}
				for owner := range strings.SplitSeq(m[1], ", ") {
					owners++
					name := strings.Trim(owner[strings.LastIndexByte(owner, '.')+1:], "[]")
					if !regexp.MustCompile(`(?m)^(?:func (?:\([^)]*\) )?|type |var |const |\t)` + name + `\b`).Match(text) {
						t.Errorf("%s: %s is not declared in %s", doc, name, m[2])
					}
				}
			}
		}
	}
	if owners < 80 {
		t.Errorf("read %d owners", owners)
	}
}

// source returns the file that a doc.go names, by its name in the same folder or its path from the root.
func source(doc, name string) []byte {
	if !strings.Contains(name, "/") {
		name = filepath.Join(filepath.Dir(doc), name)
	}
	text, _ := os.ReadFile(name)
	return text
}

var reportRow = regexp.MustCompile("(?m)^\\| \\[([^]]+#\\d+)\\]\\(https://[^)]+\\) \\|.* \\| `(Test\\w+)` \\|$")

// A row of docs/reports.md names the test that plays the report, and a row of that test names the report.
func TestReportsArePlayed(t *testing.T) {
	text, err := os.ReadFile("docs/reports.md")
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("*/reports*_test.go")
	if err != nil {
		t.Fatal(err)
	}
	var sources []string
	for _, file := range files {
		source, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, string(source))
	}
	rows := reportRow.FindAllStringSubmatch(string(text), -1)
	for _, m := range rows {
		played := regexp.MustCompile(`"` + regexp.QuoteMeta(m[1]) + `[",]`)
		if !slices.ContainsFunc(sources, func(source string) bool {
			return strings.Contains(source, "\nfunc "+m[2]+"(") && played.MatchString(source)
		}) {
			t.Errorf("docs/reports.md: no row of %s names %s", m[2], m[1])
		}
	}
	if want := strings.Count(string(text), "\n| ["); len(rows) != want {
		t.Errorf("docs/reports.md: %d of %d rows were read", len(rows), want)
	}
}
