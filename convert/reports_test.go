package convert_test

import (
	"strings"
	"testing"
)

// TestReportsOfOtherConverters converts what users of other readers and converters reported as lost or wrong, made
// small. docs/reports.md says what each report is about.
func TestReportsOfOtherConverters(t *testing.T) {
	const before = "<main><h1>Title</h1><p>It begins with a sentence that is long enough to be one of an article.</p>"
	for _, tt := range []struct{ report, contentType, content, want string }{
		{
			"trafilatura#76", "", before + `<h2>Appendix B</h2><table><tr><th>Technique</th><th>ID</th></tr>` +
				`<tr><td><a href="/a">Masquerading</a></td><td><a href="/a">T1036</a></td></tr>` +
				`<tr><td><a href="/b">Keylogging</a></td><td><a href="/b">T1056</a></td></tr></table>`,
			"## Appendix B\n\n| Technique | ID |\n| --- | --- |\n" +
				"| [Masquerading](https://site.test/a) | [T1036](https://site.test/a) |\n" +
				"| [Keylogging](https://site.test/b) | [T1056](https://site.test/b) |\n",
		},
		{
			"trafilatura#233", "", "<body><h1>Did they?</h1><p>Did they? Here is what was said of it last year.</p>" +
				"<ul><li>First, that it had no part in it.</li><li>Second, that it had one.</li></ul>" +
				"<p>Others challenged the researchers to find the place where it was said.</p>",
			"last year.\n\n- First, that it had no part in it.\n- Second, that it had one.\n\nOthers",
		},
		{
			"trafilatura#431", "", before + `<ul><li><span class="content-h7" tabindex="0">You have the right to know</span>` +
				`</li><li><span tabindex="0">You have the right to object</span></li></ul>`,
			"\n\n- You have the right to know\n- You have the right to object\n",
		},
		{
			"trafilatura#531", "", before + `<table><tr><td>Mon</td><td><ul><li>10:00 AM - 8:00 PM</li></ul></td></tr>` +
				`<tr><td>Tue</td><td><ul><li>9:00 AM - noon</li><li>2:00 PM - 6:00 PM</li></ul></td></tr></table>`,
			"| Mon | - 10:00 AM - 8:00 PM |\n| --- | --- |\n| Tue | - 9:00 AM - noon<br>- 2:00 PM - 6:00 PM |\n",
		},
		{
			"trafilatura#553, a block", "", before + "<pre><code>func f() {\n\tif x {\n\t    return\n\t}\n}\n</code></pre>",
			"```\nfunc f() {\n\tif x {\n\t    return\n\t}\n}\n```\n",
		},
		{
			"trafilatura#553, in a heading", "", before + "<h2>1.2, implement <code>Configurer</code> and register</h2><p>x",
			"\n\n## 1.2, implement `Configurer` and register\n\n",
		},
		{
			"trafilatura#829", "", before + "<table><tr><th>Model</th><th>Score</th></tr>" +
				"<tr><td><p><b>GPT</b></p></td><td><p><i>see text</i> </p></td></tr></table>",
			"| Model | Score |\n| --- | --- |\n| **GPT** | *see text* |\n",
		},
		{
			"html-to-markdown#140", "", before + `<table><tr><th>A</th><th>B</th></tr>` +
				`<tr><td>1|2</td><td>left\|right</td></tr>` +
				`<tr><td><code>a|b</code></td><td><a href="/x">c|d</a></td></tr></table>`,
			"| A | B |\n| --- | --- |\n| 1\\|2 | left\\\\\\|right |\n| `a\\|b` | [c\\|d](https://site.test/x) |\n",
		},
		{
			"markitdown#2266", "text/csv", "name,description\nWidget,\"cheap | fast\"\nGadget,\"one\ntwo\"\n",
			"| name | description |\n| --- | --- |\n| Widget | cheap \\| fast |\n| Gadget | one<br>two |\n",
		},
		{
			"markitdown#2441, values", "text/csv", "a,b\nleft\\|right,end\n",
			"| a | b |\n| --- | --- |\n| left\\\\\\|right | end |\n",
		},
		{
			"markitdown#2441, JSON", "application/json",
			"[" + strings.Repeat(`{"a":"left\\|right","b":1},`, 4) + `{"a":"\\","b":2}]`,
			"| a | b |\n| --- | --- |\n" + strings.Repeat("| left\\\\\\|right | 1 |\n", 4) + "| \\ | 2 |\n",
		},
		{
			"hoextdown#6", "", before + "<ol><li>foo<pre>bar\n````\n```\n</pre></li><li>baz</li></ol>",
			"1. foo\n\n   `````\n   bar\n   ````\n   ```\n   `````\n\n2. baz\n",
		},
		{
			"turndown#70", "", before + `<p>I <a href="/n">need</a> <a href="/m">more</a> spaces, a <strong>strange</strong>`,
			"\n\nI [need](https://site.test/n) [more](https://site.test/m) spaces, a **strange**\n",
		},
		{
			"turndown#220", "", before + "<p><em>I have an account, @_test, for messages</em> and snake_case_name",
			"\n\n*I have an account, @\\_test, for messages* and snake_case_name\n",
		},
		{
			"turndown#237", "", before + `<p>See the<span> </span><a href="/m">guide</a><span> </span>for details`,
			"\n\nSee the [guide](https://site.test/m) for details\n",
		},
		{
			"turndown#281", "", before + "<p>Test<span>&nbsp;</span>content, test<span> </span>content",
			"\n\nTest\u00a0content, test content\n",
		},
		{"turndown#368", "", before + "<h2>\n<span>Title 2</span>\n<br>\n</h2><p>x", "\n\n## Title 2\n\nx"},
		{"turndown#405", "", before + "<p>so <em>foo<br/></em>bar <b><br>baz</b>", "\n\nso *foo*  \nbar  \n**baz**\n"},
		{"turndown#509", "", before + "<p><span>abc</span><span> def<br></span><span>ghi</span>", "\n\nabc def  \nghi\n"},
		{
			"ReadabiliPy#39", "", before + `<p>Some text <a href="/e">like this</a>, with commas (<b>bold</b>).`,
			"\n\nSome text [like this](https://site.test/e), with commas (**bold**).\n",
		},
		{
			"readability#830", "", "<body><ul><li>The first thing to know of it is that it is small.</li>" +
				"<li>The second thing to know of it is that it is quick.</li></ul>",
			"- The first thing to know of it is that it is small.\n- The second thing to know of it is that it is quick.\n",
		},
		{
			"readability#913", "", "<body><ol><li><p>It has not changed anything in security, it is rare</p></li></ol>",
			"1. It has not changed anything in security, it is rare\n",
		},
		{
			"helix-html2md-service#314", "", before + "<p>(hPSCs)<sup>1</sup> and H<sub>2</sub>O",
			"\n\n(hPSCs)<sup>1</sup> and H<sub>2</sub>O\n",
		},
		{
			"crawl4ai#570", "", before + `<p><a href="https://b.test/">Absolute</a>, <a href="/core/start/">rooted</a>`,
			"\n\n[Absolute](https://b.test/), [rooted](https://site.test/core/start/)\n",
		},
		{
			"crawl4ai#841", "", before + `<p><a href="../docker-deployment">Up</a>`,
			"\n\n[Up](https://site.test/docker-deployment)\n",
		},
		{
			"crawl4ai#1323", "", before + `<p><a href="pdf/All Information.pdf">Beside</a>`,
			"\n\n[Beside](https://site.test/dir/pdf/All%20Information.pdf)\n",
		},
		{
			"crawl4ai#1680", "", `<head><base href="https://base.test/b/"></head>` + before +
				`<p><a href="files/document.pdf">Link</a> <img src="i.png" alt="Picture">`,
			"\n\n[Link](https://base.test/b/files/document.pdf) ![Picture](https://base.test/b/i.png)\n",
		},
		{
			"servers#3880, windows-1251", "",
			"<h1>\xcf\xf0\xe8\xe2\xe5\xf2</h1><p>\xdd\xf2\xee \xf0\xf3\xf1\xf1\xea\xe0\xff " +
				"\xf1\xf2\xf0\xe0\xed\xe8\xf6\xe0",
			"# Привет\n\nЭто русская страница\n",
		},
		{
			"servers#3880, windows-1255", "",
			"<h1>\xf9\xec\xe5\xed</h1><p>\xe6\xe4 \xe3\xf3 \xe1\xf2\xe1\xf8\xe9\xfa", "# שלום\n\nזה דף בעברית\n",
		},
		{
			"servers#3880, windows-1256", "",
			"<h1>\xe3\xd1\xcd\xc8\xc7</h1><p>\xe5\xd0\xe5 \xd5\xdd\xcd\xc9 \xe3\xdf\xca\xe6\xc8\xc9",
			"# مرحبا\n\nهذه صفحة مكتوبة\n",
		},
		{
			"servers#3880, euc-kr", "",
			"<h1>\xbe\xc8\xb3\xe7</h1><p>\xb3\xaf\xbe\xbe\xb0\xa1 \xc1\xc1\xbd\xc0\xb4\xcf\xb4\xd9.",
			"# 안녕\n\n날씨가 좋습니다.\n",
		},
	} {
		t.Run(tt.report, func(t *testing.T) {
			t.Parallel()
			contentType := tt.contentType
			if contentType == "" {
				contentType = "text/html"
			}
			if got := document(t, tt.content, contentType).Markdown; !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q in it", got, tt.want)
			}
		})
	}
}
