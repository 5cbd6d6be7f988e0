package query

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/readthru/readthru/knowledge/excerpt"
)

func TestSnippetShowsWhereTheQueryIs(t *testing.T) {
	long := strings.Repeat("Nothing to see in this sentence at all. ", 20)
	for _, tt := range []struct {
		name, text, asked, want string // want: the snippet with its highlights in brackets
	}{
		{"short", "The cats sleep.", "cat", "The [cats] sleep."},
		{"identifiers are marked whole", "Call useEffect now.", "useEffect", "Call [useEffect] now."},
		{"a part is marked alone", "Call useEffect now.", "effect", "Call use[Effect] now."},
		{"links lose their targets", "See [the guide](https://a.test/x) there.", "guide", "See the [guide] there."},
		{"its own heading, fences and rules go", "## Head\n\n```go\ncode()\n```\n\n---\n", "code", "[code]()"},
		{
			"a heading further down ends in a colon", "Pools **end**.\n\n### Notes `x`\n\nThe pool\nis _deep_.", "pool",
			"[Pools] end. Notes x: The [pool] is deep.",
		},
		{"nothing but headings", "# One\n\n## Two", "two", "# One ## [Two]"},
		{"lists and quotes", "> quoted\n\n- one\n- `two`\n\n1. three", "two", "quoted • one • [two] 1. three"},
		{"tables", "| a | b |\n|---|---|\n| one | [two](x) |", "two", "a | b · one | [two]"},
		{
			"definitions of links and comments", "See [it][1].\n\n<!-- no -->\n\n[1]: https://a.test/it", "see",
			"[See] it.",
		},
		{"entities and escapes", "a &lt;b&gt; \\*c\\*", "b", "a <[b]> *c*"},
		{"accents", "Das Café öffnet", "cafe öffnet", "Das [Café] [öffnet]"},
		{"accents of the second letter", "Neue Möbel", "möbel", "Neue [Möbel]"},
		{"versions", "Since 15.4 and 15-20", "15.4", "Since [15.4] and [15]-20"},
		{"prefix", "configured by configuration", "conf*", "[configured] by [configuration]"},
		{"prefix of identifiers", "jsonb and jsonb_agg(x)", "jsonb_*", "jsonb and [jsonb_agg](x)"},
		{"no word of it", "Only the title has it.", "walrus", "Only the title has it."},
		{"control characters are no text", "a\x1b[1m red\x00", "red", "a\ufffd[1m [red]\ufffd"},
	} {
		q := Parse(tt.asked)
		s, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, tt.text)
		if got := bracketed(s, marks); got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
	q := Parse("walrus tusks")
	s, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, long+"A walrus has two tusks. "+long+"walrus walrus")
	if n := utf8.RuneCountInString(s); n > excerpt.Chars || n < excerpt.Chars/2 || len(marks) != 4 ||
		!strings.HasPrefix(s, "…A walrus has two tusks.") {
		t.Errorf("snippet of a long text = %d characters, %v: %q", n, marks, s)
	}
}

// bracketed puts brackets round what is highlighted.
func bracketed(s string, marks [][2]int) string {
	r := []rune(s)
	for _, m := range slices.Backward(marks) {
		r = slices.Insert(slices.Insert(r, m[1], ']'), m[0], '[')
	}
	return string(r)
}

func FuzzSnippet(f *testing.F) {
	f.Add("The cats [sleep](x) "+strings.Repeat("日本 ", 200), "cat sleep 日本")
	f.Add(strings.Repeat("aAbB_c ", 100)+"\xff\xfe", `"a b" a*`)
	f.Fuzz(func(t *testing.T, text, query string) {
		q := Parse(query)
		s, marks, _ := excerpt.Snippet(q.Spots, excerpt.Chars, text)
		n := utf8.RuneCountInString(s)
		if n > excerpt.Chars || !utf8.ValidString(s) || strings.ContainsAny(s, "\n\r\x00\x1b") {
			t.Fatalf("snippet of %d characters: %q", n, s)
		}
		at := 0
		for _, m := range marks {
			if m[0] < at || m[1] <= m[0] || m[1] > n {
				t.Fatalf("highlights %v in %d characters %q", marks, n, s)
			}
			at = m[1]
		}
	})
}

func TestAQueryOfManyWordsIsBounded(t *testing.T) {
	var text strings.Builder
	for i := range 10_000 {
		fmt.Fprintf(&text, `w%d* "p%d q%d" `, i, i, i)
	}
	q := Parse(text.String())
	prefixes := 0
	for _, term := range q.Terms {
		if term.Prefix {
			prefixes++
		}
	}
	if len(q.Terms) > maxQueryWords || len(q.Phrases) > maxPhrases || prefixes > maxPrefixes {
		t.Errorf("%d terms, %d phrases, %d prefixes, want at most %d, %d, %d", len(q.Terms), len(q.Phrases), prefixes,
			maxQueryWords, maxPhrases, maxPrefixes)
	}
}

func TestStopWordsCountOnlyAlone(t *testing.T) {
	stems := func(text string) (list []string) {
		q := Parse(text)
		for _, term := range q.Terms {
			list = append(list, term.Stem)
		}
		return list
	}
	if got := stems("to be or not to be"); len(got) == 0 {
		t.Error("a query of stop words has no words")
	}
	if got := stems("the state of the art"); !slices.Equal(got, []string{"state", "art"}) {
		t.Errorf("words = %v, want state, art", got)
	}
}
