//go:build unix

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// needed are the programs that tests use, with the Debian packages that have them, and what does not run without them.
var needed = []struct {
	without  string
	programs []string // each "program:package"
}{
	{"no test runs under the race detector", []string{"cc:g++"}},
	{"no test that needs a browser: render, ui, much of e2e", []string{
		"chromium:chromium", "chromium-headless-shell:chromium-headless-shell", "certutil:libnss3-tools",
	}},
	{
		"no test that needs a database: fleet, fleets in e2e",
		[]string{"pg_lsclusters:postgresql", "pgbouncer:pgbouncer", "haproxy:haproxy"},
	},
	{"no test that drives these clients: e2e, cmd/readthru", []string{
		"curl:curl", "wget:wget", "git:git", "python3:python3", "node:nodejs", "npm:npm", "jq:jq",
	}},
	{"no completions in these shells: cmd/readthru", []string{"zsh:zsh", "fish:fish"}},
	{"no check of files for these programs: contrib, service, packaging", []string{
		"promtool:prometheus", "systemd-analyze:systemd", "unshare:util-linux",
	}},
	{"no comparison of symbols with those of ctags", []string{"ctags:universal-ctags"}},
	{"no test of the grammars of symbols; maps are of the basic kind", []string{
		"clang:clang", "wasm-ld:lld", // with wasi-libc and libclang-rt-dev-wasm32
	}},
}

// missing says in a few lines what this machine lacks, or nothing.
func missing(look func(name string) (string, error)) string {
	var text strings.Builder
	var packages []string
	for _, n := range needed {
		var lacking []string
		for _, each := range n.programs {
			program, pkg, _ := strings.Cut(each, ":")
			if _, err := look(program); err != nil {
				lacking, packages = append(lacking, program), append(packages, pkg)
			}
		}
		if len(lacking) > 0 {
			fmt.Fprintf(&text, "without %s: %s\n", strings.Join(lacking, ", "), n.without)
		}
	}
	if cache, err := os.UserCacheDir(); err == nil {
		if found, _ := filepath.Glob(filepath.Join(cache, "readthru", "versitygw-*")); len(found) == 0 {
			text.WriteString("an object store is built first; without a network its tests do not run\n")
		}
	}
	if len(packages) == 0 {
		return text.String()
	}
	slices.Sort(packages)
	how := "to install it"
	if _, err := look("apt-get"); err == nil && os.Geteuid() == 0 {
		how = "which is tried now"
	}
	fmt.Fprintf(&text, "%s: apt-get install %s\n", how, strings.Join(slices.Compact(packages), " "))
	return text.String()
}
