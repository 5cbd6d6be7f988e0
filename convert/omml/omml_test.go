package omml_test

import (
	"encoding/xml"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/omml"
	"github.com/readthru/readthru/convert/xmlread"
)

// read reads a formula, and returns what follows it, too.
func read(tb testing.TB, text string) (mathML, rest string, ok bool) {
	tb.Helper()
	dec := xmlread.NewDecoder(strings.NewReader("<m:oMath>" + text))
	if _, err := dec.RawToken(); err != nil {
		tb.Fatal(err)
	}
	err := guard.Run(func() { mathML, ok = omml.Read(tb.Context(), dec, false) })
	if err != nil {
		tb.Fatal(err)
	}
	if token, err := dec.RawToken(); err == nil {
		if t, isText := token.(xml.CharData); isText {
			rest = string(t)
		}
	}
	return mathML, rest, ok
}

func TestReadIsBoundedAndEndsWithTheFormula(t *testing.T) {
	for _, tt := range []struct {
		name, text, want, rest string
		ok                     bool
	}{
		{"a formula", "<m:r><m:t>x</m:t></m:r></m:oMath>after", "<math><mi>x</mi></math>", "after", true},
		{"a formula that is cut off", "<m:r><m:t>x", "<math><mi>x</mi></math>", "", true},
		{
			"one that nests too deep", strings.Repeat("<m:e>", 1000) + "<m:t>deep</m:t>" + strings.Repeat("</m:e>", 1000) +
				"<m:r><m:t>&lt;x</m:t></m:r></m:oMath>after", "<math><mtext>&lt;x</mtext></math>", "after", false,
		},
		{
			"one that is too large", strings.Repeat("<m:r><m:t>x</m:t></m:r>", 20_000) + "</m:oMath>after",
			"<math><mtext>" + strings.Repeat("x", 10_000) + "</mtext></math>", "after", false,
		},
		{"nothing", "</m:oMath>after", "<math></math>", "after", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, rest, ok := read(t, tt.text)
			if got != tt.want || rest != tt.rest || ok != tt.ok {
				t.Errorf("Read = %.200s, %v, then %q; want %.200s, %v, %q", got, ok, rest, tt.want, tt.ok, tt.rest)
			}
		})
	}
}

// FuzzRead checks that no formula stops the reader, and that its output is bounded.
func FuzzRead(f *testing.F) {
	for _, s := range []string{
		`<m:f><m:num><m:r><m:t>1`, `<m:nary><m:naryPr><m:chr m:val="∑"/></m:naryPr><m:sub/><m:e>`, `<m:d><m:e><m:m><m:mr><m:e>`,
		`<m:acc><m:e><m:r><m:t>x</m:t></m:r></m:e></m:acc></m:oMath>`, `<m:eqArr><m:e><m:r><m:t>&amp;=`,
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if mathML, _, _ := read(t, text); len(mathML) > 100+40*len(text) {
			t.Errorf("%d bytes of MathML from %d", len(mathML), len(text))
		}
	})
}
