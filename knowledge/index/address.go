package index

import (
	"net/url"
	"path"
	"strings"
	"unicode"

	"github.com/readthru/readthru/internal/clip"
)

// maxAddress is how much of an address is searched, in bytes.
const maxAddress = 300

// addressWords returns what of a document's address says what it is about: of a URL the names in its host, but for the
// last, and its path without the ending. Numbers are left out: most are dates and ids.
func addressWords(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	host := strings.TrimPrefix(u.Hostname(), "www.")
	if i := strings.LastIndexByte(host, '.'); i >= 0 {
		host = host[:i]
	}
	below := strings.TrimSuffix(u.Path, path.Ext(u.Path))
	words := strings.FieldsFunc(clip.Bytes(host+"/"+below, maxAddress), func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_'
	})
	said := words[:0]
	for _, w := range words {
		if strings.ContainsFunc(w, unicode.IsLetter) {
			said = append(said, w)
		}
	}
	return strings.Join(said, " ")
}

// address returns what is indexed with the passages of a document beside title and path: the words of its address, and
// with lead those of its title element that its title lacks.
func (a *Article) address(lead bool) string {
	words := addressWords(a.URL)
	if lead && a.also != "" {
		words += " " + a.also
	}
	return words
}
