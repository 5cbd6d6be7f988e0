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

// Why a sitemap cannot be read.
var (
	errSitemapSize = errors.New("the sitemap is too large")
	errNoSitemap   = errors.New("not a sitemap")
)

// readSitemap reads a sitemap or an index of sitemaps, as XML or with one URL per line, or a feed, which sitemaps.org
// allows, too; each possibly gzipped. It calls page or sitemap for each URL, as written, until one returns false. An
// error does not undo the calls before it.
//
// Many sitemaps are not quite XML. Whatever can be told from the rest is skipped, so that it does not hide the URLs
// after it.
func readSitemap(r io.Reader, page, sitemap func(url string) bool) error {
	b := bufio.NewReader(&capped{r, maxSitemap})
	// By its bytes: servers label what is gzipped in several ways, or not.
	if head, _ := b.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		b = bufio.NewReader(&capped{z, maxSitemap})
	}
	b = bufio.NewReader(transform.NewReader(b, unicode.BOMOverride(transform.Nop)))
	head, _ := b.Peek(512)
	start := bytes.TrimLeft(head, " \t\r\n")
	if !bytes.HasPrefix(start, []byte("<")) {
		return readSitemapLines(b, page)
	}
	decoder := decoding(start)
	if end := bytes.Index(start, []byte("?>")); end > 0 && bytes.HasPrefix(start, []byte("<?xml ")) {
		// the decoder of XML would refuse another version than 1.0
		if _, err := b.Discard(len(head) - len(start) + end + len("?>")); err != nil {
			return err
		}
	}
	return readSitemapXML(transform.NewReader(b, transform.Chain(decoder, runes.Map(xmlRune))), page, sitemap)
}

// decoding returns the decoder for the encoding that the XML declaration of a sitemap states, if the text begins with
// one.
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

// xmlRune replaces a character of a sitemap that XML does not allow, and with which [xml.Decoder] stops. An address
// with such a character is dropped, the others stay.
func xmlRune(r rune) rune {
	if r < ' ' && r != '\t' && r != '\n' && r != '\r' || r == '\ufffe' || r == '\uffff' {
		return utf8.RuneError
	}
	return r
}

// readSitemapLines reads a sitemap with one URL per line. Lines that are none are skipped once there was one; a text
// without any at its beginning is not a sitemap.
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

// readSitemapXML reads a sitemap or a feed in XML. It ends with the root element, and with an error if the text does
// before.
func readSitemapXML(r io.Reader, page, sitemap func(string) bool) error {
	d := xml.NewDecoder(r)
	// An ampersand that is not escaped stands for itself.
	d.Strict, d.Entity = false, xml.HTMLEntity
	x := sitemapXML{page: page, sitemap: sitemap}
	for x.n < maxSitemapURLs && !x.done {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF) && x.root.Local == "":
			return errNoSitemap
		case errors.Is(err, io.EOF):
			return io.ErrUnexpectedEOF
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			x.start(t)
		case xml.CharData:
			if x.within != "" && x.text.Len() < maxLoc {
				x.text.Write(t)
			}
		case xml.EndElement:
			x.end(t.Name)
		}
	}
	return nil
}

// A sitemapXML is where the reading of a sitemap stands.
type sitemapXML struct {
	page, sitemap func(string) bool
	root          xml.Name // the outermost element; empty before it
	depth         int      // elements of its name that are open
	prefix        string   // of its own elements: image:loc is the URL of a picture
	location      string   // the element that holds a URL: loc, or link in a feed
	entry         string   // the enclosing element that a URL is of
	within        string   // the element whose text is read
	text          strings.Builder
	n             int // entries read
	done          bool
}

// start takes the beginning of an element of a sitemap. Elements of a foreign namespace, such as those for images, do
// not count.
func (x *sitemapXML) start(t xml.StartElement) {
	x.within = ""
	x.text.Reset()
	switch name := t.Name.Local; name {
	case "urlset", "sitemapindex":
		x.root, x.prefix, x.location = t.Name, t.Name.Space, "loc"
	case "rss", "feed", "RDF":
		if x.root.Local == "" {
			x.root, x.prefix, x.location = t.Name, t.Name.Space, "link"
		}
		if name == "RDF" { // RSS 1.0, of which only the root is RDF's
			x.prefix = ""
		}
	}
	if t.Name == x.root {
		x.depth++
	}
	switch name := t.Name.Local; {
	case t.Name.Space != x.prefix:
	case name == "url", name == "sitemap", x.location == "link" && (name == "item" || name == "entry"):
		x.entry = name
	case name == x.location:
		x.within = name
		x.text.WriteString(alternate(t)) // of Atom
	}
}

// alternate returns the href of an element of Atom that links to the page of its entry; empty if it has none or links
// to something else.
func alternate(t xml.StartElement) (href string) {
	for _, a := range t.Attr {
		switch {
		case a.Name.Local == "href":
			href = a.Value
		case a.Name.Local == "rel" && a.Value != "alternate":
			return ""
		}
	}
	return href
}

// end takes the end of an element of a sitemap: an address is complete, or the whole is.
func (x *sitemapXML) end(name xml.Name) {
	found := x.within != "" && name.Local == x.within && name.Space == x.prefix
	x.within = ""
	switch {
	case name == x.root:
		x.depth--
		x.done = x.depth == 0 // plugins append comments, also to what is gzipped
	case name.Local == x.entry && name.Space == x.prefix:
		x.entry = ""
	case found:
		x.n++
		u := strings.TrimSpace(x.text.String())
		if u == "" || len(u) >= maxLoc || x.entry == "" || strings.ContainsRune(u, utf8.RuneError) {
			return
		}
		take := x.page
		if x.entry == "sitemap" {
			take = x.sitemap
		}
		x.done = !take(u)
	}
}

// capped reads at most left bytes of a sitemap and fails if there are more. It bounds what is sent, and once more what
// it unpacks to.
type capped struct {
	r    io.Reader
	left int64
}

// Read implements [io.Reader]: it reads a sitemap up to its limit.
func (c *capped) Read(p []byte) (int, error) {
	if c.left <= 0 {
		return 0, errSitemapSize
	}
	n, err := c.r.Read(p[:min(int64(len(p)), c.left)])
	c.left -= int64(n)
	return n, err
}
