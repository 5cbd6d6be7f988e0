package docx

import (
	"encoding/xml"

	"github.com/readthru/readthru/convert/omml"
)

// formula reads a formula up to its end. Word sets one that is a paragraph's child by itself, in an element oMathPara.
// It becomes MathML in the text of the paragraph.
func (s *story) formula(dec *xml.Decoder) {
	text, ok := omml.Read(s.w.ctx, dec, s.alone)
	s.w.cut = s.w.cut || !ok
	s.w.written += len(text)
	s.p.close()
	s.p.text.WriteString(text)
}
