package httpfield

import (
	"iter"
	"net/http"
	"slices"
	"strings"
)

// connection are the fields that concern one connection, and those of a proxy's own sign-in (RFC 9110 §7.6.1, RFC 9111
// §3.1).
var connection = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authentication-Info", "Proxy-Authorization",
	"Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade", "Http2-Settings",
}

// OfConnection reports whether the field with this canonical name concerns one connection alone.
func OfConnection(name string) bool { return slices.Contains(connection, name) }

// ConnectionNames yields the field names in Connection, as they are written. Its members are tokens, so a quote does
// not hide a comma: a name must not escape because the next parser reads it otherwise.
func ConnectionNames(h http.Header) iter.Seq[string] {
	return func(yield func(string) bool) {
		for _, line := range h["Connection"] {
			for name := range strings.SplitSeq(line, ",") {
				if name = strings.TrimSpace(name); name != "" && !yield(name) {
					return
				}
			}
		}
	}
}

// RemoveConnection removes the fields that are never stored and never passed on: those that Connection names, and those
// that concern one connection by themselves. Content-Length, Date and Cache-Control stay even where Connection names
// them: they are meant for every recipient, so naming them is an error or an attack.
func RemoveConnection(h http.Header) {
	for name := range ConnectionNames(h) {
		switch name = http.CanonicalHeaderKey(name); name {
		case "Content-Length", "Date", "Cache-Control":
		default:
			delete(h, name)
		}
	}
	for _, name := range connection {
		delete(h, name)
	}
}
