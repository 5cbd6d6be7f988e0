package terminal

import (
	"slices"
	"strings"
	"testing"
)

func TestTablesFitTheTerminal(t *testing.T) {
	header := []string{"DOC", "TITLE", "URL"}
	rows := [][]string{
		{"0123", "A title that goes on for a while", "https://a.test/a/path/that/goes/on/for/a/while"},
		{"4567", "河川の長い題名がここに続いている", "https://b.test/"},
		{"89ab", "e\u0301te\u0301", "https://c.test/"},
	}
	for _, tt := range []struct {
		name  string
		limit int
		want  string
	}{
		{"whole without a limit", 0, `DOC   TITLE                             URL
0123  A title that goes on for a while  https://a.test/a/path/that/goes/on/for/a/while
4567  河川の長い題名がここに続いている  https://b.test/
89ab  ` + "e\u0301te\u0301" + `                               https://c.test/
`},
		{"whole where there is room", 86, `DOC   TITLE                             URL
0123  A title that goes on for a while  https://a.test/a/path/that/goes/on/for/a/while
4567  河川の長い題名がここに続いている  https://b.test/
89ab  ` + "e\u0301te\u0301" + `                               https://c.test/
`},
		{"the widest columns are cut", 40, `DOC   TITLE             URL
0123  A title that go…  https://a.test/…
4567  河川の長い題名…   https://b.test/
89ab  ` + "e\u0301te\u0301" + `               https://c.test/
`},
		{"never an id, and nothing below its header", 1, `DOC   TITLE  URL
0123  A ti…  ht…
4567  河川…  ht…
89ab  ` + "e\u0301te\u0301" + `    ht…
`},
	} {
		got := Layout(header, rows, tt.limit)
		if got != tt.want {
			t.Errorf("%s: limit %d gives\n%swant\n%s", tt.name, tt.limit, got, tt.want)
		}
		if tt.limit < 20 {
			continue
		}
		for line := range strings.Lines(got) {
			if n := Cells(strings.TrimSuffix(line, "\n")); n > tt.limit {
				t.Errorf("%s: %q is %d wide, over %d", tt.name, line, n, tt.limit)
			}
		}
	}
}

func TestEveryListFitsTheTerminal(t *testing.T) {
	long := strings.Repeat("words ", 40)
	for _, header := range [][]string{
		{"HOST", "TRAIT", "SINCE", "UNTIL", "CLIENT"},
		{"NAME", "SOURCE", "DOCUMENTS", "PASSAGES", "UPDATED", "DESCRIPTION"},
		{"PASSAGES", "SUBJECT"},
		{"PASSAGE", "HEADING", "SUBJECTS"},
		{"ID", "KIND", "KB", "STATE", "DONE", "BEGAN", "ERROR"},
		{"ID", "KEPT", "SUBJECTS", "TEXT"},
		{"TYPE", "PAGE", "URL"},
		{"TIME", "SOURCE", "FROM", "TOKENS", "SESSION", "AGENT", "URL"},
	} {
		row := make([]string, len(header))
		for i, name := range header {
			row[i] = "short"
			if slices.Contains(foreign, name) {
				row[i] = long
			}
		}
		for _, limit := range []int{80, 120} {
			for line := range strings.Lines(Layout(header, [][]string{row}, limit)) {
				if n := Cells(strings.TrimSuffix(line, "\n")); n > limit {
					t.Errorf("%v: a line of %d, over %d", header, n, limit)
				}
			}
		}
	}
}

func TestCountsAgreeWithTheirNouns(t *testing.T) {
	for n, want := range map[int64]string{0: "0 pages", 1: "1 page", 2: "2 pages"} {
		if got := Count(n, "page"); got != want {
			t.Errorf("count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestBytesAreWrittenForPeople(t *testing.T) {
	for n, want := range map[int64]string{
		-1: "0 B", 0: "0 B", 1023: "1023 B", 1536: "1.5 KiB", 2 << 20: "2.0 MiB", 300 << 20: "300 MiB", 5 << 40: "5.0 TiB",
	} {
		if got := Bytes(n); got != want {
			t.Errorf("bytesText(%d) = %q, want %q", n, got, want)
		}
	}
}
