package markdown_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/internal/processor"
)

func TestBlocks(t *testing.T) {
	for _, tt := range []struct{ name, md, want string }{
		{"nothing", " \n\t\n", ""},
		{"paragraphs", "a\nb\n\nc", `text "a\nb", text "c"`},
		{"headings", "# A #\ntext\nB\n--\n", `heading 1 "# A #", text "text\nB\n--"`},
		{"a setext heading below a line that is no paragraph", "***\nB\n===\nc", `text "***", heading 1 "B\n===", text "c"`},
		{"one mark does not underline", "a\n-\nb\n\na\n=\n", `text "a\n-\nb", text "a\n="`},
		{"a heading behind a marker heads no section", "- # a\n> # b\n", `text "- # a\n> # b"`},
		{"a heading in a list item does", "- a\n\n  # b\n", `text "- a", heading 1 "  # b"`},
		{
			"four spaces are code", "a\n\n    # b\n    ```\n\n# c",
			`text "a", text "    # b\n    ` + "```" + `", heading 1 "# c"`,
		},
		{"a fence", "a\n~~~ go\n\n# b\n~~~~\nc", `text "a", code "~~~ go\n\n# b\n~~~~", text "c"`},
		{"a fence ends with its list item", "- ```\n  a\nb", `code "- ` + "```" + `\n  a", text "b"`},
		{
			"a fence in a definition", "a\n: b\n\n  - c\n\n    ```\n    d\n    ```\n",
			`text "a\n: b", text "  - c", code "    ` + "```" + `\n    d\n    ` + "```" + `"`,
		},
		{"a fence ends with its quote", "> ```\n> a\nb", `code "> ` + "```" + `\n> a", text "b"`},
		{"a table", "a\n| b |\n|---|\n| c |\nd\n\ne", `text "a", table "| b |\n|---|\n| c |\nd", text "e"`},
		{"HTML holds no headings", "<div>\n# a\n\n# b\n", `text "<div>\n# a", heading 1 "# b"`},
		{"a comment holds no headings", "<!--\n\n# a\n-->\n# b\n", `text "<!--\n\n# a\n-->", heading 1 "# b"`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for b := range markdown.Blocks([]byte(tt.md)) {
				kind := []string{"text", fmt.Sprint("heading ", b.Level), "code", "table"}[b.Kind]
				got = append(got, fmt.Sprintf("%s %q", kind, tt.md[b.Start:b.End]))
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, ", ")); diff != "" {
				t.Errorf("Blocks (-want +got):\n%s", diff)
			}
		})
	}
}

func TestFences(t *testing.T) {
	for b := range markdown.Blocks([]byte("> 1. ~~~~ go x\n>    a\n>    ~~~~~\n")) {
		f := b.Fence
		if f.Info != "go x" || f.Marker() != "~~~~" || f.Lead() != ">    " || !f.Quoted || !f.Item || b.Close != 22 {
			t.Errorf("fence %+v closes at %d", f, b.Close)
		}
		if !f.ClosedBy([]byte("> ~~~~")) || f.ClosedBy([]byte("> ~~~")) || f.ClosedBy([]byte("> ~~~~ x")) {
			t.Error("a fence is closed by as many of its marks, and nothing else")
		}
	}
	for md, want := range map[string]int{"```\na": markdown.Unclosed, "- ```\n  a\nb": markdown.Left, "```\n```": 4} {
		for b := range markdown.Blocks([]byte(md)) {
			if b.Kind == markdown.Code && b.Close != want {
				t.Errorf("fence of %q closes at %d, want %d", md, b.Close, want)
			}
		}
	}
	for line, want := range map[string]bool{
		"        ```go": true, "> - ~~~": true, "``": false, "``` a`b": false,
		"x ```": false,
	} {
		if got := markdown.OpensFence([]byte(line)); got != want {
			t.Errorf("OpensFence(%q) = %v", line, got)
		}
	}
}

