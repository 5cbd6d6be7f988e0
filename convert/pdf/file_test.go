package pdf_test

import (
	"bytes"
	"compress/zlib"
	"fmt"
	"strings"
)

// builder writes PDF files object by object, so that a test can damage each part of one.
type builder struct {
	out     bytes.Buffer
	offsets []int
}

// add writes an object and returns its number.
func (b *builder) add(body string) int {
	if b.out.Len() == 0 {
		b.out.WriteString("%PDF-1.7\n%\xe2\xe3\xcf\xd3\n")
	}
	b.offsets = append(b.offsets, b.out.Len())
	fmt.Fprintf(&b.out, "%d 0 obj\n%s\nendobj\n", len(b.offsets), body)
	return len(b.offsets)
}

// stream returns a stream object's text; entries are those of its dictionary besides the length.
func stream(entries, data string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(data), data)
}

func deflated(data string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write([]byte(data)) // a buffer takes everything
	_ = w.Close()
	return b.String()
}

// finish writes table and trailer; root is the catalogue's number.
func (b *builder) finish(root int, more string) []byte {
	start := b.out.Len()
	fmt.Fprintf(&b.out, "xref\n0 %d\n0000000000 65535 f \n", len(b.offsets)+1)
	for _, at := range b.offsets {
		fmt.Fprintf(&b.out, "%010d 00000 n \n", at)
	}
	fmt.Fprintf(&b.out, "trailer\n<< /Size %d /Root %d 0 R %s >>\nstartxref\n%d\n%%%%EOF\n", len(b.offsets)+1, root, more,
		start)
	return b.out.Bytes()
}

// document returns a file of one page for each content stream, in Helvetica as /F1.
func document(contents ...string) []byte { return documentWith("", "", contents...) }

// documentWith is document with further entries for the pages and for the fonts of their resources.
func documentWith(pageEntries, fonts string, contents ...string) []byte {
	b := &builder{}
	font := b.add("<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>")
	var kids []string
	pages := 2 + 2*len(contents)
	for _, c := range contents {
		content := b.add(stream("", c))
		page := b.add(fmt.Sprintf("<< /Type /Page /Parent %d 0 R /MediaBox [0 0 612 792] /Contents %d 0 R /Resources << /Font << /F1 %d 0 R %s >> >> %s >>", pages, content, font, fonts, pageEntries))
		kids = append(kids, fmt.Sprintf("%d 0 R", page))
	}
	b.add(fmt.Sprintf("<< /Type /Pages /Count %d /Kids [%s] >>", len(kids), strings.Join(kids, " ")))
	info := b.add("<< /Title (Of rivers) /Author <FEFF00C9006D> /CreationDate (D:20240102030405Z) >>")
	root := b.add(fmt.Sprintf("<< /Type /Catalog /Pages %d 0 R /Lang (en) >>", pages))
	return b.finish(root, fmt.Sprintf("/Info %d 0 R", info))
}
