package cache

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"net/http"
	"slices"
	"strings"

	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/store"
)

// varyNames returns the field names in all Vary lines of a response, in lower case, sorted, without duplicates. star
// reports that one of them is "*", which no request matches (RFC 9111 §4.1).
func varyNames(h http.Header) (names []string, star bool) {
	for name := range httpfield.Elements(h["Vary"]) {
		if name == "*" {
			return nil, true
		}
		names = append(names, strings.ToLower(name))
	}
	slices.Sort(names)
	return slices.Compact(names), false
}

// variesOnAll reports whether Vary contains "*" (RFC 9111 §4.1).
func variesOnAll(h http.Header) bool {
	for name := range httpfield.Elements(h["Vary"]) {
		if name == "*" {
			return true
		}
	}
	return false
}

// selecting returns the normalised values that a request has for the named fields. A field the request lacks is left
// out. Values of fields that count as credentials are replaced by a keyed hash: it can be compared, but reveals nothing
// to a reader of the disk.
func selecting(names []string, h http.Header, key []byte) map[string]string {
	if len(names) == 0 {
		return nil
	}
	m := make(map[string]string, len(names))
	for _, name := range names {
		if v, ok := selectingValue(name, h, key); ok {
			m[name] = v
		}
	}
	return m
}

// selectingValue returns the normalised value of one field of a request, by which Vary selects, and whether the request
// has it.
func selectingValue(name string, h http.Header, key []byte) (value string, ok bool) {
	lines := h[http.CanonicalHeaderKey(name)]
	if len(lines) == 0 {
		return "", false
	}
	value = normalise(name, lines)
	if !httpfield.Impersonal(http.CanonicalHeaderKey(name)) {
		value = keyedHash(key, value)
	}
	return value, true
}

// normalise returns the same string for values of selecting fields of the same meaning (RFC 9111 §4.1): it joins
// lines, removes space around commas and, for fields of negotiation, lower-cases letters and sorts elements. Fields
// that are no lists keep every byte.
func normalise(name string, lines []string) string {
	switch name {
	case "user-agent", "referer", "origin", "from", "authorization", "cookie":
		return strings.Join(lines, ",")
	}
	if len(lines) == 1 && !strings.ContainsAny(lines[0], ", \t") && !strings.HasPrefix(name, "accept") {
		return lines[0]
	}
	list := slices.Collect(httpfield.Elements(lines))
	if name == "accept" || name == "accept-language" || name == "accept-encoding" || name == "accept-charset" {
		for i, element := range list {
			list[i] = strings.ToLower(withoutSpace(element))
		}
		slices.Sort(list)
	}
	return strings.Join(list, ",")
}

// withoutSpace removes the optional space around semicolons in an element of a negotiation field, to compare values by
// which responses vary.
func withoutSpace(element string) string {
	if !strings.ContainsAny(element, " \t") {
		return element
	}
	parts := strings.Split(element, ";")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(parts, ";")
}

// selects reports whether a request with the fields h selects the stored response r by its Vary alone (RFC 9111 §4.1).
func selects(r *store.Response, h http.Header, key []byte) bool {
	for _, name := range r.Vary {
		want, stored := r.Selecting[name]
		got, sent := selectingValue(name, h, key)
		if got == want && sent == stored {
			continue
		}
		if name == "accept-language" && sent && prefers(h[http.CanonicalHeaderKey(name)], r.Header["Content-Language"]) {
			continue
		}
		return false
	}
	return true
}

// suits reports whether the stored response r is in a form that a request with the fields h asks for, where the two
// negotiate differently. Many origins make the entity tag of a file's size and date, and give it to all forms of the
// file: a 304 with such a tag does not say which form the origin would send.
func suits(r *store.Response, h http.Header, key []byte) bool {
	for _, name := range r.Vary {
		stored, had := r.Selecting[name]
		if value, has := selectingValue(name, h, key); value == stored && has == had {
			continue
		}
		asked := h[http.CanonicalHeaderKey(name)]
		switch name {
		case "accept":
			if !ranksFirst(asked, mediaType(r.Header)) {
				return false
			}
		case "accept-language":
			if !prefers(asked, r.Header["Content-Language"]) {
				return false
			}
		case "accept-encoding":
			for coding := range httpfield.Elements(r.Header["Content-Encoding"]) {
				if !accepts(asked, coding) {
					return false
				}
			}
		}
	}
	return true
}

// ranksFirst reports whether an Accept field names the media type of a stored response, and ranks none above it.
func ranksFirst(accept []string, mediaType string) bool {
	var own, best float64
	for element := range httpfield.Elements(accept) {
		value, q, _ := httpfield.Weighted(element)
		best = max(best, q)
		if strings.EqualFold(value, mediaType) {
			own = max(own, q)
		}
	}
	return own > 0 && own == best
}

// accepts reports whether a negotiation field, by which responses vary, names the value as acceptable, with a weight
// above 0.
func accepts(field []string, value string) bool {
	for element := range httpfield.Elements(field) {
		if named, q, _ := httpfield.Weighted(element); q > 0 && strings.EqualFold(named, value) {
			return true
		}
	}
	return false
}

// prefers reports whether an Accept-Language field ranks the only language of a stored response above all others, so
// that the origin would choose it too.
func prefers(accept, contentLanguage []string) bool {
	if len(contentLanguage) != 1 {
		return false
	}
	best, bestQ, tie := "", 0.0, false
	for element := range httpfield.Elements(accept) {
		tag, q, _ := httpfield.Weighted(element)
		switch {
		case q > bestQ:
			best, bestQ, tie = tag, q, false
		case q == bestQ:
			tie = true
		}
	}
	return !tie && best != "" && strings.EqualFold(best, strings.TrimSpace(contentLanguage[0]))
}

// namesMarkdown reports whether an Accept field names text/markdown, as agents' requests do and those of browsers do
// not.
func namesMarkdown(h http.Header) bool { return accepts(h["Accept"], "text/markdown") }

// keyedHash returns a short HMAC-SHA256 of a credential, for selecting values and partitions, by which stored responses
// are kept apart without telling it.
func keyedHash(key []byte, value string) string {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(value))
	return hex.EncodeToString(mac.Sum(nil)[:16])
}
