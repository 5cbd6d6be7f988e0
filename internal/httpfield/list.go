// Package httpfield reads fields of HTTP messages that several packages must read alike: lists and the fields that
// belong to one connection.
package httpfield

import (
	"iter"
	"net/http"
	"strings"
)

// Elements yields the elements of a list-valued field, over all its lines, trimmed, without empty ones (RFC 9110
// §5.6.1). A comma inside a quoted string does not end an element.
func Elements(lines []string) iter.Seq[string] { return split(lines, true) }

// EntityTags yields the members of an If-None-Match field. In an entity tag a backslash escapes nothing (RFC 9110
// §8.8.3).
func EntityTags(lines []string) iter.Seq[string] { return split(lines, false) }

// split yields the elements of the lines of a list-valued field. escapes says whether a backslash escapes in quotes.
func split(lines []string, escapes bool) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range lines {
			for line != "" {
				var element string
				element, line = cut(line, escapes)
				if element = strings.Trim(element, " \t"); element != "" && !yield(element) {
					return
				}
			}
		}
	}
}

// cut cuts the line of a list behind its first element.
func cut(line string, escapes bool) (element, rest string) {
	quoted := false
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case c == '"':
			quoted = !quoted
		case c == '\\' && quoted && escapes:
			i++
		case c == ',' && !quoted:
			return line[:i], line[i+1:]
		}
	}
	return line, ""
}

// Has reports whether a list-valued field has a member, whatever its case.
func Has(h http.Header, field, member string) bool {
	for element := range Elements(h[field]) {
		if strings.EqualFold(element, member) {
			return true
		}
	}
	return false
}

// Copy returns a copy of a head that has room for more fields: one that [http.Header.Clone] made grows with the first
// fields that are added, which takes longer than the copy.
func Copy(h http.Header, more int) http.Header {
	n := 0
	for _, values := range h {
		n += len(values)
	}
	all, c := make([]string, n), make(http.Header, len(h)+more)
	for name, values := range h {
		n := copy(all, values)
		c[name], all = all[:n:n], all[n:]
	}
	return c
}

// AddVary adds names to Vary, unless Vary has them or is * (RFC 9110 §12.5.5). It keeps the names that are there.
func AddVary(h http.Header, names ...string) {
	for _, name := range names {
		if !Has(h, "Vary", name) && !Has(h, "Vary", "*") {
			h.Add("Vary", name)
		}
	}
}
