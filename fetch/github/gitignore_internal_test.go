package github

import (
	"strings"
	"testing"
)

func TestGitignore(t *testing.T) {
	var g ignoreRules
	g.add(".", []byte("# comment\n*.log\n!keep.log\n/top\nbuild/\ndoc/*.txt\na/**/z\n**/cache/**\n\\#hash\nfoo[0-9]\ntrail \n"))
	g.add("sub", []byte("/only\nlocal\n"))
	for name, want := range map[string]bool{
		"x.log": true, "d/x.log": true, "keep.log": false, "d/keep.log": false, "top": true, "d/top": false, "build/x": true,
		"d/build/x/y": true, "build": false,
		"doc/a.txt": true, "doc/d/a.txt": false, "a/z": true, "a/b/c/z": true, "a/b": false, "cache/x": true,
		"d/cache/e/x": true, "#hash": true, "foo1": true, "foox": false, "trail": true,
		"sub/only": true, "only": false, "sub/d/only": false, "sub/d/local": true, "local": false, "README.md": false,
	} {
		if got := g.ignores(name); got != want {
			t.Errorf("ignores(%q) = %t, want %t", name, got, want)
		}
	}
}

func TestHostileGitignoreTakesBoundedTime(t *testing.T) {
	var g ignoreRules
	g.add(".", []byte(strings.Repeat("**/a*b*c*d*e*f*g*h/**/x\n", 3000)))
	if !g.more || len(g.rules) != maxIgnoreRules {
		t.Errorf("%d rules, more %t", len(g.rules), g.more)
	}
	name := strings.Repeat("aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/", 30) + "y"
	for range 3 {
		if g.ignores(name) {
			t.Error("ignored")
		}
	}
}
