package page

import (
	"net/url"
	"slices"
	"strings"
)

// Library guesses the name of the library, repository or product that u is about, as people call it (rule A16): of a
// page of GitHub the repository, of a registry's page the package, of documentation the name of its host without www.,
// docs. and ending. It is empty for any other page.
// A knowledge base has it as a subject of the documents of that URL.
func Library(u *url.URL) string {
	if g, _ := GitHubOf(u); g != nil {
		return g.Repo
	}
	host, parts := strings.TrimPrefix(asciiHost(u), "www."), segments(u)
	if at, ok := packagesAt[host]; ok {
		return at(parts)
	}
	if kind := Classify(u); kind != Documentation || strings.Trim(host, "0123456789.") == "" || u.Port() != "" {
		return ""
	}
	return SiteName(host)
}

// packagesAt says for hosts that hold the pages of many packages where in the path a package's name stands.
var packagesAt = map[string]func(parts []string) string{
	"github.com":    afterOwner,
	"gitlab.com":    afterOwner,
	"bitbucket.org": afterOwner,
	"codeberg.org":  afterOwner,
	"pkg.go.dev":    goModule,
	"godoc.org":     goModule,
	"docs.rs":       partAt(0),
	"hexdocs.pm":    partAt(0),
	"devdocs.io":    func(parts []string) string { return withoutVersion(partAt(0)(parts), "~") },
	"javadoc.io":    partAt(2), // doc, group, artifact
	"crates.io":     after("crates"),
	"pypi.org":      after("project"),
	"npmjs.com":     npmPackage,
	"rubygems.org":  after("gems"),
	"packagist.org": partAt(2), // packages, vendor, package
	"nuget.org":     after("packages"),
	"pub.dev":       after("packages"),
}

// afterOwner takes a library's name, that of a repository, from the path owner/repository/… of a forge; empty for a
// page of the forge itself.
func afterOwner(parts []string) string {
	if len(parts) < 2 || !repositoryName(parts[0]) || !repositoryName(parts[1]) || githubSection(parts[0]) {
		return ""
	}
	return parts[1]
}

// partAt returns a function that takes the n-th segment of a path, counted from 0, as the name of a library; empty for
// a shorter path.
func partAt(n int) func([]string) string {
	return func(parts []string) string {
		if len(parts) <= n {
			return ""
		}
		return parts[n]
	}
}

// after returns a function that takes as the name of a library what follows a first segment of this name; empty for
// other paths.
func after(section string) func([]string) string {
	return func(parts []string) string {
		if len(parts) < 2 || parts[0] != section {
			return ""
		}
		return parts[1]
	}
}

// npmPackage takes a library's name, that of a package, from the path package/… of npmjs.com, with its scope:
// @types/node are two segments.
func npmPackage(parts []string) string {
	name := after("package")(parts)
	if strings.HasPrefix(name, "@") && len(parts) > 2 {
		name += "/" + parts[2]
	}
	return name
}

// goModule takes as a library's name the last part of an import path that is no version: of github.com/spf13/cobra/doc
// it is the module's.
func goModule(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	if len(parts) >= 3 && (parts[0] == "github.com" || parts[0] == "gitlab.com" || parts[0] == "bitbucket.org") {
		return withoutVersion(parts[2], "@")
	}
	for _, part := range slices.Backward(parts) {
		name := withoutVersion(part, "@")
		if version, ok := strings.CutPrefix(name, "v"); !ok || !digits(version) {
			return name
		}
	}
	return ""
}

// withoutVersion returns a library's name without the version that a mark, such as "@", divides from it.
func withoutVersion(name, mark string) string {
	name, _, _ = strings.Cut(name, mark)
	return name
}
