package formats

import (
	"bytes"
	"encoding/binary"
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/readthru/readthru/convert/chars"
)

// KindRules are tables of this package, which count in the version of the rules.
var KindRules = []any{
	mediaNames,
}

// Kind says what a body without text is, with the dimensions of a picture. declared is its media type.
// Package convert says it in place of the text.
func Kind(content []byte, declared string) string {
	what := kindOf(content, declared)
	if w, h := dimensions(content); w > 0 && h > 0 {
		what += ", " + strconv.Itoa(w) + " × " + strconv.Itoa(h) + " pixels"
	}
	return what
}

// SaysNothing are the media types that servers use for unknown files.
var SaysNothing = chars.Set("text/plain application/octet-stream binary/octet-stream application/x-download " +
	"application/force-download application/download application/zip application/unknown unknown/unknown")

// signatures are the first bytes of file formats that [http.DetectContentType] does not know. They are looked at first.
var signatures = []struct{ begin, name string }{
	{"7z\xbc\xaf\x27\x1c", "7-Zip archive"},
	{"\xfd7zXZ\x00", "XZ archive"},
	{"BZh", "bzip2 archive"},
	{"\x28\xb5\x2f\xfd", "Zstandard archive"},
	{"\x7fELF", "ELF program"},
	{"MZ", "Windows program"},
	{"\xcf\xfa\xed\xfe", "Mach-O program"},
	{"\xca\xfe\xba\xbe", "Java class or Mach-O program"},
	{"SQLite format 3\x00", "SQLite database"},
	{"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "Microsoft Office document (before 2007)"},
	{`{\rtf`, "RTF document"},
	{"\x00asm", "WebAssembly module"},
	{"!<arch>\ndebian", "Debian package"},
	{"\xed\xab\xee\xdb", "RPM package"},
	{"fLaC", "FLAC audio"},
	{"II*\x00", "TIFF image"},
	{"MM\x00*", "TIFF image"},
	{"PAR1", "Parquet table"},
	{"ARROW1", "Arrow table"},
	{"\x89HDF\r\n", "HDF5 data"},
	{"GGUF", "GGUF model"},
	{"PACK", "Git pack"},
	{"8BPS", "Photoshop image"},
}

// unknownKind is the kind of a file that neither its bytes nor its media type name.
const unknownKind = "Binary file of unknown type"

// zipTypes are the kinds of zip archives that are no documents, by a part of their media type or of the archive.
var zipTypes = []struct{ part, name string }{
	{"vnd.android.package-archive", "Android package"},
	{"java-archive", "Java archive"},
}

// Known reports whether the kind of content is known by its first bytes. What is not known is what its name and its
// media type say, or damaged.
func Known(content []byte) bool {
	return kindOf(content, "") != unknownKind
}

// kindOf names the kind of a file: by its first bytes, else by its declared media type.
func kindOf(content []byte, declared string) string {
	for _, s := range signatures {
		if bytes.HasPrefix(content, []byte(s.begin)) {
			return s.name
		}
	}
	if len(content) > 12 && string(content[4:8]) == "ftyp" {
		switch string(content[8:11]) {
		case "avi":
			return "AVIF image"
		case "hei", "mif":
			return "HEIF image"
		}
		return "MP4 video"
	}
	// The library knows the common formats; what the server declares is asked only where the bytes say nothing.
	sniffed := http.DetectContentType(content)
	if sniffed == "application/zip" {
		for _, o := range zipTypes {
			if strings.Contains(declared, o.part) || bytes.Contains(content[:min(len(content), 4<<10)], []byte(o.part)) {
				return o.name
			}
		}
		return "Zip archive"
	}
	if readable := mediaNames[sniffed]; readable != "" {
		return readable
	}
	if sniffed == "application/octet-stream" || strings.HasPrefix(sniffed, "text/") {
		sniffed = declared
	}
	if sniffed == "" || SaysNothing[sniffed] {
		return unknownKind
	}
	if readable := mediaNames[sniffed]; readable != "" {
		return readable
	}
	return "File of type " + strings.Map(func(r rune) rune {
		if r > ' ' && r < 0x7f && !strings.ContainsRune("`*_[]<>&\\|~", r) {
			return r
		}
		return -1
	}, sniffed)
}

// mediaNames are what media types are called in plain words.
var mediaNames = map[string]string{
	"image/png": "PNG image", "image/jpeg": "JPEG image", "image/gif": "GIF image", "image/webp": "WebP image",
	"image/bmp": "BMP image", "image/x-icon": "Icon",
	"image/avif": "AVIF image", "audio/mpeg": "MP3 audio", "audio/wave": "WAVE audio",
	"application/ogg": "Ogg audio or video", "video/webm": "WebM video", "video/avi": "AVI video",
	"video/mp4": "MP4 video", "application/x-gzip": "gzip archive", "application/x-rar-compressed": "RAR archive",
	"font/ttf": "TrueType font", "font/otf": "OpenType font",
	"font/woff": "WOFF font", "font/woff2": "WOFF2 font", "application/wasm": "WebAssembly module",
	"application/vnd.ms-fontobject": "OpenType font",
}

// NoText reports whether the format of content is not text: it has a NUL among its first bytes and no byte order mark
// of UTF-16, or it has many control characters and is not valid UTF-8. The first bytes are 8 KiB. Escape, which
// terminals' texts have, is no sign.
func NoText(content []byte) bool {
	head := content[:min(len(content), 8<<10)]
	if bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")) {
		return false
	}
	control := 0
	for _, c := range head {
		if c == 0 {
			return true
		}
		if c < ' ' && c != '\t' && c != '\n' && c != '\r' && c != '\f' && c != 0x1b {
			control++
		}
	}
	return control > len(head)/20 && !utf8.Valid(head)
}

