package media

import (
	"bytes"
	"io"

	htmlcharset "golang.org/x/net/html/charset"
)

// Legible reports whether content can be shown as its origin made it: it is text, and no PDF, which may begin like one.
func Legible(content []byte) bool {
	return !NoText(content) && !bytes.HasPrefix(content, []byte("%PDF-"))
}

// InUTF8 returns content of a media type in UTF-8, by its charset, a byte order mark or a guess; bytes that are no text
// become U+FFFD. It never fails: what cannot be converted stays.
func InUTF8(content []byte, contentType string) []byte {
	r, err := htmlcharset.NewReader(bytes.NewReader(content), contentType)
	if err != nil {
		return content
	}
	text, err := io.ReadAll(r)
	if err != nil {
		return content
	}
	return bytes.ToValidUTF8(text, []byte("\ufffd"))
}
