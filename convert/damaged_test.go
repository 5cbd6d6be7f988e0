package convert_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

// noise returns bytes of which nothing can be read.
func noise() string {
	bytes := make([]byte, 5000)
	_, _ = rand.NewChaCha8([32]byte{1}).Read(bytes)
	return string(bytes)
}

// protected returns a compound file with one entry in its directory, whose name is in UTF-16.
func protected(name string) string {
	entry := make([]byte, 128)
	for i, c := range []byte(name) {
		entry[2*i] = c
	}
	entry[64] = byte(2*len(name) + 2)
	return "\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + strings.Repeat("\x00", 504) + string(entry) + noise()
}

// unreadable returns the warning that says why nothing could be read; "" if something could.
func unreadable(res *convert.Result) string {
	if bad := convert.Unreadable(res.Markdown, res.Warnings); bad != nil {
		return bad.Warning
	}
	return ""
}

func TestADocumentThatCannotBeReadIsNotDescribed(t *testing.T) {
	types := map[string]string{
		".pdf": "application/pdf", ".docx": docxType,
		".xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
		".odt":  "application/vnd.oasis.opendocument.text", ".ods": "application/vnd.oasis.opendocument.spreadsheet",
		".odp": "application/vnd.oasis.opendocument.presentation", ".epub": "application/epub+zip",
		".mhtml": "multipart/related",
	}
	for name, content := range map[string]string{
		"noise": noise(), "zeros": strings.Repeat("\x00", 2000), "nothing": "", "a cut archive": "PK\x03\x04\x14\x00\x08",
	} {
		for ending, mediaType := range types {
			if strings.HasPrefix(content, "PK") && (ending == ".pdf" || ending == ".mhtml") {
				continue // an archive by its bytes, whatever its type
			}
			for _, as := range []struct{ contentType, address string }{
				{mediaType, "https://site.test/file"},
				{"application/octet-stream", "https://site.test/file" + ending},
				{"", "https://site.test/FILE" + strings.ToUpper(ending)},
			} {
				res := documentAt(t, content, as.contentType, as.address)
				if unreadable(res) != convert.WarnDamaged {
					t.Errorf("%s as %q at %s: %q, warnings %v", name, as.contentType, as.address, res.Markdown, res.Warnings)
				}
			}
		}
	}
}

func TestAMediaTypeThatIsWrongDoesNotDecide(t *testing.T) {
	const html = "<!doctype html><p>The file is gone."
	const picture = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\x00\x01\x00\x00\x00\x02"
	small := pdfFile(at(50, 700, "F1 12", "Water is wet."))
	for _, tt := range []struct{ name, content, contentType, want string }{
		{"a page as a PDF", html, "application/pdf", "The file is gone.\n"},
		{"a page as a text", html, docxType, "The file is gone.\n"},
		{"a page as a book", html, "application/epub+zip", "The file is gone.\n"},
		{"a PDF as a page", small, "text/html; charset=utf-8", "[Water](https://a.test/x) is wet.\n"},
		{"a PDF as bytes", small, "application/octet-stream", "[Water](https://a.test/x) is wet.\n"},
		{"a PDF as a text", small, docxType, "[Water](https://a.test/x) is wet.\n"},
		{"a text as a page", string(docxFile(paragraphOf("", "Wet."), nil)), "text/html", "Wet.\n"},
		{
			"a text as a workbook", string(docxFile(paragraphOf("", "Wet."), nil)),
			"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", "Wet.\n",
		},
		{"a picture as a page", picture, "text/html", "file: PNG image, 1 × 2 pixels, 24 bytes.\n"},
		{"a picture as a PDF", picture, "application/pdf", "file: PNG image, 1 × 2 pixels, 24 bytes.\n"},
		{"a page whose words begin as a picture does", "BMW is a maker of cars.", "text/html", "BMW is a maker of cars.\n"},
		{"a text about PDF", "A PDF begins with %PDF-1.7.", "text/plain", "A PDF begins with %PDF-1.7.\n"},
	} {
		if res := document(t, tt.content, tt.contentType); res.Markdown != tt.want {
			t.Errorf("%s: %q, warnings %v, want %q", tt.name, res.Markdown, res.Warnings, tt.want)
		}
	}
}

func TestADocumentWithAPasswordSaysSo(t *testing.T) {
	for _, contentType := range []string{"", docxType, "application/octet-stream", "text/plain"} {
		res := document(t, protected("EncryptedPackage"), contentType)
		if unreadable(res) != convert.WarnEncrypted {
			t.Errorf("as %q: %q, warnings %v", contentType, res.Markdown, res.Warnings)
		}
	}
	res := document(t, protected("WordDocument"), docxType)
	if !strings.Contains(res.Markdown, "(before 2007)") || !slices.Equal(res.Warnings, []string{convert.WarnBinary}) {
		t.Errorf("a text of Word 97: %q, warnings %v", res.Markdown, res.Warnings)
	}
}

// The beginning of a PDF has its pages and nothing on them, as a PDF of pictures has no text.
func TestABeginningOfAPDFIsDamaged(t *testing.T) {
	whole := pdfFile(at(50, 700, "F1 12", "Water is wet."))
	cut, _, _ := strings.Cut(whole, "stream")
	res := document(t, cut, "application/pdf")
	if unreadable(res) != convert.WarnDamaged {
		t.Errorf("%q, warnings %v", res.Markdown, res.Warnings)
	}
}
