package head

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/page"
)

// maxStructured is the longest JSON-LD that is read, in bytes. Longer ones are catalogues.
const maxStructured = 256 << 10

// readStructured reads author, date and the text of the article from JSON-LD, whether the page sells one thing, and for
// how much. It ignores text that cannot be parsed. It puts into meta what is not set yet. Of several texts the longest
// counts. It looks at a thousand values.
func readStructured(meta page.Meta, text string) (articleBody string, sells bool, price float64) {
	if len(text) > maxStructured {
		return "", false, 0
	}
	budget := 1000
	var walk func(v any)
	walk = func(v any) {
		if budget--; budget < 0 {
			return
		}
		switch v := v.(type) {
		case []any:
			for _, item := range v {
				walk(item)
			}
		case map[string]any:
			for _, key := range []string{"datePublished", "dateCreated"} {
				if s, ok := v[key].(string); ok {
					Put(meta, "date", Date(s))
				}
			}
			if body, ok := v["articleBody"].(string); ok && len(body) > len(articleBody) {
				articleBody = body
			}
			if v["offers"] != nil && isType(v["@type"], "Product") || v["hasVariant"] != nil &&
				isType(v["@type"], "ProductGroup") {
				sells, price = true, cmp.Or(price, statedPrice(v))
			}
			author := byline(chars.Clip(personName(v["author"])))
			if author != "" && meta["author"] != "" && meta["author"] == personName(v["publisher"]) {
				delete(meta, "author") // the site stated itself
			}
			Put(meta, "author", author)
			walk(v["@graph"])
			walk(v["mainEntity"])
			walk(v["mainEntityOfPage"])
		}
	}
	values := json.NewDecoder(strings.NewReader(repairJSON(text)))
	for range 20 { // some pages put several values into one script
		var value any
		if values.Decode(&value) != nil {
			break
		}
		walk(value)
	}
	return articleBody, sells, price
}

// isType reports whether a value of @type is name, or has it among others. It may be a list (JSON-LD 1.1).
func isType(v any, name string) bool {
	switch v := v.(type) {
	case string:
		return v == name
	case []any:
		return slices.Contains(v, any(name))
	}
	return false
}

// repairJSON removes what pages put into JSON against its grammar: comments and CDATA marks, control characters in
// strings, commas before a closing bracket, and semicolons at the end. Readers of search engines take such JSON, so
// that pages do not notice.
func repairJSON(text string) string {
	var b strings.Builder
	b.Grow(len(text))
	inString := false
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\n' && inString:
			b.WriteString(`\n`)
		case c < ' ':
			b.WriteByte(' ')
		case inString:
			b.WriteByte(c)
			if c == '\\' && i+1 < len(text) && text[i+1] >= ' ' {
				i++
				b.WriteByte(text[i])
			}
			inString = c != '"'
		case c == '"':
			inString = true
			b.WriteByte(c)
		case c == ';':
		case c == ',' && closes(text[i+1:]):
		case c == '/' || c == '<' || c == '-' && strings.HasPrefix(text[i:], "-->") || c == ']' &&
			strings.HasPrefix(text[i:], "]]>"):
			i += comment(text[i:]) - 1
		default:
			b.WriteByte(c)
		}
	}
	return b.String()
}

// closes reports whether the next thing in JSON-LD closes an object or a list. s is what follows a comma.
func closes(s string) bool {
	s = strings.TrimLeft(s, " \t\r\n")
	return s != "" && (s[0] == '}' || s[0] == ']')
}

// comment returns the length of the comment or mark in JSON-LD at the start of s, at least 1. The bytes are passed
// over.
func comment(s string) int {
	for _, mark := range []struct{ open, end string }{{"/*", "*/"}, {"//", "\n"}} {
		if strings.HasPrefix(s, mark.open) {
			if i := strings.Index(s[2:], mark.end); i >= 0 {
				return 2 + i + len(mark.end)
			}
			return len(s)
		}
	}
	for _, mark := range []string{"<![CDATA[", "]]>", "<!--", "-->"} {
		if strings.HasPrefix(s, mark) {
			return len(mark)
		}
	}
	return 1
}

// personName returns the name of the author in JSON-LD, which may be a text, a person or an organisation, or a list of
// those; five at most. Addresses are no names.
func personName(v any) string {
	switch v := v.(type) {
	case string:
		if !strings.Contains(v, "://") {
			return v
		}
	case map[string]any:
		return personName(v["name"])
	case []any:
		var names []string
		for _, item := range v {
			if name := personName(item); name != "" && len(names) < 5 {
				names = append(names, name)
			}
		}
		return strings.Join(names, ", ")
	}
	return ""
}
