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

// owned are ideas that stood in several places once, what a copy of them looks like, and who owns them.
var owned = []struct {
	copied string // an expression for a line of code
	owner  string // what to call instead
	dir    string // of the owner
	except []string
}{
	{
		`utf8\.(RuneStart|FullRune)|& *0x[cC]0 *== *0x80`,
		"clip.Bytes or clip.Incomplete: a text is cut between characters",
		"internal/clip",
		nil,
	},
	{
		`\+ *"…"|= string\(\w+\[:.*\+ *"\.\.\."`,
		"clip.Ellipsis or clip.Line: what is cut off is marked", "internal/clip",
		[]string{
			"cmd/readthru/internal/terminal/table.go", // cells of a terminal
			"internal/summary/blocks.go",              // between words
			"internal/symbols/signature.go",           // after what is not punctuation
		},
	},
	{
		`func (truncate|shorten|clip|ellipsis|oneLine|cut(Runes|Bytes|Chars))\w*\(\w+ string(, \w+ int)?\)`,
		"package clip: a text is cut, and put on one line", "internal/clip", nil,
	},
	{
		`\.Engine\(\)|\.Decoded\(\)`,
		"package kv, which tests alone look below", "store/kv", nil,
	},
	{
		`sync\.OnceValue\(func\(\) \*regexp\.Regexp|return regexp\.MustCompile\(\w+\) *}\)`,
		"lazy.Pattern: an expression is compiled at its first use", "internal/lazy", nil,
	},
	{
		`"(Proxy-Connection|Proxy-Authentication-Info)"`,
		"httpfield.OfConnection or httpfield.RemoveConnection: fields of a connection", "internal/httpfield",
		[]string{
			"internal/journal/fields.go", // which fields of a response tell who asked
			"proxy/strict/hop.go",        // what HTTP/2 does not allow
		},
	},
	{
		`"(cross-site|same-site)"|(Get|Values)\("(Origin|Sec-Fetch-Site)"\)`,
		"httpfield.OtherSite or httpfield.SameOrigin: which page had a browser send a request",
		"internal/httpfield", nil,
	},
	{
		`os\.WriteFile\(|os\.CreateTemp\(filepath\.Dir`,
		"wholefile.Write or wholefile.WriteFrom: a file is whole or not there", "internal/wholefile",
		[]string{
			"cmd/readthru/internal/setup/doctor_clients.go", // which removes it
			"convert/corpustest/corpustest.go",              // of tests
			"internal/fault/journal.go",                     // at each step; need not outlive the machine
			"fetch/github/githubtest/host.go",               // of tests
			"internal/packaging/image.go",                   // of a build
			"internal/packaging/release.go",
			"store/kv/kv.go", // empty
		},
	},
	{
		`\b(\w*base|root|site|u)\.Parse\(`,
		"page.Resolve: what a reference names, with the escapes of its path", "page", nil,
	},
	{`"\*\*\*"`, "page.SecretMask or page.Said: what stands for a secret", "page", nil},
}

// TestIdeasHaveOneOwner finds copies of ideas that have an owner: see "Who owns what" in docs/design.md. The owner
// calls nobody; whoever needs something else of the idea adds it there.
func TestIdeasHaveOneOwner(t *testing.T) {
	unused, read := map[string]bool{}, 0
	patterns := make([]*regexp.Regexp, 0, len(owned))
	for _, o := range owned {
		patterns = append(patterns, regexp.MustCompile(o.copied))
		for _, file := range o.except {
			unused[o.copied+" in "+file] = true
		}
	}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		path = filepath.ToSlash(path)
		switch {
		case err != nil:
			return err
		case d.IsDir() && (path != "." && strings.HasPrefix(d.Name(), ".") ||
			slices.Contains([]string{"testdata", "bench", "bin"}, d.Name())):
			return fs.SkipDir
		case !strings.HasSuffix(path, ".go"), strings.HasSuffix(path, "_test.go"):
			return nil
		}
		src, err := os.ReadFile(path) //nolint:gosec // a file of the repository
		if err != nil {
			return err
		}
		read++
		line := 0
		for text := range strings.Lines(string(src)) {
			line++
			if strings.HasPrefix(strings.TrimSpace(text), "//") {
				continue
			}
			for i, o := range owned {
				switch {
				case !patterns[i].MatchString(text), strings.HasPrefix(path, o.dir+"/"):
				case slices.Contains(o.except, path):
					delete(unused, o.copied+" in "+path)
				default:
					t.Errorf("%s:%d: a copy of what has an owner: call %s", path, line, o.owner)
				}
			}
		}
		return nil
	})
	if err != nil || read < 500 {
		t.Fatalf("%d files, %v", read, err)
	}
	for what := range unused {
		t.Errorf("there is no %s any more: it needs no exception", what)
	}
}