func TestLinesSayWhatIsCode(t *testing.T) {
	md := "a\n\n    ```go\n\n1. b\n\n   ```\n   c\n   ```\n~~~\nd\n"
	var code []string
	for line, kind := range markdown.Lines(md) {
		if kind.Fenced() {
			code = append(code, strings.TrimSpace(line))
		}
	}
	if got := strings.Join(code, " "); got != "``` c ``` ~~~ d" {
		t.Errorf("lines of fenced code: %s", got)
	}
}

func TestSlugsAreThoseOfGitHub(t *testing.T) {
	for title, want := range map[string]string{
		"Hello World": "hello-world", "What's new?": "whats-new", "`code` & more": "code--more", "Über uns": "über-uns",
		"a_b - c": "a_b---c", "[link](x) text": "link-text", "1. First": "1-first",
		"हिन्दी मार्गदर्शिका": "हिन्दी-मार्गदर्शिका",
		"日本語 の 見出し":           "日本語-の-見出し", "_it_ and __init__": "it-and-init", "a  b": "a--b", "x²": "x²",
		"foo‿bar":          "foo‿bar",
		"Fish &amp; chips": "fish--chips", `\*args`: "args", "✨ New": "-new", "a ![logo](x) b": "a--b", "![logo](x)": "logo",
		"<b>Bold</b> move": "bold-move", "C++ / C#": "c--c", "v1.2.3": "v123", "naïve café": "naïve-café", "Γεια": "γεια",
		"snake_case_name": "snake_case_name", "f(*args)": "fargs", "<https://a.test>": "httpsatest",
	} {
		if got := markdown.Slug([]byte(title)); got != want {
			t.Errorf("Slug(%q) = %q, want %q", title, got, want)
		}
	}
}

func TestHeadings(t *testing.T) {
	md := "# A **b**\n\n## X\n\n### X\n\n## X-1\n\n## X\n\n## Own {#mine}\n\n<a id=\"anchored\"></a>\n## C\n\n## <a name=n></a>D\n"
	var got []string
	for _, h := range markdown.Headings([]byte(md)) {
		got = append(got, fmt.Sprintf("%d %s #%s %d-%d", h.Level, h.Title, h.Fragment, h.Start, h.End))
	}
	want := []string{
		"1 A b #a-b 0-101", "2 X #x 11-24", "3 X #x-1 17-24", "2 X-1 #x-1-1 24-32", "2 X #x-2 32-38",
		"2 Own #mine 38-54", "2 C #anchored 54-82", "2 D #n 82-101",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Headings (-want +got):\n%s", diff)
	}
	for fragment, want := range map[string]string{
		"mine": "## Own {#mine}", "X-2": "## X", "anchored": "<a id=\"anchored\"></a>\n## C", "MINE": "", "c": "", "": "",
	} {
		start, end, found := markdown.Section([]byte(md), fragment)
		if got := strings.TrimSpace(md[start:end]); found != (want != "") || found && got != want {
			t.Errorf("Section(%q) = %q, %v, want %q", fragment, got, found, want)
		}
	}
}

func TestSectionsGoOnBehindIndentedFences(t *testing.T) {
	md := "# A\n\n    ```go\n\n# B\n\nb\n\n# C\n"
	if start, end, found := markdown.Section([]byte(md), "b"); !found || md[start:end] != "# B\n\nb\n\n" {
		t.Errorf("section b is %q, %v", md[start:end], found)
	}
}

