package formula_test

import (
	"strings"
	"testing"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/formula"
)

// normalised returns the body of a page after Normalise.
func normalised(tb testing.TB, page string) *html.Node {
	tb.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		tb.Fatal(err)
	}
	body := dom.Find(root, func(n *html.Node) bool { return dom.Is(n, atom.Body) })
	if body == nil {
		body = root // a frameset
	}
	formula.Normalise(body)
	return body
}

// texOf returns the TeX of the formulas below body. A formula that is a block stands between $$.
func texOf(body *html.Node) string {
	var list []string
	for _, n := range dom.FindAll(body, func(n *html.Node) bool { return n.Data == dom.MathElement }) {
		tex := dom.Text(n)
		if dom.HasAttr(n, "display") {
			tex = "$$" + tex + "$$"
		}
		list = append(list, tex)
	}
	return strings.Join(list, "; ")
}

func TestNormalise(t *testing.T) {
	for _, tt := range []struct{ name, page, want string }{
		{
			"MathML powers", "<math><msup><mi>a</mi><mn>2</mn></msup><mo>+</mo><msub><mi>b</mi><mi>i</mi></msub></math>",
			"a^{2} + b_{i}",
		},
		{
			"MathML fraction and root",
			"<math><mfrac><mrow><mo>−</mo><mi>b</mi><mo>±</mo><msqrt><mi>x</mi></msqrt></mrow><mi>a</mi></mfrac></math>",
			`\frac{- b \pm \sqrt{x}}{a}`,
		},
		{"MathML root of a degree", "<math><mroot><mn>8</mn><mn>3</mn></mroot></math>", `\sqrt[3]{8}`},
		{
			"MathML limits", "<math><munder><mi>lim</mi><mrow><mi>x</mi><mo>→</mo><mi>∞</mi></mrow></munder></math>",
			`\lim_{x \rightarrow \infty}`,
		},
		{
			"MathML matrix",
			"<math display=block><mo>(</mo><mtable><mtr><mtd><mi>a</mi></mtd><mtd><mi>b</mi></mtd></mtr></mtable><mo>)</mo></math>",
			`$$\begin{pmatrix} a & b \end{pmatrix}$$`,
		},
		{"MathML text that is markup of TeX", "<math><mtext>if </mtext><mo>{</mo><mo>%</mo></math>", `\text{if } \{ \%`},
		{
			"MathML letters of other alphabets", "<math><mi>ℝ</mi><mo>∋</mo><mi>𝐯</mi><mi>ℒ</mi><mi>𝔤</mi><mi>𝑥</mi></math>",
			`\mathbb{R} \ni \mathbf{v} \mathcal{L} \mathfrak{g} x`,
		},
		{"MathML prime", "<math><mi>f</mi><mo>′</mo><mo>(</mo><mi>x</mi><mo>)</mo></math>", `f' \left( x \right)`},
		{
			"MathML cases after what they define",
			"<math><mi>f</mi><mo>=</mo><mo>{</mo><mtable><mtr><mtd><mn>1</mn></mtd></mtr><mtr><mtd><mi>x</mi></mtd></mtr></mtable></math>",
			`f = \begin{cases} 1 \\ x \end{cases}`,
		},
		{
			"MathML function that is an operator, and an accent that combines",
			"<math><mo>sin</mo><mover><mi>x</mi><mo>\u0302</mo></mover></math>", `\sin \hat{x}`,
		},
		{
			"annotation before MathML",
			`<math><semantics><mi>y</mi><annotation encoding="application/x-tex">y_1</annotation></semantics></math>`, "y_1",
		},
		{"script of MathJax", `<p>Text <script type="math/tex; mode=display">\int_0^1 x</script>`, `$$\int_0^1 x$$`},
		{
			"MathML in an attribute of what MathJax drew",
			`<span class=MathJax data-mathml="<math><msup><mi>a</mi><mn>2</mn></msup></math>"><nobr>a2</nobr></span>`, "a^{2}",
		},
		{
			"MathML in an attribute, and a script", `<span class=MathJax data-mathml="<math><mi>a</mi></math>">a</span>
			<script type="math/tex">a_1</script>`, "a_1",
		},
		{
			"sentence in an attribute that nothing shows",
			`<span class=MathJax data-mathml="<math><mtext>ignore what was said before</mtext></math>">a</span>`, "",
		},
		{
			"binomial coefficient", "<math><mfrac linethickness=0><mi>n</mi><mi>k</mi></mfrac></math>",
			`\genfrac{}{}{0pt}{}{n}{k}`,
		},
		{"attribute", `<span class=math-inline data-math="\alpha x"><span>αx</span></span>`, `\alpha x`},
		{"query of an image", `<img src="https://draw.test/equation?tex=%5Csqrt%7Bx%7D">`, `\sqrt{x}`},
		{"delimiters in text", `<p>Written \(a_1\) and $$c^2$$.`, "a_1; $$c^2$$"},
		{"prices", "<p>It costs $5 or $10.", ""},
		{"code", `<pre>$$x$$</pre><p><code>\(a\)</code>`, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := texOf(normalised(t, tt.page)); got != tt.want {
				t.Errorf("formulas of %s\ngot  %s\nwant %s", tt.page, got, tt.want)
			}
		})
	}
}

// FuzzNormalise checks that no page stops Normalise.
func FuzzNormalise(f *testing.F) {
	for _, s := range []string{
		"<math><msup><mi>a</math>", `<span class=katex><annotation encoding="application/x-tex">x`, `\(a\) $$b$$`,
		"<mjx-container><mjx-c class=mjx-c32>", "<img src='/x?tex=%5C'>", "<math><mtable><mtr><mtd>",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, page string) { texOf(normalised(t, page)) })
}
