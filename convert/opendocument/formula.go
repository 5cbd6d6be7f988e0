package opendocument

import (
	"encoding/xml"
	"html"
	"path"
	"strings"

	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/xmlread"
)

// maxFormula bounds what one formula adds to the page.
const maxFormula = 256 << 10 // bytes of a formula as MathML

// mathAttributes are the attributes that say something of what a formula means. Whether it is set by itself is not
// among them: LibreOffice says so of every formula.
var mathAttributes = map[string]bool{
	"mathvariant": true, "linethickness": true, "open": true, "close": true, "separators": true, "columnalign": true,
	"notation": true, "encoding": true,
}

// formula writes the formula that is in an object of its own, as MathML. The description that stands beside it in its
// frame is its source in another language, and is left out. Objects of another kind, such as charts, are left out.
func (r *odfReader) formula(t xml.StartElement) {
	href := xmlread.Attr(t, "href")
	dec := r.files.Decoder(path.Join(strings.TrimPrefix(href, "./"), "content.xml"))
	if href == "" || dec == nil {
		return
	}
	var b strings.Builder
	var open []string
	for {
		guard.Check(r.ctx)
		token, err := dec.RawToken()
		if err != nil {
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			name := t.Name.Local
			if len(open) == 0 && name != "math" {
				return // a chart, a text
			}
			if !isMathName(name) || len(open) >= maxDepth || b.Len() > maxFormula {
				r.doc.Cut = true
				return
			}
			b.WriteString("<" + name)
			for _, a := range t.Attr {
				if mathAttributes[a.Name.Local] {
					b.WriteString(" " + a.Name.Local + `="` + html.EscapeString(a.Value) + `"`)
				}
			}
			b.WriteString(">")
			open = append(open, name)
		case xml.EndElement:
			if n := len(open); n > 0 && open[n-1] == t.Name.Local {
				b.WriteString("</" + open[n-1] + ">")
				open = open[:n-1]
			}
		case xml.CharData:
			if len(open) > 0 {
				b.WriteString(html.EscapeString(string(t)))
			}
		}
	}
	if len(open) > 0 {
		r.doc.Damaged = true
		return
	}
	r.out.WriteString(b.String())
	if n := len(r.open); n > 0 && r.open[n-1].name == "frame" {
		r.open[n-1].described = b.Len() > 0
	}
}

// isMathName reports whether an element of an OpenDocument formula may be one of MathML: its name has letters alone,
// and those of HTML are none. Names are of small letters and hyphens, as they are written into HTML.
func isMathName(name string) bool {
	for _, c := range name {
		if (c < 'a' || c > 'z') && c != '-' {
			return false
		}
	}
	return strings.HasPrefix(name, "m") || name == "semantics" || name == "annotation" || name == "annotation-xml"
}
