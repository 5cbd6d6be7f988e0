package docx

import (
	"html"
	"strings"
)

// fieldChar follows a field, whose code stands before the text that it shows: of a link the code holds the address.
// kind is begin, separate or end. A code of "\x00" says that the text of the field has begun.
func (s *story) fieldChar(kind string) {
	switch kind {
	case "begin":
		s.field = append(s.field, "")
	case "separate":
		if n := len(s.field); n > 0 {
			s.p.close()
			s.p.text.WriteString(`<a href="` + html.EscapeString(fieldTarget(s.field[n-1])) + `">`)
			s.field[n-1] = "\x00"
		}
	case "end":
		if n := len(s.field); n > 0 {
			if s.field[n-1] == "\x00" {
				s.p.close()
				s.p.text.WriteString("</a>")
			}
			s.field = s.field[:n-1]
		}
	}
}

// fieldTarget returns the address in the code of a field of a Word document: HYPERLINK "address". It is "" for other
// fields, and for a link to a place in the document (\l).
func fieldTarget(code string) string {
	rest, ok := strings.CutPrefix(strings.TrimSpace(code), "HYPERLINK")
	if !ok || strings.Contains(rest, `\l`) {
		return ""
	}
	_, rest, _ = strings.Cut(rest, `"`)
	target, _, _ := strings.Cut(rest, `"`)
	return target
}
