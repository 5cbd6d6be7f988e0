package setup

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
	"github.com/readthru/readthru/page"
)

// keptLine returns what an agent is told about the pages, given the hosts of its project. It has numbers and no names:
// what pages and projects say is not ours.
func keptLine(k wiring.KeptPages, project []string) string {
	if k.Pages <= 0 {
		return ""
	}
	text, of := "readthru: "+terminal.Count(k.Pages, "page")+" kept", 0
	for _, host := range project {
		of += k.Hosts[host]
	}
	if of > 0 {
		text += fmt.Sprintf(", %d from this project's hosts", of)
	}
	return text + "; search_knowledge_base finds them"
}

// projectFiles are the files of a project that name the hosts of what it uses.
var projectFiles = []string{
	"README.md", "README.rst", "README", "AGENTS.md", "CLAUDE.md", "GEMINI.md", "package.json", "pyproject.toml",
	"Cargo.toml",
}

// projectHosts returns the hosts that the files of the project around a folder name: of the repository, or of the
// folder alone if it is in none.
func projectHosts(dir string) []string {
	root := dir
	for up := dir; up != filepath.Dir(up); up = filepath.Dir(up) {
		if _, err := os.Lstat(filepath.Join(up, ".git")); err == nil {
			root = up
			break
		}
	}
	found := map[string]bool{}
	for _, name := range projectFiles {
		for _, d := range page.Detect(head(filepath.Join(root, name))) {
			if u, err := page.Parse(d.URL); err == nil {
				found[strings.ToLower(u.Hostname())] = true
			}
		}
	}
	return slices.Collect(maps.Keys(found))
}

// head returns the beginning of a file, or "" if it is none.
func head(name string) string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() { // to open a pipe would wait
		return ""
	}
	f, err := os.Open(name)
	if err != nil {
		return ""
	}
	defer f.Close()                                      //nolint:errcheck // it was only read
	text, _ := io.ReadAll(io.LimitReader(f, maxProject)) // what was read is enough
	return string(text)
}

// maxProject is how many bytes are read of each file of a project.
const maxProject = 64 << 10
