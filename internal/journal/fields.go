package journal

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/clip"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/page"
)

// Fields are the fields of a message, masked: lines of a name, a colon, a space and a value.
type Fields string

// RequestFields returns the fields of a request. Values by which an origin could tell who asks are masked.
func RequestFields(h http.Header) Fields {
	return fieldsOf(h, func(name string) bool {
		return httpfield.Impersonal(name) || strings.HasPrefix(name, httpfield.OurPrefix)
	})
}

// ResponseFields returns the fields of a response, without the values of its cookies and what else is for its client
// alone.
func ResponseFields(h http.Header) Fields {
	return fieldsOf(h, func(name string) bool {
		return !httpfield.Grants(name) && name != "Authentication-Info" && name != "Proxy-Authentication-Info"
	})
}

// longest is how much of a value is kept, in bytes. What is cut short says so.
const (
	longest  = 1024
	cutShort = "…"
)

// fieldsOf returns the fields of a message as the journal keeps them: values that are not told, or look like secrets,
// are masked, URLs masked in part, long values cut.
func fieldsOf(h http.Header, told func(name string) bool) Fields {
	var scratch [2048]byte
	b := scratch[:0]
	for name, values := range h {
		for _, v := range values {
			switch {
			case !told(name):
				v = page.SecretMask
			case page.HasSecretShape(v):
				v = page.SecretMask
			case hasURL(name, v):
				v = maskURLs(name, v)
			}
			b = append(append(b, name...), ": "...)
			b = append(b, clip.Bytes(v, longest)...)
			if len(v) > longest {
				b = append(b, cutShort...)
			}
			b = append(b, '\n')
		}
	}
	return Fields(b)
}

// hasURL reports whether a field's value may hold a URL in which something is secret.
func hasURL(name, value string) bool {
	switch name {
	case "Location", "Content-Location", "Referer", "Link", "Refresh":
		return true
	}
	return strings.HasPrefix(value, "/") || strings.IndexByte(value, '?') >= 0 || strings.IndexByte(value, '@') >= 0 ||
		strings.Contains(value, "://")
}

// maskURLs masks the URLs of a field's value.
func maskURLs(name, value string) string {
	switch name {
	case "Location", "Content-Location", "Referer", "Origin":
		return page.MaskString(value)
	case "Refresh":
		if when, to, ok := strings.Cut(value, "="); ok {
			return when + "=" + page.MaskString(strings.Trim(to, `"' `))
		}
	}
	var b strings.Builder
	for len(value) > 0 {
		at := strings.IndexFunc(value, isDelimiter)
		word, rest := value, ""
		if at >= 0 {
			word, rest = value[:at], value[at:]
		}
		if strings.Contains(word, "://") || strings.HasPrefix(word, "/") {
			word = page.MaskString(word)
		}
		b.WriteString(word)
		if rest == "" {
			break
		}
		b.WriteByte(rest[0])
		value = rest[1:]
	}
	return b.String()
}

func isDelimiter(r rune) bool { return strings.ContainsRune(" <>\"'", r) }

// Field is one field.
type Field struct{ Name, Value string }

// List returns the fields by name.
func (f Fields) List() (list []Field) {
	list = make([]Field, 0, strings.Count(string(f), "\n"))
	for line := range strings.Lines(string(f)) {
		name, value, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		list = append(list, Field{name, value})
	}
	slices.SortStableFunc(list, func(a, b Field) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// MarshalJSON writes the fields as an object of lists. It is called twice for each request that is kept in a file.
func (f Fields) MarshalJSON() ([]byte, error) {
	b := append(make([]byte, 0, len(f)+len(f)/2+16), '{')
	last := "\n" // no name
	for _, field := range f.List() {
		if field.Name == last {
			b = append(b, ',')
		} else {
			if len(b) > 1 {
				b = append(b, "],"...)
			}
			b, last = append(appendText(b, field.Name), ":["...), field.Name
		}
		b = appendText(b, field.Value)
	}
	if len(b) > 1 {
		b = append(b, ']')
	}
	return append(b, '}'), nil
}

// appendText appends a JSON string.
func appendText(b []byte, s string) []byte {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || strings.IndexByte(`"\\<>&`, c) >= 0 {
			quoted, _ := json.Marshal(s) // a string always has a form
			return append(b, quoted...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// JSONSchema describes that object.
func (f Fields) JSONSchema() map[string]any {
	texts := map[string]any{"type": "array", "items": map[string]any{"type": "string"}}
	return map[string]any{"type": "object", "additionalProperties": texts}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (f *Fields) UnmarshalJSON(b []byte) error {
	var m map[string][]string
	if err := json.Unmarshal(b, &m); err != nil {
		return err
	}
	var text strings.Builder
	for name, values := range m {
		for _, v := range values {
			text.WriteString(name + ": " + v + "\n")
		}
	}
	*f = Fields(text.String())
	return nil
}
