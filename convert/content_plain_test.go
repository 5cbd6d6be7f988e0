package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// Rule E10.
func TestQuotationsAndTablesStayBesideRepetitiveText(t *testing.T) {
	for _, text := range []string{"lorem ipsum dolor sit amet ", "The value is 42. ", "xyzzy "} {
		for _, size := range []int{400, 1600, 3200} {
			html := fmt.Sprintf(`<html><head><title>T</title></head><body><nav><a href=/x>x</a></nav><article><h1>Values</h1>
				<p>%s</p><blockquote><p>A quoted line.</p></blockquote><table><tr><th>A</th><th>B</th></tr>
				<tr><td>1</td><td>2</td></tr></table></article><footer>Imprint</footer></body></html>`,
				strings.Repeat(text, size/len(text)))
			doc, err := convert.Parse(t.Context(), []byte(html), "text/html", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(t.Context(), convert.Options{})
			if err != nil || !strings.Contains(res.Markdown, "> A quoted line.") ||
				!strings.Contains(res.Markdown, "| 1 | 2 |") || strings.Contains(res.Markdown, "Imprint") {
				t.Errorf("%d bytes of %q: %v, lost:\n%s", size, text, err, res.Markdown[max(0, len(res.Markdown)-200):])
			}
		}
	}
}
