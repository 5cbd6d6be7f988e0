package crawl

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	htmlcharset "golang.org/x/net/html/charset"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
)

// maxSitemap is the maximum size of a sitemap in bytes, decompressed (sitemaps.org: 50 MB). A test lowers it.
var maxSitemap int64 = 50 << 20

const (
	maxSitemapURLs = 50_000 // the limit of sitemaps.org
	maxLoc         = 4096   // bytes of one entry
)

var (
	errSitemapSize = errors.New("the sitemap is too large")
	errNoSitemap   = errors.New("not a sitemap")
)

// readSitemap reads a sitemap or an index of sitemaps, as XML or with one URL per line, possibly gzipped. It calls page
// or sitemap for each URL, as written, until one of them returns false. An error does not undo the calls before it.
//
// Many sitemaps are not quite XML. Whatever can be told from the rest is skipped, so that it does not hide the URLs
// after it.
func readSitemap(r io.Reader, page, sitemap func(url string) bool) error {
	b := bufio.NewReader(&capped{r, maxSitemap})
	if head, _ := b.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		b = bufio.NewReader(&capped{z, maxSitemap})
	}
	b = bufio.NewReader(transform.NewReader(b, unicode.BOMOverride(transform.Nop)))
	head, _ := b.Peek(512)
	head = bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(head, []byte("<")) {
		return readSitemapLines(b, page)
	}
	return readSitemapXML(transform.NewReader(b, transform.Chain(decoding(head), runes.Map(xmlRune))), page, sitemap)
}

// decoding returns the decoder for the encoding that an XML declaration states, if the text begins with one.
func decoding(text []byte) transform.Transformer {
	var decoder transform.Transformer = transform.Nop
	d := xml.NewDecoder(bytes.NewReader(text))
	d.CharsetReader = func(label string, r io.Reader) (io.Reader, error) {
		// A declaration that is read byte for byte is not UTF-16: serializers name the encoding of their strings.
		if e, name := htmlcharset.Lookup(label); e != nil && !strings.HasPrefix(name, "utf-") {
			decoder = e.NewDecoder()
		}
		return r, nil
	}
	_, _ = d.RawToken()
	return decoder
}

// xmlRune replaces a character that XML does not allow, and with which [xml.Decoder] stops.
func xmlRune(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff' {
		return utf8.RuneError
	}
	return r
}

func readSitemapLines(r io.Reader, page func(string) bool) error {
	lines := bufio.NewScanner(r)
	known := false
	for n := 0; n < maxSitemapURLs && lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		switch scheme, _, _ := strings.Cut(line, ":"); {
		case strings.EqualFold(scheme, "http") || strings.EqualFold(scheme, "https"):
			known = true
			if !page(line) {
				return nil
			}
		case line != "" && !known:
			return errNoSitemap
		}
	}
	return lines.Err()
}

func readSitemapXML(r io.Reader, page, sitemap func(string) bool) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // r is decoded
	// An ampersand that is not escaped stands for itself.
	d.Strict, d.Entity = false, xml.HTMLEntity
	// root is the outermost element, within the element whose text is read, entry the enclosing url or sitemap element.
	var root xml.Name
	var within, entry string
	var text strings.Builder
	for n := 0; n < maxSitemapURLs; {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && root.Local == "":
			return errNoSitemap
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			within = ""
			switch t.Name.Local {
			case "urlset", "sitemapindex":
				root = t.Name
			}
			if t.Name.Space != root.Space { // image:loc is the URL of a picture
				continue
			}
			switch within = t.Name.Local; within {
			case "url", "sitemap":
				entry = within
			}
			text.Reset()
		case xml.CharData:
			if within == "loc" && text.Len() < maxLoc {
				text.Write(t)
			}
		case xml.EndElement:
			if t.Name == root {
				return nil // plugins append comments, also to what is gzipped
			}
			found := within == "loc" && t.Name == xml.Name{Space: root.Space, Local: "loc"}
			within = ""
			if !found {
				continue
			}
			n++
			more := true
			u := strings.TrimSpace(text.String())
			if u != "" && len(u) < maxLoc && !strings.ContainsRune(u, utf8.RuneError) {
				switch entry {
				case "url":
					more = page(u)
				case "sitemap":
					more = sitemap(u)
				}
			}
			if !more {
				return nil
			}
		}
	}
	return nil
}

// capped reads at most left bytes and fails if there are more.
type capped struct {
	r    io.Reader
	left int64
}

func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errSitemapSize
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
