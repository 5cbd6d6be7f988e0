package github

import (
	"path"
	"strings"
)

// Bounds of what is read of .gitignore, and of what is remembered of it.
const (
	maxIgnoreFile  = 64 << 10 // bytes
	maxIgnoreRules = 1000     // of a repository
	maxIgnoreDirs  = 20_000   // whose verdicts are remembered
)

// ignoreRules holds the patterns of a repository's .gitignore files (gitignore(5)): files that they name and that were
// committed all the same are mostly made by tools. The zero value ignores nothing. The rules of a file apply to the
// entries after it: git lists a folder's .gitignore before nearly all of its files.
type ignoreRules struct {
	rules []ignoreRule
	dirs  map[string]bool // verdicts so far
	more  bool            // there are more than maxIgnoreRules rules
}

// ignoreRule is one pattern of a .gitignore file.
type ignoreRule struct {
	dir      string   // of the .gitignore file; empty: the top
	parts    []string // of the pattern; "**" stands for any number of folders
	negated  bool
	dirsOnly bool
}

// add adds the rules of the .gitignore file in dir ("." is the top). Verdicts so far are forgotten.
func (g *ignoreRules) add(dir string, content []byte) {
	if dir == "." {
		dir = ""
	}
	for line := range strings.Lines(string(content)) {
		rule, ok := parseIgnore(strings.TrimRight(line, "\r\n"))
		if !ok {
			continue
		}
		if len(g.rules) == maxIgnoreRules {
			g.more = true
			return
		}
		rule.dir = dir
		g.rules = append(g.rules, rule)
		g.dirs = nil
	}
}

// parseIgnore reads one line of a .gitignore file; ok is false for a comment, a blank line and a malformed pattern. A
// pattern with a slash before its end is anchored at the file's folder, any other matches at each depth.
func parseIgnore(line string) (r ignoreRule, ok bool) {
	// Spaces at the end do not count unless they are escaped.
	if trimmed := strings.TrimRight(line, " \t"); !strings.HasSuffix(trimmed, `\`) {
		line = trimmed
	}
	if line == "" || line[0] == '#' || len(line) > maxName {
		return r, false
	}
	if line[0] == '!' {
		r.negated, line = true, line[1:]
	}
	if strings.HasSuffix(line, "/") {
		r.dirsOnly, line = true, strings.TrimRight(line, "/")
	}
	anchored := strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	if !anchored {
		r.parts = append(r.parts, "**")
	}
	for part := range strings.SplitSeq(line, "/") {
		if n := len(r.parts); part == "**" && n > 0 && r.parts[n-1] == "**" {
			continue
		}
		if _, err := path.Match(part, ""); err != nil && part != "**" {
			return r, false
		}
		r.parts = append(r.parts, part)
	}
	return r, true
}

// ignores reports whether .gitignore files name a file or a folder above it. A file in an ignored folder cannot be
// included again (gitignore(5)).
func (g *ignoreRules) ignores(name string) bool {
	if len(g.rules) == 0 {
		return false
	}
	return g.ignoresDir(path.Dir(name)) || g.verdict(name, false)
}

// ignoresDir is ignores, by rules of .gitignore, for a folder, and remembers the verdict: all files of a folder ask for
// it.
func (g *ignoreRules) ignoresDir(dir string) bool {
	if dir == "." {
		return false
	}
	if known, ok := g.dirs[dir]; ok {
		return known
	}
	v := g.ignoresDir(path.Dir(dir)) || g.verdict(dir, true)
	if g.dirs == nil || len(g.dirs) >= maxIgnoreDirs {
		g.dirs = map[string]bool{}
	}
	g.dirs[dir] = v
	return v
}

// verdict reports whether the last rule of .gitignore that matches a name, which has precedence, ignores it.
func (g *ignoreRules) verdict(name string, isDir bool) bool {
	parts := strings.Split(name, "/")
	for i := len(g.rules) - 1; i >= 0; i-- {
		r := &g.rules[i]
		if r.dirsOnly && !isDir {
			continue
		}
		below := parts
		if r.dir != "" {
			if !strings.HasPrefix(name, r.dir) || len(name) == len(r.dir) || name[len(r.dir)] != '/' {
				continue
			}
			below = parts[strings.Count(r.dir, "/")+1:]
		}
		if matchParts(r.parts, below) {
			return !r.negated
		}
	}
	return false
}

// matchParts matches a pattern of .gitignore against a path, part by part. Backtracking to the last ** is enough, as it
// is to the last * in a name.
func matchParts(pattern, parts []string) bool {
	p, back, from := 0, -1, 0
	for i := 0; i < len(parts) || p < len(pattern); {
		if p < len(pattern) && pattern[p] == "**" {
			if p == len(pattern)-1 {
				return i < len(parts) // all that is in a folder, and not the folder
			}
			back, from = p, i
			p++
			continue
		}
		if p < len(pattern) && i < len(parts) {
			if ok, _ := path.Match(pattern[p], parts[i]); ok {
				p, i = p+1, i+1
				continue
			}
		}
		if back < 0 || from >= len(parts) {
			return false
		}
		from++
		p, i = back+1, from
	}
	return true
}
