package charset

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	htmlcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"

	"github.com/readthru/readthru/internal/lazy"
)

// ErrTooLarge is the error of [Decode] for a text that is longer than the limit. Its text names the limit of texts that
// are not HTML, which is the one that users meet.
var ErrTooLarge = errors.New("the body is larger than 10 MiB")

// UTF8 decodes a text to UTF-8: one of UTF-16, with or without a byte order mark, else of the most probable encoding if
// the bytes are not UTF-8. It returns other content as it is.
func UTF8(content []byte) []byte {
	for name, order := range map[string]binary.ByteOrder{"utf-16le": binary.LittleEndian, "utf-16be": binary.BigEndian} {
		if text, ok := utf16Text(content, name, order); ok {
			return text
		}
	}
	if text, _, err := utf8Text(content, 3*len(content)); err == nil && !bytes.Contains(content, []byte{0}) {
		return bytes.TrimPrefix(text, []byte("\ufeff"))
	}
	return content
}

// utf16Text decodes content to UTF-8 if it has the mark of UTF-16 in this byte order, or if most of its first
// characters are ASCII then and none is zero. It looks at 512 bytes.
func utf16Text(content []byte, name string, order binary.ByteOrder) ([]byte, bool) {
	if len(content) < 2 || len(content)%2 != 0 {
		return nil, false
	}
	ascii, head := 0, content[:min(len(content), 512)]
	for i := 0; i < len(head); i += 2 {
		switch unit := order.Uint16(head[i:]); {
		case unit == 0:
			return nil, false
		case unit < 0x80:
			ascii++
		}
	}
	if order.Uint16(content) != 0xfeff && 4*ascii < len(head) {
		return nil, false
	}
	text, _, err := convertFrom(name, content, 2*len(content))
	return bytes.TrimPrefix(text, []byte("\ufeff")), err == nil
}

// metaWindow is the number of bytes of a page that are searched for a declared encoding. HTML says 1024 bytes; pages
// that begin with a long comment or licence declare it a little later.
const metaWindow = 4 << 10

// metaCharset finds the encoding that a page declares in a meta element, in either form.
var metaCharset = lazy.Pattern(`(?i)<meta\b[^>]{0,300}?\bcharset\s*=\s*["']?\s*([a-z0-9_:.+-]{2,40})`)

// Decode returns content as UTF-8 text. The encoding is that of the byte order mark, of contentType, of a meta element
// near the top, UTF-8 where the bytes are valid, and else the most probable one. What is declared is not believed where
// the bytes contradict it: text that is UTF-8 beyond chance is UTF-8, and utf-8 with invalid bytes and what would be
// gibberish are detected. guessed is true if the encoding was detected. Text longer than limit is ErrTooLarge.
func Decode(content []byte, contentType string, limit int) (text []byte, guessed bool, err error) {
	if len(content) > limit {
		return nil, false, ErrTooLarge
	}
	if rest, ok := bytes.CutPrefix(content, []byte("\xef\xbb\xbf")); ok {
		return utf8Text(rest, limit)
	}
	if bytes.HasPrefix(content, []byte{0xfe, 0xff}) {
		return convertFrom("utf-16be", content[2:], limit)
	}
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) {
		return convertFrom("utf-16le", content[2:], limit)
	}
	name := declaredCharset(content, contentType)
	switch {
	case name == "utf-8":
		return utf8Text(content, limit)
	case name == "":
		if utf8.Valid(content) && !Escapes(content) {
			return content, false, nil
		}
		return detected(content, limit)
	case strings.HasPrefix(name, "utf-16"), name == "iso-2022-jp":
		return convertFrom(name, content, limit)
	case surelyUTF8(content):
		return content, false, nil
	}
	if guess := Detect(content, pageLanguage(content)); guess.Contradicts(name) {
		text, _, err = convertFrom(guess.Name, content, limit)
		return text, true, err
	}
	return convertFrom(name, content, limit)
}

// declaredCharset returns the encoding from which a page asks to be decoded, by its name in HTML: the one that
// contentType or a meta element near the top declares, "" if they declare none that is known. The header goes before
// the meta element.
func declaredCharset(content []byte, contentType string) string {
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		if _, name := htmlcharset.Lookup(params["charset"]); name != "" && name != "replacement" {
			return name
		}
	}
	m := metaCharset().FindSubmatch(content[:min(len(content), metaWindow)])
	if m == nil {
		return ""
	}
	_, name := htmlcharset.Lookup(string(m[1]))
	switch {
	case strings.HasPrefix(name, "utf-16"):
		return "utf-8" // HTML: a page whose meta element could be read as ASCII is not UTF-16
	case name == "replacement", name == "x-user-defined":
		return ""
	}
	return name
}

// langAttribute finds the language that a page states.
var langAttribute = lazy.Pattern(`(?i)<html\b[^>]{0,300}?\slang\s*=\s*["']?\s*([a-z]{2,3}(?:-[a-z0-9]{1,8})*)`)

// pageLanguage returns the language that the html element of a page states, "" for none. It says which encodings are
// likely where a page is decoded that declares none.
func pageLanguage(content []byte) string {
	if m := langAttribute().FindSubmatch(content[:min(len(content), metaWindow)]); m != nil {
		return string(m[1])
	}
	return ""
}

// surelyUTF8 reports whether content need not be decoded, because it is valid UTF-8 and no text of another encoding: it
// has characters beyond ASCII, and more than a word of them, because two or three characters of GBK may look like UTF-8
// by chance.
func surelyUTF8(content []byte) bool {
	const fewest = 5
	if !utf8.Valid(content) {
		return false
	}
	leading := 0
	for _, c := range content {
		if c >= 0xc0 {
			if leading++; leading == fewest {
				return true
			}
		}
	}
	return false
}

// convertFrom decodes content from the encoding of this name in HTML. The second result, guessed, is false unless the
// text claims to be UTF-8 and is not.
func convertFrom(name string, content []byte, limit int) ([]byte, bool, error) {
	if name == "utf-8" {
		return utf8Text(content, limit)
	}
	e, _ := htmlcharset.Lookup(name)
	text, err := read(e, content, limit)
	return text, false, err
}

// utf8Text decodes content that claims to be UTF-8. With invalid bytes it stays UTF-8, those bytes replaced, when
// well-formed sequences of several bytes outnumber them by far; else its encoding is detected. A cut off character or a
// few wrong bytes happen to pages that are in UTF-8.
func utf8Text(content []byte, limit int) (text []byte, guessed bool, err error) {
	if utf8.Valid(content) {
		return content, false, nil
	}
	good, bad := 0, 0
	for rest := content; len(rest) > 0; {
		r, size := utf8.DecodeRune(rest)
		switch {
		case r == utf8.RuneError && size == 1:
			bad++
		case size > 1:
			good++
		}
		rest = rest[size:]
	}
	if good > 10*bad {
		return bytes.ToValidUTF8(content, []byte("\uFFFD")), true, nil
	}
	return detected(content, limit)
}

// read decodes content, and fails with [ErrTooLarge] where the text is longer than limit.
func read(e encoding.Encoding, content []byte, limit int) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(e.NewDecoder().Reader(bytes.NewReader(content)), int64(limit)+1))
	if err == nil && len(text) > limit {
		err = ErrTooLarge
	}
	return text, err
}
