package httpfield

import (
	"iter"
	"net/http"
	"slices"
	"strings"

	"golang.org/x/net/http/httpguts"
)

// restrictions are the directives that a malformed element must not hide.
var restrictions = []string{
	"no-store", "private", "no-cache", "must-revalidate", "proxy-revalidate", "no-transform",
}

// Directives yields the directives of a Cache-Control field, over all its lines: the name in lower case and the
// argument as it is written, empty if there is none (RFC 9111 §5.2). A malformed element never allows more than its
// sender meant: each restriction among its words is yielded too, and an unclosed quote, which may hide anything, counts
// as private.
func Directives(lines []string) iter.Seq2[string, string] {
	return func(yield func(name, argument string) bool) {
		for element := range Elements(lines) {
			name, argument, stated := strings.Cut(element, "=")
			if stated && argument == "" {
				argument = `""` // it is malformed, but it is there
			}
			if !yield(strings.ToLower(name), argument) {
				return
			}
			if httpguts.ValidHeaderFieldName(name) && (argument == "" || httpguts.ValidHeaderFieldName(argument)) {
				continue
			}
			if closed(argument) && httpguts.ValidHeaderFieldName(name) {
				continue
			}
			for _, restriction := range hidden(element) {
				if !yield(restriction, "") {
					return
				}
			}
		}
	}
}

// closed reports whether the argument of a directive is a quoted string that ends (RFC 9110 §5.6.4).
func closed(s string) bool {
	if len(s) < 2 || s[0] != '"' {
		return false
	}
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '"':
			return i == len(s)-1
		}
	}
	return false
}

// hidden returns the directives that restrict in a malformed element.
func hidden(element string) []string {
	var found []string
	_, quoted, open := strings.Cut(element, `"`)
	if open && !strings.Contains(quoted, `"`) {
		found = append(found, "private")
	}
	for word := range strings.FieldsFuncSeq(strings.ToLower(element),
		func(r rune) bool { return !httpguts.IsTokenRune(r) }) {
		if slices.Contains(restrictions, word) {
			found = append(found, word)
		}
	}
	return found
}

// Directive reports whether Cache-Control has a directive, with or without an argument.
func Directive(h http.Header, name string) bool {
	for directive := range Directives(h["Cache-Control"]) {
		if directive == name {
			return true
		}
	}
	return false
}
