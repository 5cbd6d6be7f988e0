package readthru_test

import (
	"os"
	"regexp"
	"strings"
	"testing"
)

var pathOfFile = regexp.MustCompile("[`(]((?:[a-z0-9_]+/)+[\\w.-]+\\.(?:go|md|yaml|txtar))[`)]")

func TestDocsNameFilesThatExist(t *testing.T) {
	for name, folder := range map[string]string{"README.md": "", "docs/design.md": "docs/", "docs/agents.md": "docs/"} {
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

func TestEveryPackageHasALineInTheDesign(t *testing.T) {
	text, err := os.ReadFile("docs/design.md")
	if err != nil {
		t.Fatal(err)
	}
	for name := range imports(t) {
		top, room, _ := strings.Cut(name, "/")
		switch {
		case name == "bench" || top == "bench" || strings.HasSuffix(name, "test"): // of no request
		case top == "cmd":
			if !strings.Contains(string(text), "| `"+name+"` |") {
				t.Errorf("docs/design.md has no line for package %s", name)
			}
		case !strings.Contains(string(text), "| `"+top+"` |"), !strings.Contains(string(text), room+"`"):
			t.Errorf("docs/design.md has no line for package %s", name)
		}
	}
}
