package convert_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// m returns an element of a formula (ECMA-376 part 1, §22.1) with what is in it.
func m(name string, inner ...string) string {
	return "<m:" + name + ">" + strings.Join(inner, "") + "</m:" + name + ">"
}

// mr returns a run of a formula.
func mr(text string) string { return m("r", "<w:rPr><w:rFonts/></w:rPr>", m("t", text)) }

func chr(name, value string) string { return "<m:" + name + ` m:val="` + value + `"/>` }

// office are formulas of Office documents with their TeX.
var office = []struct{ name, formula, want string }{
	{
		"a sum with limits",
		m("nary", m("naryPr", chr("chr", "∑"), chr("limLoc", "undOvr")), m("sub", mr("i=1")), m("sup", mr("n")),
			m("e", mr("i"))),
		`\sum_{i = 1}^{n} i`,
	},
	{
		"an integral, whose sign is not stated",
		m("nary", m("naryPr"), m("sub", mr("0")), m("sup", mr("∞")), m("e", mr("f"))), `\int_{0}^{\infty} f`,
	},
	{"a hat, whose sign is not stated", m("acc", m("accPr"), m("e", mr("x"))), `\hat{x}`},
	{"a vector", m("acc", m("accPr", chr("chr", "\u20d7")), m("e", mr("v"))), `\vec{v}`},
	{
		"a matrix",
		m("d", m("e", m("m", m("mr", m("e", mr("a")), m("e", mr("b"))), m("mr", m("e", mr("c")), m("e", mr("d")))))),
		`\begin{pmatrix} a & b \\ c & d \end{pmatrix}`,
	},
	{
		"cases",
		m("d", m("dPr", chr("begChr", "{"), chr("endChr", "")), m("e", m("eqArr", m("e", mr("x")), m("e", mr("&amp;-x"))))),
		`\begin{cases} x \\ - x \end{cases}`,
	},
	{"a fraction", m("f", m("num", mr("a+b")), m("den", mr("2"))), `\frac{a + b}{2}`},
	{
		"a binomial coefficient", m("d", m("e", m("f", m("fPr", chr("type", "noBar")), m("num", mr("n")), m("den", mr("k"))))),
		`\left( \genfrac{}{}{0pt}{}{n}{k} \right)`,
	},
	{"scripts", m("sSubSup", m("e", mr("x")), m("sub", mr("1")), m("sup", mr("2"))), `x_{1}^{2}`},
	{"scripts before", m("sPre", m("sub", mr("2")), m("sup", mr("4")), m("e", mr("H"))), `{}_{2}^{4} H`},
	{"a root", m("rad", m("radPr", chr("degHide", "1")), m("deg"), m("e", mr("x"))), `\sqrt{x}`},
	{"a cube root", m("rad", m("deg", mr("3")), m("e", mr("x"))), `\sqrt[3]{x}`},
	{
		"a function",
		m("func", m("fName", m("r", m("rPr", chr("sty", "p")), m("t", "sin"))), m("e", mr("θ"))), `\sin \theta`,
	},
	{
		"a limit",
		m("func", m("fName", m("limLow", m("e", m("r", m("rPr", chr("sty", "p")), m("t", "lim"))), m("lim", mr("x→0")))),
			m("e", mr("x"))),
		`\lim_{x \rightarrow 0} x`,
	},
	{"words", m("r", m("rPr", "<m:nor/>"), m("t", "if so")) + mr("x"), `\text{if so} x`},
	{"numbers and signs", mr("3.14≤y"), `3.14 \leq y`},
	{"a line above", m("bar", m("barPr", chr("pos", "top")), m("e", mr("ab"))), `\overline{a b}`},
	{"a brace below", m("groupChr", m("groupChrPr"), m("e", mr("x"))), `\underbrace{x}`},
	{"removed text", m("r", m("t", "a")) + "<w:del>" + mr("b") + "</w:del>", `a`},
	{"text that looks like markup", mr("a&lt;b"), `a < b`},
	{"an element that is not known", m("new", m("e", mr("x"))), `x`},
}

func TestFormulasOfOfficeDocumentsAreTeX(t *testing.T) {
	for _, tt := range office {
		t.Run(tt.name, func(t *testing.T) {
			formula := m("oMath", tt.formula)
			text := convertFile(t, "word", "<w:p><w:r><w:t>Let </w:t></w:r>"+formula+"<w:r><w:t> be.</w:t></w:r></w:p>")
			if want := "Let $" + tt.want + "$ be."; text != want {
				t.Errorf("in a text: %q, want %q", text, want)
			}
			text = convertFile(t, "word", "<w:p>"+m("oMathPara", formula)+"</w:p>")
			if want := "$$\n" + tt.want + "\n$$"; text != want {
				t.Errorf("by itself: %q, want %q", text, want)
			}
			text = convertFile(t, "slide", "<a:p><a:r><a:t>Let </a:t></a:r><a14:m>"+formula+"</a14:m></a:p>")
			if want := "$" + tt.want + "$"; !strings.Contains(text, want) {
				t.Errorf("on a slide: %q, want %q", text, want)
			}
		})
	}
}

// convertFile converts a document with one paragraph.
func convertFile(t *testing.T, kind, paragraph string) string {
	t.Helper()
	content := zipOf("word/document.xml", "<w:document><w:body>"+paragraph+"</w:body></w:document>")
	if kind == "slide" {
		content = presentation("<p:sp><p:txBody>" + paragraph + "</p:txBody></p:sp>")
	}
	doc, err := convert.Parse(t.Context(), content, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := doc.Convert(context.Background(), convert.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(res.Markdown)
}

// A formula of LibreOffice is an object of its own; its source in StarMath, which stands beside it, is left out.
func TestFormulasOfOpenDocumentsAreTeX(t *testing.T) {
	const math = `<math xmlns="http://www.w3.org/1998/Math/MathML" display="block"><semantics><mfrac><mi>a</mi><mn>2</mn></mfrac>` +
		`<annotation encoding="StarMath 5.0">{a} over {2}</annotation></semantics></math>`
	for _, tt := range []struct{ name, object, want string }{
		{"a formula", math, `Let $\frac{a}{2}$ be`},
		{"with a prefix", strings.NewReplacer("</", "</math:", "<", "<math:").Replace(math), `Let $\frac{a}{2}$ be`},
		{"damaged", "<math><mrow><mi>a</mi>", "be"},
		{"an element that is none of MathML", "<math><script>x</script></math>", "be"},
		{"no formula", "<office:document-content><p>chart</p></office:document-content>", "be"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			body := `<office:document-content><office:body><office:text><text:p>Let <draw:frame><draw:object ` +
				`xlink:href="./Object 1"/><svg:desc>formula</svg:desc></draw:frame> be</text:p></office:text></office:body>` +
				`</office:document-content>`
			content := zipOf("mimetype", "application/vnd.oasis.opendocument.text", "content.xml", body, "Object 1/content.xml",
				tt.object)
			doc, err := convert.Parse(t.Context(), content, "", nil)
			if err != nil {
				t.Fatal(err)
			}
			res, err := doc.Convert(context.Background(), convert.Options{})
			if err != nil {
				t.Fatal(err)
			}
			text := strings.Join(strings.Fields(res.Markdown), " ")
			if !strings.Contains(text, strings.Join(strings.Fields(tt.want), " ")) || strings.Contains(text, "script") {
				t.Errorf("%q, want %q", text, tt.want)
			}
			if damaged := slices.Contains(res.Warnings, convert.WarnDamaged); damaged != (tt.name == "damaged") {
				t.Errorf("warnings %v", res.Warnings)
			}
		})
	}
}