func TestPlain(t *testing.T) {
	for md, want := range map[string]string{
		"a **b** *c* _d_ __e__ ~~f~~ `g*h`":      "a b c d e f g*h",
		"2 * 3, a*b, snake_case, _private":       "2 * 3, a*b, snake_case, _private",
		"[a [b](c)](d) [e][f] [g] ![h](i)":       "a b e [g] h",
		`\*a\* &amp; \&amp; <b>c</b><!-- d -->`:  "*a* & &amp; c",
		"<https://a.test> <me@a.test> a < b > c": "https://a.test me@a.test a < b > c",
		"``a ` b`` ` c":                          "a ` b ` c",
		"a\x80b":                                 "ab",
	} {
		if got := markdown.Plain([]byte(md)); got != want {
			t.Errorf("Plain(%q) = %q, want %q", md, got, want)
		}
	}
}

func TestLinks(t *testing.T) {
	md := "[a](b \"t\") ![c](<d e>) [![f](g)](h(i)) [j]( ) `[k](l)` \\[m](n)\n" +
		"<https://o.test/> see https://p.test/q?r=1. <a class=x href='s'>t</a> <img src=u>\n\n" +
		"[v]: <w> 'x'\n[^1]: y\n\n    [code](no) https://z.test\n\n    ```\n\n> [over\n> lines](A)\n\n~~~\n[no](no)\n~~~\n[B](C\n"
	var got []string
	names := []string{"link", "image", "definition", "auto", "bare", "href", "src"}
	for l := range markdown.Links([]byte(md)) {
		s := names[l.Kind] + " " + md[l.Start:l.End]
		if l.TextEnd > l.TextStart && l.Kind <= markdown.InlineImage {
			s += " of " + md[l.TextStart:l.TextEnd]
		}
		got = append(got, s)
	}
	want := []string{
		"link b of a", "image d e of c", "image g of f", "link h(i) of ![f](g)", "link  of j", "auto https://o.test/",
		"bare https://p.test/q?r=1", "href s", "src u", "definition w", "bare https://z.test", "link A of over\n> lines",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Links (-want +got):\n%s", diff)
	}
}

// hostile are texts that cost much where a reader looks at bytes again and again.
var hostile = map[string]string{
	"brackets": strings.Repeat("[", 1<<17), "images": strings.Repeat("![", 1<<16),
	"links":      strings.Repeat("[a](b) ", 1<<14),
	"open links": strings.Repeat("[a](", 1<<15), "open titles": strings.Repeat("[a](b \"", 1<<14),
	"ticks": strings.Repeat("` `` ", 1<<15), "run of ticks": strings.Repeat("`", 1<<17),
	"stars":    " " + strings.Repeat("*", 1<<17),
	"emphasis": strings.Repeat("_a ", 1<<16), "underscores": " " + strings.Repeat("_", 1<<17) + " a",
	"tags": strings.Repeat("<a href=\"x\" ", 1<<13), "comments": strings.Repeat("<!-- ", 1<<15),
	"entities": strings.Repeat("&", 1<<17),
	"quotes":   strings.Repeat(strings.Repeat("> ", 100)+"\n", 1000),
	"items":    strings.Repeat("- ", 1<<15) + strings.Repeat("\n\n", 1<<15),
	"headings": strings.Repeat("# a\n", 1<<15), "underlines": strings.Repeat("a\n---\n", 1<<14),
	"fences":       strings.Repeat("```a\n", 1<<15),
	"declarations": strings.Repeat("<!a ", 1<<15), "definitions": strings.Repeat("[a]: b\n", 1<<14),
	"URLs": strings.Repeat("http://", 1<<14),
}

