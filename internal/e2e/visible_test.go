package e2e_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"html"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/render"
)

// mostLost is how much of the visible text of real pages a conversion of the whole page may lose.
const mostLost = .005

// TestVisibleTextOfTheCorpusIsKept shows each page of a corpus to a browser, without scripts and without a network, and
// looks for every sentence of its innerText in the markdown of the whole page. A sentence has four words or more; what
// controls and dialogs say is none, nor what the page says to be for the eye alone. Style sheets that lie elsewhere are
// missing, so that some menus are seen that a reader does not see.
func TestVisibleTextOfTheCorpusIsKept(t *testing.T) {
	dir := os.Getenv("READTHRU_CORPUS")
	if dir == "" {
		t.Skip("it needs many real pages: READTHRU_CORPUS names no corpus")
	}
	manifest, err := os.ReadFile(filepath.Join(dir, "manifest.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	type entry struct {
		URL, HTML string
		content   []byte
	}
	var all []*entry
	seen := map[string]bool{}
	for line := range bytes.Lines(manifest) {
		e := &entry{}
		if err := json.Unmarshal(line, e); err != nil {
			t.Fatal(err)
		}
		if !seen[e.HTML] {
			seen[e.HTML] = true
			all = append(all, e)
		}
	}
	browser := newBrowser(t)
	sentences, lost := 0, 0
	for some := range slices.Chunk(all, 8) {
		var contents [][]byte
		for _, e := range some {
			e.content = convert.UTF8(unzipped(t, filepath.Join(dir, e.HTML)))
			contents = append(contents, e.content)
		}
		for i, text := range shownTexts(t, browser, contents) {
			e := some[i]
			converted := letters(wholePage(t, e.URL, e.content))
			for _, sentence := range sentencesOf(text) {
				sentences++
				if !strings.Contains(converted, letters(sentence)) {
					lost++
					t.Logf("%s: %.200s", e.HTML, sentence)
				}
			}
		}
	}
	share := float64(lost) / float64(max(sentences, 1))
	t.Logf("%d pages: %d of %d visible sentences are lost: %.2f %%", len(all), lost, sentences, 100*share)
	if share > mostLost || sentences == 0 {
		t.Errorf("more than %.2f %% are lost", 100*mostLost)
	}
}

// wholePage returns the markdown of a page with all that is outside its content.
func wholePage(t *testing.T, rawURL string, content []byte) string {
	t.Helper()
	u, err := url.Parse(rawURL)
	if err != nil {
		u = nil // the address of a corpus may be none
	}
	doc, err := convert.Parse(t.Context(), content, "text/html; charset=utf-8", u)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(t.Context(), convert.Options{WholePage: true, Links: "text", Images: "none"})
	if err != nil {
		t.Fatal(err)
	}
	return res.Markdown
}

// shownTexts returns the innerText of pages.
func shownTexts(t *testing.T, browser *render.Browser, pages [][]byte) (texts []string) {
	t.Helper()
	var outer strings.Builder
	outer.WriteString("<!doctype html><body>")
	for _, content := range pages {
		fmt.Fprintf(&outer, `<iframe sandbox="allow-same-origin" width=1280 height=900 srcdoc="%s"></iframe>`,
			html.EscapeString(string(content)))
	}
	outer.WriteString(`<script>
		onload = () => {
			for (const frame of document.querySelectorAll('iframe')) {
				const out = document.createElement('pre'), body = frame.contentDocument.body
				const aside = 'button, select, textarea, dialog, [role=button], [role=dialog], [aria-hidden=true]'
				for (const e of frame.contentDocument.querySelectorAll(aside)) {
					e.remove()
				}
				out.textContent = 'TEXT' + ' BEGINS' + (body ? body.innerText : '') + 'TEXT' + ' ENDS'
				frame.replaceWith(out)
			}
		}
	</script></body>`)
	u, err := url.Parse("http://www.example/")
	if err != nil {
		t.Fatal(err)
	}
	got, err := browser.Render(t.Context(), render.Request{
		URL: u, Status: http.StatusOK, Header: http.Header{"Content-Type": {"text/html; charset=utf-8"}},
		Body: []byte(outer.String()),
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split(string(got.HTML), "TEXT BEGINS")[1:] {
		text, _, _ := strings.Cut(part, "TEXT ENDS")
		texts = append(texts, html.UnescapeString(text))
	}
	if len(texts) != len(pages) {
		t.Fatalf("the browser shows %d of %d pages: %.300s", len(texts), len(pages), got.HTML)
	}
	return texts
}

// sentenceEnd is where one sentence of a line ends.
var sentenceEnd = regexp.MustCompile(`[.!?]["'”’)]*\s+|\t+|\n+`)

// sentencesOf returns the sentences of a text, of four words or more.
func sentencesOf(text string) (list []string) {
	for _, sentence := range sentenceEnd.Split(text, -1) {
		if len(strings.Fields(sentence)) >= 4 && letters(sentence) != "" {
			list = append(list, sentence)
		}
	}
	return list
}

// letters returns the letters and digits of a text, in lower case: markup and white space make no difference.
func letters(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, text)
}

func unzipped(t *testing.T, name string) []byte {
	t.Helper()
	file, err := os.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close() //nolint:errcheck // it is only read
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(fmt.Errorf("%s: %w", name, err))
	}
	return content
}
