package convert_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// withoutRace skips a case that takes the race detector half a minute; "make test" runs it without in full size.
func withoutRace(t *testing.T) {
	t.Helper()
	if raceFactor > 1 {
		t.Skip("under the race detector; the run in full size has it")
	}
}

// overLimit repeats piece in frame, until the page is larger than what is read as a whole.
func overLimit(frame string, piece func(i int) string) (page string, pieces int) {
	var b strings.Builder
	for ; b.Len() < 11<<20; pieces++ {
		b.WriteString(piece(pieces))
	}
	return "<!doctype html><html><head><title>Rivers</title><style>.secret{display:none}</style></head><body>" +
		"<nav><a href=/menu>Menu</a></nav>" + strings.Replace(frame, "%s", b.String(), 1) +
		"<footer>Imprint and terms</footer></body></html>", pieces
}

// TestALargePageIsConvertedWhole converts pages that are cut into parts: every piece is there once, in order, and
// neither furniture nor hidden text is.
func TestALargePageIsConvertedWhole(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds of a processor")
	}
	filler := strings.Repeat("who live on its banks have moved what they could, and wait for the rest; ", 12)
	for _, tt := range []struct {
		name, frame string
		piece       func(i int) string
		want        func(i int) string
		none        []string
		more        func(t *testing.T, md string)
	}{
		{
			name: "prose", frame: "<main><h1>Rivers</h1>%s</main>",
			piece: func(i int) string {
				return fmt.Sprintf("<p>Piece %d: those %s<p class=secret>SECRET %d</p>\n", i, filler, i)
			},
		},
		{
			name: "table", frame: "<main><h1>Rivers</h1><table><tr><th>No<th>Name</tr>%s</table></main>",
			piece: func(i int) string { return fmt.Sprintf("<tr><td>%d<td>Piece %d: %s</tr>\n", i, i, filler) },
			more: func(t *testing.T, md string) {
				t.Helper()
				if n, rows := strings.Count(md, "| No "), strings.Count(md, "\n| --"); n < 2 || n != rows {
					t.Errorf("%d headers above %d tables, want one above the part of each part", n, rows)
				}
			},
		},
		{
			name: "ordered list", frame: "<main><h1>Rivers</h1><ol>%s</ol></main>",
			piece: func(i int) string { return fmt.Sprintf("<li>Piece %d: %s\n", i, filler) },
			more: func(t *testing.T, md string) {
				t.Helper()
				for _, m := range regexp.MustCompile(`(?m)^(\d+)\. Piece (\d+):`).FindAllStringSubmatch(md, -1) {
					var number, piece int
					_, _ = fmt.Sscan(m[1]+" "+m[2], &number, &piece)
					if number != piece+1 {
						t.Fatalf("piece %d has the number %d", piece, number)
					}
				}
			},
		},
		{
			name: "one text", frame: "<main><h1>Rivers</h1><pre>%s</pre></main>",
			piece: func(i int) string { return fmt.Sprintf("Piece %d: %s\n", i, filler) },
		},
		{
			name: "hidden", frame: "<main><h1>Rivers</h1><p>Piece 0: " + filler + filler + "</p><div class=secret>%s</div></main>",
			piece: func(i int) string { return fmt.Sprintf("<p>SECRET %d: %s</p>", i, filler) },
			want:  func(int) string { return "Piece 0:" },
			none:  []string{"SECRET", "Menu"}, // the last part says nothing but the imprint
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if tt.name != "prose" {
				withoutRace(t)
			}
			page, n := overLimit(tt.frame, tt.piece)
			doc, err := convert.Parse(t.Context(), []byte(page), "text/html; charset=utf-8", pageURL)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{})
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for i := range n {
				want := fmt.Sprintf("Piece %d:", i)
				if tt.want != nil {
					want, i = tt.want(i), n
				}
				next := strings.Index(res.Markdown[at:], want)
				if next < 0 {
					t.Fatalf("%q is missing", want)
				}
				at += next
				if i == n {
					break
				}
			}
			if strings.Count(res.Markdown, "Piece ") > n || strings.Count(res.Markdown, "# Rivers") != 1 {
				t.Errorf("%d pieces, want %d; %d titles", strings.Count(res.Markdown, "Piece "), n,
					strings.Count(res.Markdown, "# Rivers"))
			}
			if tt.none == nil {
				tt.none = []string{"SECRET", "Imprint", "Menu"}
			}
			for _, none := range tt.none {
				if strings.Contains(res.Markdown, none) {
					t.Errorf("%s is in it %d times", none, strings.Count(res.Markdown, none))
				}
			}
			if slices.Contains(res.Warnings, "truncated") || slices.Contains(res.Warnings, "thin") {
				t.Errorf("warnings %q", res.Warnings)
			}
			if tt.more != nil {
				tt.more(t, res.Markdown)
			}
		})
	}
}

func TestOfALargePageAPartCanBeChosen(t *testing.T) {
	if testing.Short() {
		t.Skip("short: it takes seconds of a processor")
	}
	withoutRace(t)
	page, n := overLimit("<main><h1>Rivers</h1>%s</main>", func(i int) string {
		return fmt.Sprintf("<h2 id=r%d>River %d</h2><p id=p%d>%s</p>\n", i, i, i,
			strings.Repeat("It flows to the sea. ", 50))
	})
	doc, err := convert.Parse(t.Context(), []byte(page), "text/html", pageURL)
	if err != nil {
		t.Fatal(err)
	}
	last := fmt.Sprint(n - 1)
	for _, o := range []convert.Options{{Section: "river-" + last}, {Selector: "#r" + last}} {
		res, err := doc.Convert(t.Context(), o)
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		if !strings.HasPrefix(res.Markdown, "## River "+last) || len(res.Markdown) > 4<<10 {
			t.Errorf("%+v: %.80q… of %d bytes", o, res.Markdown, len(res.Markdown))
		}
	}
	if _, err := doc.Convert(t.Context(), convert.Options{Selector: "#none"}); !errors.Is(err, convert.ErrNoMatch) {
		t.Errorf("a selector that matches nothing: %v", err)
	}
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := doc.Convert(gone, convert.Options{}); err == nil {
		t.Error("the client has gone, and there is a result")
	}
}
