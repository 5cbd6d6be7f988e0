package index

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/outline"
	"github.com/readthru/readthru/knowledge/storetest"
)

func FuzzQuery(f *testing.F) {
	for _, s := range []string{
		`"a b`, `a* "b c" d`, "foo-bar:baz", "the of and", "useEffect* *", `"""" "" " "`,
		strings.Repeat("w ", 300),
	} {
		f.Add(s)
	}
	x := idle(f, storetest.Open(f).Records())
	for i := range 3 {
		d := doc(fmt.Sprint("https://a.test/", i), "Title", strings.Repeat("useEffect of the foo_bar a b c d "+
			"日本語 ", 3+i))
		if err := x.Index(f.Context(), d, outline.Split(d.Markdown, outline.SplitOptions{})); err != nil {
			f.Fatal(err)
		}
	}
	f.Fuzz(func(t *testing.T, text string) {
		_, err := x.Search(t.Context(), Query{Text: text, Explain: true})
		if (err != nil) != (strings.TrimSpace(text) == "") {
			t.Fatalf("Search(%q): %v", text, err)
		}
		if x.Stats().Damaged {
			t.Fatalf("Search(%q) found damage", text)
		}
	})
}
