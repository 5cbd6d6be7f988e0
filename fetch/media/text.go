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

// NoText reports whether content of any media type is not text: it contains a NUL and does not begin with a byte order
// mark of UTF-16, where every second byte of English is one.
func NoText(content []byte) bool {
	return bytes.IndexByte(content, 0) >= 0 && !bytes.HasPrefix(content, []byte("\xff\xfe")) &&
		!bytes.HasPrefix(content, []byte("\xfe\xff"))
}
