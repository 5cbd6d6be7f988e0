package convert_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/convert"
)

var update = flag.Bool("update", false, "rewrite testdata/*.md from what the code gives now")

// TestGoldenPairs compares the markdown of each testdata/NAME.html with NAME.md. The first line of a page says which
// rule it shows.
func TestGoldenPairs(t *testing.T) { goldenPairs(t, "testdata", convert.Options{}) }

// TestElementsBecomeMarkdown does so for the pairs of testdata/elements, which show what becomes of elements and are
// converted whole. NAME-not shows what looks like NAME and is not.
func TestElementsBecomeMarkdown(t *testing.T) {
	goldenPairs(t, "testdata/elements", convert.Options{WholePage: true})
}

func goldenPairs(t *testing.T, dir string, o convert.Options) {
	t.Helper()
	files, err := filepath.Glob(dir + "/*.html")
	if err != nil || len(files) == 0 {
		t.Fatalf("no golden pairs: %v", err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(file, ".html")
		t.Run(filepath.Base(name), func(t *testing.T) {
			html, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			got := convertPage(t, string(html), o).Markdown
			if *update {
				if err := os.WriteFile(name+".md", []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(name + ".md")
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(string(want), got); diff != "" {
				t.Errorf("%s (-want +got):\n%s", file, diff)
			}
		})
	}
}
