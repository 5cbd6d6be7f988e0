package docx

import (
	"html"
	"unicode/utf8"
)

// formulaParts are what stands before and after the parts of a formula that are not written on one line (§22.1).
var formulaParts = map[string][2]string{
	"sup": {"^"}, "sub": {"_"}, "num": {}, "den": {"/"}, "rad": {"√"}, "deg": {"[", "]"}, "d": {},
}

// formula begins a part of a formula.
func (p *paragraph) formula(name string) {
	if _, known := formulaParts[name]; known {
		p.close()
		p.formulas = append(p.formulas, p.text.Len())
	}
}

// formulaEnd ends a part of a formula, which is put into parentheses unless it is one character or they are its own.
func (p *paragraph) formulaEnd(name string) {
	marks, known := formulaParts[name]
	n := len(p.formulas)
	if !known || n == 0 {
		return
	}
	p.close()
	begin := p.formulas[n-1]
	p.formulas = p.formulas[:n-1]
	part := string(p.text.Bytes()[begin:])
	p.text.Truncate(begin)
	switch {
	case part == "":
		return
	case marks[1] != "":
		part = marks[0] + part + marks[1]
	case name != "d" && utf8.RuneCountInString(html.UnescapeString(part)) == 1:
		part = marks[0] + part
	default:
		part = marks[0] + "(" + part + ")"
	}
	p.text.WriteString(part)
}