func FuzzAnyTextIsRead(f *testing.F) {
	for _, md := range hostile {
		f.Add([]byte(md))
	}
	f.Fuzz(func(t *testing.T, md []byte) {
		at := 0
		for b := range markdown.Blocks(md) {
			if b.Start < at || b.End <= b.Start || b.End > len(md) || strings.TrimSpace(string(md[at:b.Start])) != "" {
				t.Fatalf("block %d to %d after %d", b.Start, b.End, at)
			}
			at = b.End
			if b.Kind == markdown.Heading {
				_ = b.Title(md)
			}
		}
		if strings.Trim(string(md[at:]), " \t\r\n\v\f") != "" {
			t.Errorf("no block holds %q", md[at:])
		}
		address := 0
		for l := range markdown.Links(md) {
			if l.Start < address || l.End < l.Start || l.End > len(md) || l.TextEnd > len(md) {
				t.Fatalf("link %+v after %d", l, address)
			}
			address = l.End
		}
		var lines strings.Builder
		for line := range markdown.Lines(string(md)) {
			lines.WriteString(line)
			_ = markdown.Plain([]byte(line))
		}
		if lines.String() != string(md) {
			t.Error("lines together are not the text")
		}
		var open []int
		for _, h := range markdown.Headings(md) {
			for len(open) > 0 && open[len(open)-1] <= h.Start {
				open = open[:len(open)-1]
			}
			if h.End > len(md) || h.Start >= h.End || len(open) > 0 && open[len(open)-1] < h.End {
				t.Fatalf("section %+v", h)
			}
			open = append(open, h.End)
		}
	})
}

// White space other than spaces and tabs makes no blank line in CommonMark, and is cut off the end of a block all the
// same.
func TestLinesOfOtherWhiteSpaceAreOfTheirParagraph(t *testing.T) {
	for _, space := range []string{"\f", "\v", "\r\r", " \f ", "> \f", "\f\r"} {
		md := "Fielding, et al.  [Page 1]\n" + space + "\nRFC 2616"
		var got []string
		for b := range markdown.Blocks([]byte(md)) {
			got = append(got, md[b.Start:b.End])
		}
		if len(got) != 1 || got[0] != md {
			t.Errorf("blocks of %q = %q, want all of it", md, got)
		}
	}
}

func TestHostileTextCostsLittle(t *testing.T) {
	for name, md := range hostile {
		t.Run(name, func(t *testing.T) {
			if used := processor.Of(func() {
				_ = markdown.Headings([]byte(md))
				_ = markdown.Plain([]byte(md))
				for range markdown.Links([]byte(md)) {
				}
			}); used > 5*time.Second {
				t.Errorf("%d bytes took %v of processor time", len(md), used)
			}
		})
	}
}

// corpus returns the markdown files in READTHRU_CORPUS_MD, a folder, or else texts of our own.
func corpus(tb testing.TB) (texts [][]byte, size int) {
	tb.Helper()
	files, _ := filepath.Glob(filepath.Join(os.Getenv("READTHRU_CORPUS_MD"), "*.md"))
	for _, file := range files {
		if md, err := os.ReadFile(file); err == nil {
			texts, size = append(texts, md), size+len(md)
		}
	}
	if len(texts) == 0 {
		md := []byte(strings.Repeat(strings.Join(seeds, "\n\n")+strings.Repeat("Some words of text.\n", 20), 100))
		return [][]byte{md}, len(md)
	}
	return texts, size
}

func BenchmarkBlocks(b *testing.B) {
	texts, size := corpus(b)
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, md := range texts {
			for range markdown.Blocks(md) {
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)*1024, "ns/KB")
}

func BenchmarkLinks(b *testing.B) {
	texts, size := corpus(b)
	b.SetBytes(int64(size))
	for b.Loop() {
		for _, md := range texts {
			for range markdown.Links(md) {
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(size)*1024, "ns/KB")
}

func ExampleHeadings() {
	for _, h := range markdown.Headings([]byte("# Install\n\n## From source\n\nRun make.\n\n# Use\n")) {
		fmt.Printf("%d %s (#%s)\n", h.Level, h.Title, h.Fragment)
	}
	// Output:
	// 1 Install (#install)
	// 2 From source (#from-source)
	// 1 Use (#use)
}

func ExampleLines() {
	for line, kind := range markdown.Lines("Run:\n\n```sh\nmake\n```\n") {
		if kind == markdown.FenceText {
			fmt.Print(line)
		}
	}
	// Output: make
}
