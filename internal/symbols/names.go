package symbols

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"
)

// isUpper reports whether a name is in capitals, as constants are.
func isUpper(name string) bool {
	return strings.ContainsFunc(name, unicode.IsUpper) && !strings.ContainsFunc(name, unicode.IsLower)
}

// nameable reports whether a name can be shown and searched for.
func nameable(name []byte) bool {
	return len(name) > 0 && len(name) <= maxName && utf8.Valid(name) &&
		!bytes.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) })
}

// bareName splits a qualified name: "Table" and "~Table" of "db::Table::~Table", "Vector" and "at" of "Vector<T>::at".
func bareName(text []byte) (owner, bare string) {
	qualified := string(text)
	if i := strings.Index(qualified, "operator"); i == 0 || i > 0 && qualified[i-1] == ':' {
		bare = strings.Join(strings.Fields(qualified[i:]), " ")
		qualified = strings.TrimSuffix(qualified[:i], "::")
		if qualified == "" {
			return "", bare
		}
	} else if i := strings.LastIndex(qualified, "::"); i >= 0 {
		qualified, bare = qualified[:i], strings.TrimSpace(qualified[i+2:])
	} else {
		return "", withoutArguments(qualified)
	}
	owner = withoutArguments(qualified)
	return strings.TrimSpace(owner[strings.LastIndexByte(owner, ':')+1:]), bare
}

// withoutArguments returns a name without the template arguments at its end.
func withoutArguments(name string) string {
	if i := strings.IndexByte(name, '<'); i > 0 && strings.HasSuffix(name, ">") {
		name = name[:i]
	}
	return strings.TrimSpace(name)
}
