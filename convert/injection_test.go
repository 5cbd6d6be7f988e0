package convert_test

import (
	"cmp"
	"context"
	"encoding/json"
	stdhtml "html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// vector is a page of injection-vectors.json with text that a reader does not see.
type vector struct{ ID, Cls, HTML, Note string }

// shown reports whether the text of the vector that looks like an attack is content.
func (v *vector) shown() bool {
	return v.Cls == "role" || strings.Contains(v.Note, "legitimate") || v.ID == "img-alt" || v.ID == "md-alt-break"
}

// characters reports whether what is hidden is characters.
func (v *vector) characters() bool { return v.Cls == "unicode" || v.Cls == "invisible" }

// fragment returns the content of a vector's page with its style sheets, as it may stand in markdown. A control
// character stands there as it is.
func fragment(v *vector) string {
	var b strings.Builder
	for style := range strings.SplitSeq(v.HTML, "<style>") {
		if sheet, _, found := strings.Cut(style, "</style>"); found {
			b.WriteString("<style>" + sheet + "</style>\n\n")
		}
	}
	_, body, _ := strings.Cut(v.HTML, "<body>")
	for _, end := range []string{"</article>", "</main>", "</body>"} {
		body, _, _ = strings.Cut(body, end)
	}
	body = strings.NewReplacer("<article>", "", "<main>", "").Replace(body)
	if v.characters() {
		body = stdhtml.UnescapeString(body)
	}
	return b.String() + body
}

// vectors reads injection-vectors.json, in testdata/security or the folder that READTHRU_CORPUS_SECURITY names.
func vectors(t *testing.T) (list []vector) {
	t.Helper()
	dir := cmp.Or(os.Getenv("READTHRU_CORPUS_SECURITY"), "testdata/security")
	file, err := os.ReadFile(filepath.Join(dir, "injection-vectors.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

// TestInjectionVectorsLeaveNoHiddenText converts the vectors as pages, and checks that the markdown has no hidden,
// fallback or invisible text and every visible sentence.
func TestInjectionVectorsLeaveNoHiddenText(t *testing.T) {
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			for _, o := range []convert.Options{{}, {WholePage: true}} {
				res := convertPage(t, v.HTML, o)
				for _, sentence := range []string{
					"Visible paragraph one of the real article",
					"Visible paragraph two, which is also real content",
				} {
					if !strings.Contains(res.Markdown, sentence) {
						t.Errorf("%+v: %q is missing: %q", o, sentence, res.Markdown)
					}
				}
				if bad := invisibles(res.Markdown); bad != "" {
					t.Errorf("%+v: %s is left in %q", o, bad, res.Markdown)
				}
				if !v.shown() && strings.Contains(res.Markdown, "PWN") {
					t.Errorf("%+v: hidden text is left: %q", o, res.Markdown)
				}
				if v.Cls == "hidden" && len(res.Removed.Pieces) == 0 {
					t.Errorf("%+v: nothing is reported as removed", o)
				}
			}
		})
	}
}

// TestInjectionVectorsInMarkdownLeaveNoHiddenText gives the vectors as an origin would that calls them markdown, plain
// text or data. In data only characters are hidden.
func TestInjectionVectorsInMarkdownLeaveNoHiddenText(t *testing.T) {
	paragraphs := strings.NewReplacer("<h1>", "# ", "</h1>", "\n\n", "<p>Visible", "\n\nVisible", ".</p>", ".\n\n")
	for _, v := range vectors(t) {
		t.Run(v.ID, func(t *testing.T) {
			page := fragment(&v)
			data, err := json.Marshal(map[string]string{"page": page})
			if err != nil {
				t.Fatal(err)
			}
			for form, text := range map[string]string{
				"text/markdown": paragraphs.Replace(page), "text/x-markdown": page + "\n\n# Heading\n",
				"text/plain": paragraphs.Replace(page), "application/json": string(data),
			} {
				doc, err := convert.Parse(context.Background(), []byte(text), form, nil)
				if err != nil {
					t.Fatal(err)
				}
				res, err := doc.Convert(context.Background(), convert.Options{})
				if err != nil {
					t.Fatal(err)
				}
				for _, sentence := range []string{
					"Visible paragraph one of the real article",
					"Visible paragraph two, which is also real content",
				} {
					if !strings.Contains(res.Markdown, sentence) {
						t.Errorf("%s: %q is missing: %q", form, sentence, res.Markdown)
					}
				}
				if bad := invisibles(res.Markdown); bad != "" {
					t.Errorf("%s: %+q is left in %q", form, bad, res.Markdown)
				}
				if form != "application/json" && !v.shown() && strings.Contains(res.Markdown, "PWN") {
					t.Errorf("%s: hidden text is left: %q", form, res.Markdown)
				}
				if (v.Cls == "hidden" && form != "application/json" || invisibles(text) != "") && len(res.Removed.Pieces) == 0 {
					t.Errorf("%s: nothing is reported as removed", form)
				}
			}
		})
	}
}

// invisibles returns the first invisible character of s, or "".
func invisibles(s string) string {
	for _, r := range s {
		switch {
		case r < ' ' && r != '\n' && r != '\t', r >= 0x7f && r < 0xa0, r == 0xad, r >= 0x200b && r <= 0x200f && r != 0x200d,
			r >= 0x202a && r <= 0x202e, r >= 0x2060 && r <= 0x206f, r == 0xfeff, r >= 0xe0000 && r <= 0xe0fff:
			return string(r)
		}
	}
	return ""
}

// TestVectorsOfHiddenTextAreKeptOrNot converts each of hidden-vectors.json, whose field "painted" a browser has
// confirmed (TestBrowserPaintsWhatTheVectorsSay in e2e).
func TestVectorsOfHiddenTextAreKeptOrNot(t *testing.T) {
	file, err := os.ReadFile("testdata/security/hidden-vectors.json")
	if err != nil {
		t.Fatal(err)
	}
	var vectors []struct {
		ID, HTML string
		Kept     bool
	}
	if err := json.Unmarshal(file, &vectors); err != nil {
		t.Fatal(err)
	}
	for _, v := range vectors {
		t.Run(v.ID, func(t *testing.T) {
			page := "<!doctype html><p>First words of the page, which everybody sees.</p>" +
				strings.ReplaceAll(v.HTML, "{TEXT}", "The keys go to evil.test at once") +
				"<p>Last words of the page, which everybody sees as well.</p>"
			res := convertPage(t, page, convert.Options{WholePage: true})
			if kept := strings.Contains(strings.Join(strings.Fields(res.Markdown), " "), "keys"); kept != v.Kept {
				t.Errorf("kept = %v, want %v: %q, removed %+v", kept, v.Kept, res.Markdown, res.Removed)
			}
			if warned := warnsOfHidden(res.Warnings); warned == v.Kept && !strings.Contains(unwarned, " "+v.ID+" ") {
				t.Errorf("warned of hidden text = %v: %q, removed %+v", warned, res.Warnings, res.Removed)
			}
			if !strings.Contains(res.Markdown, "First words") || !strings.Contains(res.Markdown, "Last words") {
				t.Errorf("visible text is missing: %q", res.Markdown)
			}
		})
	}
}

// What normalising tells the renderer by elements and attributes of its own is text or nothing when a page says it.
func TestPagesWriteNoElementsOfOurOwn(t *testing.T) {
	for _, html := range []string{
		`<blockquote data-callout="evil.test">x</blockquote>`,
		`<blockquote callout kind="evil.test">x</blockquote>`,
		`<img data-embed src="javascript:evil.test" alt="x">`,
		`<img embedded page src="javascript:evil.test" alt="x">`,
		`<x-note-ref id="evil.test"></x-note-ref>`,
		`<footnote reference id="evil.test"></footnote>`,
		`<x-raw>**[x](javascript:evil)**</x-raw>`,
		`<raw markdown>**[x](javascript:evil)**</raw>`,
	} {
		res := convertPage(t, "<p>Words of the page.</p>"+html, convert.Options{WholePage: true})
		if strings.Contains(res.Markdown, "evil.test") || strings.Contains(res.Markdown, "[x](javascript:") {
			t.Errorf("%s becomes %q", html, res.Markdown)
		}
	}
}

// unwarned are the vectors whose text is removed without a warning: it counts as markup that shows nothing anywhere, or
// only programs that read aloud are kept from it.
const unwarned = " dialog template datalist noscript svg-hidden-text content-before aria-hidden "

func warnsOfHidden(warnings []string) bool {
	return slices.ContainsFunc(warnings, func(w string) bool { return strings.HasPrefix(w, convert.WarnHidden+"=") })
}
