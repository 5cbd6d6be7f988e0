package main

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/page"
)

// keptPages says how many pages are kept, for the hook of a session's start, which has no time to open the store.
type keptPages struct {
	Pages int64          `json:"pages"`
	Hosts map[string]int `json:"hosts"` // of the hosts with the most pages
}

const (
	keptHosts  = 10_000   // in the file
	maxProject = 64 << 10 // bytes that are read of each file of a project

	// A daemon looks after keptEvery whether the number of pages has changed, and rests for keptRest for each page,
	// because it then reads the keys of all.
	keptEvery = time.Second
	keptRest  = time.Millisecond
)

func keptFile(dir string) string { return filepath.Join(dir, "kept.json") }

// writeKept writes the file if the number of pages has changed since.
func (c *core) writeKept() error {
	c.keptMutex.Lock()
	defer c.keptMutex.Unlock()
	n := c.store.Totals().Pages
	if n == c.kept {
		return nil
	}
	hosts := c.store.PagesByHost()
	if len(hosts) > keptHosts {
		names := slices.SortedFunc(maps.Keys(hosts), func(a, b string) int { return cmp.Compare(hosts[b], hosts[a]) })
		for _, name := range names[keptHosts:] {
			delete(hosts, name)
		}
	}
	text, err := json.Marshal(keptPages{n, hosts})
	if err != nil {
		return fmt.Errorf("count the pages: %w", err)
	}
	err = wholefile.Write(keptFile(c.dir), text, 0o600)
	if err == nil {
		c.kept = n
	}
	return err
}

// countKept keeps the file up to date until ctx ends.
func (c *core) countKept(ctx context.Context) error {
	c.keptMutex.Lock()
	c.kept = readKept(c.dir).Pages // as the last daemon left it: a start does not count
	c.keptMutex.Unlock()
	for {
		c.mustWriteKept()
		select {
		case <-ctx.Done():
			return nil
		case <-time.After(keptEvery + time.Duration(c.store.Totals().Pages)*keptRest):
		}
	}
}

// mustWriteKept is writeKept, and logs its error: only the line for agents is wrong then.
func (c *core) mustWriteKept() {
	if err := c.writeKept(); err != nil {
		c.log.Warn("sessions of agents will not be told how many pages are kept", "error", err)
	}
}

// readKept reads the file. There are no pages if it cannot be read.
func readKept(dir string) (k keptPages) {
	text, err := os.ReadFile(keptFile(dir))
	if err != nil || json.Unmarshal(text, &k) != nil {
		return keptPages{}
	}
	return k
}

// line returns what an agent is told about the pages, given the hosts of its project. It has numbers and no names: what
// pages and projects say is not ours.
func (k keptPages) line(project []string) string {
	if k.Pages <= 0 {
		return ""
	}
	text, of := "readthru: "+count(k.Pages, "page")+" kept", 0
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
