package httpfield

import "net/http"

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