// IsPicture reports whether the kind of content is a picture's, by its first bytes. A text may begin like some.
func IsPicture(content []byte) bool {
	return NoText(content) && strings.HasPrefix(http.DetectContentType(content), "image/")
}

// officeEntry begins the entry of a compound file, an archive in the format of documents before 2007, in which Office
// puts a document with a password ([MS-OFFCRYPTO] §2.3.4.4): its name in UTF-16, in 64 bytes, and the length of the
// name with its end, in bytes ([MS-CFB] §2.6.1).
var officeEntry = []byte("E\x00n\x00c\x00r\x00y\x00p\x00t\x00e\x00d\x00P\x00a\x00c\x00k\x00a\x00g\x00e\x00" +
	strings.Repeat("\x00", 32) + "\x22\x00")

// IsEncryptedOffice reports whether content is a document of Office with a password, whose format is not an archive in
// zip but a compound file.
func IsEncryptedOffice(content []byte) bool {
	return bytes.HasPrefix(content, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")) && bytes.Contains(content, officeEntry)
}

// dimensions returns the width and height of a picture in pixels, or 0 if they are unknown. It reads the headers of
// PNG, GIF, WebP, BMP and JPEG.
func dimensions(b []byte) (width, height int) {
	be, le := binary.BigEndian, binary.LittleEndian
	switch {
	case len(b) >= 24 && bytes.HasPrefix(b, []byte("\x89PNG\r\n\x1a\n")):
		return int(be.Uint32(b[16:])), int(be.Uint32(b[20:]))
	case len(b) >= 10 && bytes.HasPrefix(b, []byte("GIF8")):
		return int(le.Uint16(b[6:])), int(le.Uint16(b[8:]))
	case len(b) >= 30 && bytes.HasPrefix(b, []byte("RIFF")) && string(b[8:12]) == "WEBP":
		switch string(b[12:16]) {
		case "VP8 ":
			return int(le.Uint16(b[26:])) & 0x3fff, int(le.Uint16(b[28:])) & 0x3fff
		case "VP8L":
			bits := le.Uint32(b[21:])
			return int(bits&0x3fff) + 1, int(bits>>14&0x3fff) + 1
		case "VP8X":
			return int(le.Uint32(b[24:])&0xffffff) + 1, int(le.Uint32(b[26:])>>8) + 1
		}
	case len(b) >= 26 && bytes.HasPrefix(b, []byte("BM")):
		return int(le.Uint32(b[18:])), int(le.Uint32(b[22:]))
	case bytes.HasPrefix(b, []byte("\xff\xd8")):
		return jpegSize(b[2:])
	}
	return 0, 0
}

// jpegSize finds the frame header of a JPEG picture, whose segments follow each other (ITU-T T.81 B.1.1). b begins
// behind the marker of the picture's start.
func jpegSize(b []byte) (width, height int) {
	for len(b) >= 9 && b[0] == 0xff {
		marker := b[1]
		switch {
		case marker == 0xff: // filling
			b = b[1:]
			continue
		case marker >= 0xc0 && marker <= 0xcf && marker != 0xc4 && marker != 0xc8 && marker != 0xcc:
			return int(binary.BigEndian.Uint16(b[7:])), int(binary.BigEndian.Uint16(b[5:]))
		}
		length := int(binary.BigEndian.Uint16(b[2:])) + 2
		if length < 4 || length > len(b) {
			return 0, 0
		}
		b = b[length:]
	}
	return 0, 0
}
