package convert_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// Rule E10.
func TestQuotationsTablesAndListsStayBesideLongText(t *testing.T) {
	for _, text := range []string{
		"lorem ipsum dolor sit amet ", "The value is 42. ", "xyzzy ",
		`The tide is high at noon, and low at six. Ships leave the harbour an hour before it, and come back in the
			evening. When the wind is from the north, the water stays for longer, and those who want to cross the bar
			should ask the harbour master, who is in his office from eight to four. Fishing boats have their own times,
			which are on the board at the pier, and which change with the moon. `,
	} {
		for _, size := range []int{400, 1600, 3200} {
			for _, element := range []string{"article", "main"} {
				html := fmt.Sprintf(`<html><head><title>T</title></head><body><nav><a href=/x>x</a></nav><%s><h1>Values</h1>
					<p>%s</p><blockquote><p>A quoted line.</p></blockquote><table><tr><th>A</th><th>B</th></tr>
					<tr><td>1</td><td>2</td></tr></table><h2>Times</h2><ul><li>Mon 12:03</li></ul></%s>
					<footer>Imprint</footer></body></html>`, element, strings.Repeat(text, max(1, size/len(text))), element)
				doc, err := convert.Parse(t.Context(), []byte(html), "text/html", nil)
				if err != nil {
					t.Fatal(err)
				}
				res, err := doc.Convert(t.Context(), convert.Options{})
				if err != nil || !strings.Contains(res.Markdown, "> A quoted line.") ||
					!strings.Contains(res.Markdown, "| 1 | 2 |") || !strings.Contains(res.Markdown, "## Times\n\n- Mon 12:03") ||
					strings.Contains(res.Markdown, "Imprint") {
					t.Errorf("%s, %d bytes of %.20q: %v, lost:\n%s", element, size, text, err,
						res.Markdown[max(0, len(res.Markdown)-200):])
				}
			}
		}
	}
}
