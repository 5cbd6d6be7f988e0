package convert

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"readthru/convert/guard"
)

// ErrTooLarge is the error of [Parse] for a body of more than 10 MiB of decoded text, which the caller should pass on
// unconverted.
var ErrTooLarge = errors.New("the body is larger than 10 MiB")

// metaWindow is the number of bytes of a page that are searched for a declared encoding. HTML says 1024 bytes; pages
// that begin with a long comment or licence declare it a little later.
const metaWindow = 4 << 10

// metaCharset finds the encoding that a page declares in a meta element, in either form.
var metaCharset = pattern(`(?i)<meta\b[^>]{0,300}?\bcharset\s*=\s*["']?\s*([a-z0-9_:.+-]{2,40})`)

// decode returns content as UTF-8 text. The encoding is that of the byte order mark, of contentType, of a meta element
// near the top, UTF-8 where the bytes are valid, and else windows-1252. A declared utf-8 with invalid bytes is not
// believed: guessed is true when the encoding was not declared by something that fits the bytes. Text longer than
// maxInput is ErrTooLarge.
func decode(content []byte, contentType string) (text []byte, guessed bool, err error) {
	if len(content) > guard.MaxInput {
		return nil, false, ErrTooLarge
	}
	if rest, ok := bytes.CutPrefix(content, []byte("\xef\xbb\xbf")); ok {
		return utf8Text(rest)
	}
	if bytes.HasPrefix(content, []byte{0xfe, 0xff}) {
		return convertFrom("utf-16be", content[2:])
	}
	if bytes.HasPrefix(content, []byte{0xff, 0xfe}) {
		return convertFrom("utf-16le", content[2:])
	}
	if _, params, err := mime.ParseMediaType(contentType); err == nil && params["charset"] != "" {
		if _, name := charset.Lookup(params["charset"]); name != "" && name != "replacement" {
			return convertFrom(name, content)
		}
	}
	if m := metaCharset().FindSubmatch(content[:min(len(content), metaWindow)]); m != nil {
		_, name := charset.Lookup(string(m[1]))
		if strings.HasPrefix(name, "utf-16") {
			name = "utf-8" // HTML: a page whose meta element could be read as ASCII is not UTF-16
		}
		if name != "" && name != "replacement" && name != "x-user-defined" {
			return convertFrom(name, content)
		}
	}
	if utf8.Valid(content) {
		return content, false, nil
	}
	text, _, err = utf8Text(content)
	return text, true, err
}

// convertFrom decodes content from the encoding of this name in HTML.
func convertFrom(name string, content []byte) ([]byte, bool, error) {
	if name == "utf-8" {
		return utf8Text(content)
	}
	e, _ := charset.Lookup(name)
	text, err := read(e, content)
	return text, false, err
}

// utf8Text returns content that claims to be UTF-8. With invalid bytes it stays UTF-8, those bytes replaced, when
// well-formed sequences of several bytes outnumber them by far; else it is read as windows-1252.
func utf8Text(content []byte) (text []byte, guessed bool, err error) {
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
	text, err = read(charmap.Windows1252, content)
	return text, true, err
}

func read(e encoding.Encoding, content []byte) ([]byte, error) {
	text, err := io.ReadAll(io.LimitReader(e.NewDecoder().Reader(bytes.NewReader(content)), guard.MaxInput+1))
	if err == nil && len(text) > guard.MaxInput {
		err = ErrTooLarge
	}
	return text, err
}
