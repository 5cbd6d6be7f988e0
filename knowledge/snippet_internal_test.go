package knowledge

import (
	"strings"
	"testing"
)

func TestASnippetBeginsWithASentence(t *testing.T) {
	filler := strings.Repeat("Nothing of that kind is told in this long part of the text, which goes on. ", 6)
	after := "\n\n" + filler
	for _, tt := range []struct{ name, text, want string }{
		{"a sentence", filler + "Boats come home at night with herring." + after, "…Boats come home"},
		{
			"an item of a list", filler + "\n\n- one thing\n- boats come home with herring\n- more" + after,
			"…• boats come home",
		},
		{"a row of a table", filler + "\n\n| a | b |\n|---|---|\n| one | two |\n| boats | herring |\n" + after, "· boats"},
		{
			"a paragraph after a fence",
			filler + "\n\n```\ncode without end\n```\n\nhow boats come home with herring" + after, "…how boats",
		},
		{
			"what is said of a term", filler + "\n\nboat\n: brings herring home, as boats do, at night" + after,
			"…boat : brings",
		},
		{"a question before it", filler + "Do they? “Boats” come home with herring." + after, "…“Boats” come home"},
		{"ideographs", filler + "長い話です。" + "boatsはherringと帰る" + after, "…boats"},
		{"no abbreviation", filler + "All kinds of vessels, e.g. boats, come home with herring." + after, "…All kinds"},
		{"the end of the text", filler + "Boats come home at night with herring.", "…Nothing of that kind"},
		{"too long a sentence", strings.Repeat("on and on it goes, ", 40) + "and boats come home with herring " +
			strings.Repeat("and so on, ", 20), "…"},
	} {
		q := parseQuery("boats herring")
		got, marks, _ := snippet(&q, tt.text)
		if !strings.HasPrefix(got, tt.want) && !strings.Contains(got, " …"+strings.TrimPrefix(tt.want, "…")) ||
			len(marks) < 2 || len([]rune(got)) > snippetChars {
			t.Errorf("%s: %q with %v, want one that begins %q", tt.name, got, marks, tt.want)
		}
	}
}
