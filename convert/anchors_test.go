package convert_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/convert"
)

// The forms are those of the generators' own pages, shortened.
func TestAnchorsLeadToHeadingsAndDefinitions(t *testing.T) {
	for _, tt := range []struct{ name, html, want string }{
		{
			"Sphinx", `<section id="module-functools"><span id="functools"></span><h1>functools<a class="headerlink"
			href="#module-functools">¶</a></h1><dl><dt id="functools.reduce"><span>functools.</span>reduce(<em>f</em>)
			<a class="headerlink" href="#functools.reduce">¶</a></dt><dd><p>Text.</p></dd></dl></section>`,
			"module-functools=functools¶ functools.reduce=functools.reduce(f) ¶",
		},
		{
			"Sphinx, of two signatures one has a name",
			`<dl><dt id="m.lru">@lru(f)</dt><dt>@lru(n)</dt><dd>Text <b id="x">y</b></dd></dl>`, "m.lru=@lru(f)",
		},
		{
			"docutils", `<div class="section" id="partial-objects"><span id="id1"></span><h2><a href="#functools.partial">
			partial</a> Objects<a class="headerlink" href="#partial-objects">¶</a></h2>`, "partial-objects=partial Objects¶",
		},
		{
			"Doxygen", `<a id="ga12" name="ga12"></a><h2 class="memtitle"><span class="permalink"><a href="#ga12">◆&nbsp;</a></span>foo()</h2>`,
			"ga12=◆ foo()",
		},
		{"javadoc 8", `<a name="put-K-V-"><!--   --></a><ul><li><h4>put</h4><pre>V put(K k)</pre>`, "put-K-V-=put"},
		{"javadoc 17", `<section class="detail" id="put(K,V)"><h3>put</h3>`, "put(K,V)=put"},
		{
			"rustdoc", `<section id="method.push" class="method"><h4 class="code-header">pub fn <a href="#method.push"
			class="fn">push</a>(&amp;mut self)</h4></section>`, "method.push=pub fn push(&mut self)",
		},
		{
			"DocBook", `<div class="sect2" id="MEM"><div class="titlepage"><div><div><h3 class="title">Memory</h3></div></div></div><dl>
			<dt id="GUC-WORK-MEM"><span class="term"><code>work_mem</code> (<code>integer</code>)</span></dt><dd>`,
			"MEM=Memory GUC-WORK-MEM=work_mem (integer)",
		},
		{"AsciiDoc", `<h2 id="_options">OPTIONS</h2><dl><dt class="hdlist1" id="git-add--n">-n</dt>`, "_options=OPTIONS git-add--n=-n"},
		{
			"Node.js", `<h3>fs.readFile(path)<span><a class="mark" href="#fsreadfilepath" id="fsreadfilepath">#</a></span></h3>`,
			"fsreadfilepath=fs.readFile(path)#",
		},
		{"pkg.go.dev", `<h4 tabindex="-1" id="Open" data-kind="function"><span>func <a href="x">Open</a></span></h4>`, "Open=func Open"},
		{"MDN", `<h2 id="see_also"><a href="#see_also">See also</a></h2>`, "see_also=See also"},
		{"a link to another place is no permalink", `<h2><a href="#other">Other</a> things</h2>`, ""},
		{"an id before other text", `<div id="nav">Home</div><h2>Title</h2>`, ""},
		{"the page's own id names no title", `<body id="top"><div id="content"><h1>Title</h1>`, ""},
		{"scripts are no text", `<div id="a"><script>x</script><style>y</style><h2>Title</h2>`, "a=Title"},
		{"references", `<h2 id="a&amp;b">Q &amp; A</h2>`, "a&b=Q & A"},
		{"an id with white space", `<h2 id="a b">Title</h2>`, ""},
		{"no end", `<h2 id="a">Title`, "a=Title"},
		{"nothing", ``, ""},
	} {
		var got []string
		for _, a := range convert.Anchors([]byte(tt.html)) {
			got = append(got, a.ID+"="+a.Text)
		}
		if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

func TestAnchorsAreBounded(t *testing.T) {
	many := convert.Anchors([]byte(strings.Repeat(`<h2 id="a">x</h2>`, 20_000)))
	if len(many) != 5000 {
		t.Errorf("%d anchors, want 5000", len(many))
	}
	long := convert.Anchors([]byte(`<h2 id="a">` + strings.Repeat("<b>word </b>", 100_000)))
	if len(long) != 1 || len(long[0].Text) > 1300 {
		t.Errorf("%d anchors, a text of %d bytes", len(long), len(long[0].Text))
	}
}

func FuzzAnchors(f *testing.F) {
	f.Add([]byte(`<section id="a"><h2>x<a href="#a">¶</a></h2><dl><dt id=b>y<dd>z`))
	f.Fuzz(func(t *testing.T, content []byte) {
		for _, a := range convert.Anchors(content) {
			if a.ID == "" || a.Text == "" {
				t.Errorf("anchor %+v", a)
			}
		}
	})
}

func BenchmarkAnchors(b *testing.B) {
	content := []byte(strings.Repeat(`<p>Some <a class="reference" href="x.html">words</a> of a paragraph, and more of them.</p>
<dl><dt class="sig" id="functools.reduce">functools.reduce(<em>f</em>)</dt><dd><p>Text.</p></dd></dl>
`, 600))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		convert.Anchors(content)
	}
}
