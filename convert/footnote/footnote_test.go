package footnote_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/footnote"
)

func TestNormalise(t *testing.T) {
	for _, tt := range []struct{ name, page, refs, notes string }{
		{
			"reference and note that lead to one another",
			`<p>Text<sup><a id=r1 href="#n1">1</a></sup></p><ol><li id=n1>A note. <a href="#r1">↩</a></ol>`, "1", "1: A note.",
		},
		{
			"note with the label of its reference", `<p>Text<sup><a href="#n1">[1]</a></sup></p><p id=n1>[1] A note.</p>`,
			"1", "1: A note.",
		},
		{"link to a section", `<p>See <a href="#s">2</a></p><h2 id=s>Two</h2><p>Text of the section.</p>`, "", ""},
		{
			"address of a copy of the page", `<p>Text<sup><a href="https://a.test/v1#bib.1">1</a></sup></p>
			<ul><li id=bib.1>[1] A note. <a href="https://a.test/v1#r1">back</a></ul>`, "1", "1: A note. back",
		},
		{"note of another page", `<p>Text<sup><a href="https://a.test/v1#fn1">1</a></sup></p><p id=fn2>A.</p>`, "", ""},
		{
			"citation by author and year", `<p>Text <cite>(<a href="#bib.b2">Aston, 1999a</a>)</cite></p>
			<ul><li id=bib.b2>M. Aston. Swarms.</ul>`, "1", "1: M. Aston. Swarms.",
		},
		{"link that ends with a year", `<p>See <a href="#y2">news of 1999</a></p><ul><li id=y2>News.</ul>`, "", ""},
		{
			"citation that leads to a section", `<p>Text <cite>(<a href="#bib">Aston, 1999</a>)</cite></p>
			<h2 id=bib>Sources</h2><p>M. Aston.</p>`, "", "",
		},
		{
			"reference behind an anchor in brackets", `<p>Text [<a name=r1></a><a href="#n1">1</a>].</p>
			<p class=fn id=n1>1 A note.</p>`, "1", "1: A note.",
		},
		{"reference without a note", `<p>Text<sup><a href="#gone">1</a></sup></p>`, "", ""},
		{
			"identifier in an attribute of its own",
			`<p>Text<a href="#core-R1" data-xml-rid="R1" role="doc-biblioref">1</a></p>
			<div role=listitem><div class=label>1</div><div id=R1 class=citation>A note.</div></div>`, "1", "1: A note.",
		},
		{
			"identifier in a script",
			`<p>Text<sup><a href="javascript:;" onclick="show('footnote-1')">1</a></sup></p>
			<div id=footnote-1><a href="javascript:;" onclick="show('footnoteref-1')">1</a>. A note.</div>`, "1", "1: A note.",
		},
		{
			"script that names no footnote", `<p>Text<sup><a href="javascript:;" onclick="open('menu')">1</a></sup></p>
			<div id=menu>A menu.</div>`, "", "",
		},
		{
			"note that describes its reference", `<p>Text<sup><a href="javascript:void(0)" aria-describedby=c1>1</a></sup>
			<span id=c1 class=footnote__note role=tooltip>A note.</span> and more.</p>`, "1", "1: A note.",
		},
		{
			"prefix and case of identifiers that differ",
			`<p>Text<sup><a href="#FN-1" id=user-content-fnref-1>1</a></sup> <sup><a href="#fn-2">2</a></sup></p>
			<ol><li id=fn-1>A note. <a href="#FNREF-1">back</a><li id=user-content-fn-2>Two.</ol>`, "1 2", "1: A note.; 2: Two.",
		},
		{
			"notes that lead back and have no identifier",
			`<p>Text<a href="#_ftn1">[1]</a> and <a href="#_ftn2">[2]</a></p>
			<p><a href="#_ftnref1">[1]</a> A note.</p><p><a href="#_ftnref2">[2]</a> Two.</p>`, "1 2", "1: A note.; 2: Two.",
		},
		{
			"second reference to a note", `<p>Text<sup><a href="#fn1">[1]</a></sup> and <sup><a href="#fn1">[1:1]</a></sup></p>
			<ol><li id=fn1>A note.</ol>`, "1 1", "1: A note.",
		},
		{
			"heading for each note", `<p>Text<a class=footnote id=D1 href="#F1"><sup>1</sup></a></p>
			<h4>Footnotes</h4><h5><a id=F1 href="#D1">(1)</a></h5><p>A note.</p><p>More of it.</p>`,
			"1", "1: A note. More of it.",
		},
		{
			"section with a number", `<p>See <a href="#s1">1</a> and <sup><a href="#s2">2</a></sup></p>
			<h2 id=s1>1</h2><p>Text.</p><h2 id=s2>2</h2><p>Text.</p>`, "", "",
		},
		{
			"row that leads back", `<p>Text<a name=r1 href="#n1"><sup>1</sup></a></p>
			<table><tr><td><a name=n1 href="#r1">1</a></td><td>A note.</td></tr></table>`, "1", "1: A note.",
		},
		{
			"notes that line breaks part", `<p>Text[<a href="#f1">1</a>] and [<a href="#f2">2</a>]</p><b>Notes</b><br>
			[<a name=f1>1</a>] A note.<br><br>[<a name=f2>2</a>] Two.<br><br><b>Thanks</b> to all.`,
			"1 2", "1: A note.; 2: Two.",
		},
		{
			"references in one pair of brackets", `<p>Text [<a href="#bib.3">3</a>, <a href="#bib.1">1</a>].</p>
			<ul><li id=bib.1>[1] One.<li id=bib.3>[3] Three.</ul>`, "3 1", "3: Three.; 1: One.",
		},
		{
			"note beside its raised label", `<p>Text<span class=ltx_note><sup>1</sup><span class=ltx_note_outer><sup>1</sup>
			<span class=ltx_tag_note>1</span>A note.</span></span> and more.</p>`, "1", "1: A note.",
		},
		{
			"mark of LaTeX without text", `<p>Name<span class=ltx_note><sup>1</sup><span class=ltx_note_outer><sup>1</sup>
			footnotemark: 1</span></span></p>`, "", "",
		},
		{
			"text named note at the start of a paragraph", `<p><sup>1</sup><span class=reference>A source.</span></p>`, "", "",
		},
		{
			"note in a container with its label",
			`<p>Text<span><label>1</label><input type=checkbox><span class=sidenote>A note.</span></span> goes on.</p>`,
			"1", "1: A note.",
		},
		{
			"list of an aside", `<p>Text<sup>1</sup></p><aside><ol><li>A note.</ol></aside><p>More<sup>2</sup></p>
			<aside><ol start=2><li>Two.</ol></aside>`, "1 2", "1: A note.; 2: Two.",
		},
		{
			"list below a heading", `<p>Text<sup>1</sup> and<sup>2</sup></p><h2>Notes:</h2><ol><li>A note.<li>Two.</ol>`,
			"1 2", "1: A note.; 2: Two.",
		},
		{
			"list of steps", `<p>Text<sup>1</sup> and<sup>2</sup></p><h2>Steps</h2><ol><li>Go.<li>Stop.</ol>`, "", "",
		},
		{
			"list longer than the numbers in the text", `<p>10<sup>1</sup></p><h2>Notes</h2><ol><li>Go.<li>Stop.</ol>`, "", "",
		},
		{
			"raised number in bold text", `<p>Text<sup>1</sup> and<sup>2</sup></p><hr><p><b><sup>1</sup> A note</b>.</p>
			<p><b><sup>2</sup> Two</b>.</p>`, "1 2", "1: A note.; 2: Two.",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			root, err := html.Parse(strings.NewReader(tt.page))
			if err != nil {
				t.Fatal(err)
			}
			body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
			footnote.Normalise(body, nil)
			var refs, notes []string
			for n := range body.Descendants() {
				switch n.Data {
				case dom.NoteRefElement:
					refs = append(refs, dom.Attr(n, "id"))
				case dom.NoteElement:
					notes = append(notes, dom.Attr(n, "id")+": "+dom.OneLine(n))
				}
			}
			if got := strings.Join(refs, " "); got != tt.refs {
				t.Errorf("references %q, want %q", got, tt.refs)
			}
			if got := strings.Join(notes, "; "); got != tt.notes {
				t.Errorf("footnotes %q, want %q", got, tt.notes)
			}
		})
	}
}
