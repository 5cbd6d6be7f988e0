package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/JohannesKaufmann/html-to-markdown/v2/converter"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/base"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/commonmark"
	"github.com/JohannesKaufmann/html-to-markdown/v2/plugin/table"

	"github.com/readthru/readthru/convert"
)

// BenchmarkLibrary has html-to-markdown convert what decision 007 is about, twice as much each time, and package
// convert the same: what is linear takes twice as long.
func BenchmarkLibrary(b *testing.B) {
	library := converter.NewConverter(converter.WithPlugins(
		base.NewBasePlugin(), commonmark.NewCommonmarkPlugin(), table.NewTablePlugin()))
	for _, in := range []struct {
		name string
		of   func(n int) string
	}{
		{"brackets", func(n int) string { return "<p>" + strings.Repeat("[", 10_000*n) }},
		{"delimiters of formulas", func(n int) string { return "<p>" + strings.Repeat(`\(`, 10_000*n) }},
		{"code in nested lists", func(n int) string {
			return strings.Repeat("<ul><li>", 25*n) + "<pre>" + strings.Repeat("x\n", 2500*n)
		}},
		{"lines in nested quotes", func(n int) string {
			return strings.Repeat("<blockquote>", 25*n) + strings.Repeat("<p>x</p>", 1000*n)
		}},
		{"one long row and many short ones", func(n int) string {
			return "<table><tr>" + strings.Repeat("<td>x", 250*n) + strings.Repeat("<tr><td>y<td>z", 250*n) + "</table>"
		}},
		{"spans", func(n int) string { return fmt.Sprintf("<table><tr><td colspan=%d>x<tr><td>y</table>", 100_000*n) }},
		{"links", func(n int) string { return "<p>x" + strings.Repeat("<a href=/x>x</a>", 10_000*n) }},
		{"text", func(n int) string { return "<p>" + strings.Repeat("lorem ipsum ", 20_000*n) }},
	} {
		for n := 1; n <= 4; n *= 2 {
			page := in.of(n)
			b.Run(fmt.Sprintf("%s/%d KB/library", in.name, len(page)>>10), func(b *testing.B) {
				for b.Loop() {
					if _, err := library.ConvertString(page); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("%s/%d KB/ours", in.name, len(page)>>10), func(b *testing.B) {
				for b.Loop() {
					doc, err := convert.Parse(b.Context(), []byte(page), "text/html", pageURL)
					if err == nil {
						_, err = doc.Convert(b.Context(), convert.Options{})
					}
					if err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
