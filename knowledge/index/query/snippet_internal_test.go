package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/excerpt"
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
		{
			"a row of a table",
			filler + "\n\n| a | b |\n|---|---|\n| one | two |\n| boats | herring |\n" + after, "· boats",
		},
		{
			"a paragraph after a fence",
			filler + "\n\n```\ncode without end\n```\n\nhow boats come home with herring" + after, "…how boats",
		},
		{
			"what is said of a term", filler + "\n\nboat\n: brings herring home, as boats do, at night" + after,
			"…boat : brings",
		},
		{
			"a question before it", filler + "Do they? “Boats” come home with herring." + after,
			"…“Boats” come home",
		},
		{"ideographs", filler + "長い話です。" + "boatsはherringと帰る" + after, "…boats"},
		{"no abbreviation", filler + "All kinds of vessels, e.g. boats, come home with herring." + after, "…All kinds"},
		{"the end of the text", filler + "Boats come home at night with herring.", "…Nothing of that kind"},
		{"too long a sentence", strings.Repeat("on and on it goes, ", 40) + "and boats come home with herring " +
			strings.Repeat("and so on, ", 20), "…"},
	} {
		q := Parse("boats herring")
		got, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, tt.text)
		if !strings.HasPrefix(got, tt.want) && !strings.Contains(got, " …"+strings.TrimPrefix(tt.want, "…")) ||
			len(marks) < 2 || len([]rune(got)) > excerpt.Chars {
			t.Errorf("%s: %q with %v, want one that begins %q", tt.name, got, marks, tt.want)
		}
	}
}

// A snippet is read as what it stands under: the header of its table, the item around it, the words before its list.
func TestSnippetsRepeatWhatTheyAreToBeReadWith(t *testing.T) {
	filler := strings.Repeat("Some words of no use at all. ", 14)
	rows := ""
	for n := range 30 {
		rows += fmt.Sprintf("| setting%d | %d | What the %dth of them does. |\n", n, n, n)
	}
	items := ""
	for n := range 30 {
		items += fmt.Sprintf("- `name%d` does what the %dth of them does.\n", n, n)
	}
	for _, tt := range []struct{ name, md, asked, want string }{
		{
			"a row", filler + "\n\n| Name | Default | Meaning |\n|---|---|---|\n" + rows, "setting20",
			"Name | Default | Meaning …",
		},
		{
			"its header is shown itself", "| Name | Default |\n|---|---|\n" + rows, "setting1",
			"Name | Default · setting0",
		},
		{"an item", filler + "\n\nWords. These are the names:\n" + items, "name20", "These are the names: …"},
		{
			"an item of a loose list", "The names:\n\n" + strings.ReplaceAll(items, "\n", "\n\n"), "name20",
			"The names: …",
		},
		{
			"an item in an item", "- outer item\n" + strings.ReplaceAll("\n"+items, "\n-", "\n  -"), "name20",
			"outer item …",
		},
		{"a list without words before it", "# A\n\n" + filler + "\n\n" + items, "name20", "…"},
		{"after a list", "The names:\n" + items + "\nA walrus. " + filler, "walrus", "…"},
	} {
		q := Parse(tt.asked)
		s, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, tt.md)
		if n := len([]rune(s)); !strings.HasPrefix(s, tt.want) || n > excerpt.Chars || len(marks) == 0 ||
			string([]rune(s)[marks[0][0]:marks[0][1]]) != tt.asked {
			t.Errorf("%s: %d characters, %v: %q, want %q", tt.name, n, marks, s, tt.want)
		}
	}
}

func TestALongPassageShowsTwoOfItsPlaces(t *testing.T) {
	filler := strings.Repeat("Nothing of that kind is told here. ", 12)
	most := "Boats come home with herring at night. "
	for _, tt := range []struct{ name, text string }{
		{"after the first", most + filler + "A herring is smoked. " + filler},
		{"before it", filler + "A herring is smoked. " + filler + most + filler},
	} {
		const asked = "boats with herring at home"
		q := Parse(asked)
		got, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, tt.text)
		if n := len([]rune(got)); n > excerpt.Chars || !strings.Contains(got, strings.TrimSpace(most)) ||
			!strings.Contains(got, "…A herring is smoked.") {
			t.Errorf("%s: %d characters: %q, want both places", tt.name, n, got)
		}
		for _, m := range marks {
			if word := strings.ToLower(string([]rune(got)[m[0]:m[1]])); !strings.Contains(asked, word) {
				t.Errorf("%s: %q is marked in %q", tt.name, word, got)
			}
		}
		q.Terms[len(q.Terms)-1].Rarity = 1
		for i := range q.Terms {
			if q.Terms[i].Form == "herring" {
				q.Terms[i].Rarity = .2
			}
		}
		if got, _, _ := excerpt.Snippet(q.Spots, excerpt.Chars, tt.text); strings.Contains(got, "smoked") {
			t.Errorf("%s: %q shows a second place for a frequent word", tt.name, got)
		}
	}
}

func TestACellThatSpansColumnsIsShownOnce(t *testing.T) {
	const table = "| Name | Default |\n|---|---|\n| port | 80 |\n| where it listens | where it listens |\n"
	if got, want := excerpt.PlainLine(table), "Name | Default · port | 80 · where it listens"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What a hit is shown under names the part of the passage that has most of the query. Parts before it are about
// something else.
func TestASnippetShowsNothingOfThePartsBeforeItsOwn(t *testing.T) {
	first := "first(n)\n: Herring. " + strings.Repeat("Nothing of that kind is told here. ", 12)
	q := Parse("boats herring")
	for _, chars := range []int{excerpt.Chars, 600} {
		got, marks, part := excerpt.Snippet(q.Spots, chars, first, "second(n)\n: Boats come home with herring.")
		if part != 1 || got != "…second(n) : Boats come home with herring." || len(marks) != 2 {
			t.Errorf("%d characters: %q with %v of part %d, want the second part alone", chars, got, marks, part)
		}
	}
}
