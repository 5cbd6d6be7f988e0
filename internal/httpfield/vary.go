package httpfield

import "net/http"

// AddVary adds names to Vary, unless Vary has them or is * (RFC 9110 §12.5.5). It keeps the names that are there.
func AddVary(h http.Header, names ...string) {
	for _, name := range names {
		if !Has(h, "Vary", name) && !Has(h, "Vary", "*") {
			h.Add("Vary", name)
		}
	}
}
