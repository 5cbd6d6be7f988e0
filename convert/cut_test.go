package convert_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestTextIsCutBetweenBlocks(t *testing.T) {
	md := "# Title\n\nOne two three four.\n\n```go\nfunc main() {\n\n}\n```\n\n~~~~\n~~~\n\nx\n~~~~\nLast words here.\n"
	// each block's count is rounded
	if got, next := convert.Cut([]byte(md), convert.Tokens(md)+10); next != 0 || string(got) != md {
		t.Errorf("Cut with a sufficient limit: next = %d, want 0", next)
	}
	for limit := 1; limit < convert.Tokens(md); limit++ {
		got, next := convert.Cut([]byte(md), limit)
		kept, note, _ := strings.Cut(string(got), "\n[Cut here: ")
		if next > 0 && (note == "" || !strings.HasPrefix(md, strings.TrimRight(kept, "\n"))) {
			t.Errorf("limit %d: %q is not a start of the text and a note", limit, got)
		}
		if strings.Count(kept, "```")%2 != 0 || strings.Count(kept, "~~~~")%2 != 0 {
			t.Errorf("limit %d cuts a fence: %q", limit, got)
		}
	}
	got, next := convert.Cut([]byte(md), convert.Tokens("# Title\n\nOne two three four.\n\n"))
	if !strings.HasPrefix(md[next:], "```go") ||
		!strings.HasPrefix(string(got), "# Title\n\nOne two three four.\n\n[Cut here: ") {
		t.Errorf("next = %d, kept %q; want the cut before the fence", next, got)
	}
}

func TestLongListsAndTablesAreCutBetweenLines(t *testing.T) {
	for name, md := range map[string]string{
		"list":  strings.Repeat("- an item of the list\n", 200),
		"table": "| a | b |\n| --- | --- |\n" + strings.Repeat("| one | two |\n", 200),
	} {
		got, next := convert.Cut([]byte(md), 50)
		if next == 0 || md[next-1] != '\n' || convert.Tokens(got) > 80 {
			t.Errorf("%s: next = %d, %d tokens; want a cut between lines near 50 tokens", name, next, convert.Tokens(got))
		}
	}
	md := "```\n" + strings.Repeat("a line of code\n", 200) + "```\n\nafter\n"
	if got, _ := convert.Cut([]byte(md), 50); strings.Count(string(got), "```") != 2 ||
		strings.Contains(string(got), "after") {
		t.Errorf("the code block is not whole: %.80q", got)
	}
}
