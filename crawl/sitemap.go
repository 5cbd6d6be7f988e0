package crawl

import (
	"bufio"
	"compress/gzip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"strings"
)

// maxSitemap is the maximum size of a sitemap in bytes, decompressed (sitemaps.org: 50 MB). A test lowers it.
var maxSitemap int64 = 50 << 20

const (
	maxSitemapURLs = 50_000 // the limit of sitemaps.org
	maxLoc         = 4096   // bytes of one entry
)

var errSitemapSize = errors.New("the sitemap is too large")

// readSitemap reads a sitemap or an index of sitemaps, as XML or with one URL per line, possibly gzipped. It calls page
// or sitemap for each URL until one of them returns false. An error does not undo the calls before it.
func readSitemap(r io.Reader, page, sitemap func(url string) bool) error {
	b := bufio.NewReader(&capped{r, maxSitemap})
	if head, _ := b.Peek(2); string(head) == "\x1f\x8b" {
		z, err := gzip.NewReader(b)
		if err != nil {
			return fmt.Errorf("decompress: %w", err)
		}
		b = bufio.NewReader(&capped{z, maxSitemap})
	}
	head, _ := b.Peek(512)
	if start := strings.TrimLeft(strings.TrimPrefix(string(head), "\xef\xbb\xbf"), " \t\r\n"); !strings.HasPrefix(start,
		"<") {
		return readSitemapLines(b, page)
	}
	return readSitemapXML(b, page, sitemap)
}

func readSitemapLines(r io.Reader, page func(string) bool) error {
	lines := bufio.NewScanner(r)
	for n := 0; n < maxSitemapURLs && lines.Scan(); n++ {
		line := strings.TrimSpace(strings.TrimPrefix(lines.Text(), "\xef\xbb\xbf"))
		if !strings.HasPrefix(line, "http") {
			return errors.New("not a sitemap")
		}
		if !page(line) {
			return nil
		}
	}
	return lines.Err()
}

func readSitemapXML(r io.Reader, page, sitemap func(string) bool) error {
	d := xml.NewDecoder(r)
	d.CharsetReader = func(_ string, r io.Reader) (io.Reader, error) { return r, nil } // URLs are ASCII
	// within is the element whose text is read, entry the enclosing url or sitemap element.
	var within, entry string
	var text strings.Builder
	known := false
	for n := 0; n < maxSitemapURLs; {
		token, err := d.RawToken()
		switch {
		case errors.Is(err, io.EOF):
			if !known {
				return errors.New("not a sitemap")
			}
			return nil
		case err != nil:
			return err
		}
		switch t := token.(type) {
		case xml.StartElement:
			switch within = t.Name.Local; within {
			case "urlset", "sitemapindex":
				known = true
			case "url", "sitemap":
				entry = within
			}
			text.Reset()
		case xml.CharData:
			if within == "loc" && text.Len() < maxLoc {
				text.Write(t)
			}
		case xml.EndElement:
			if t.Name.Local != "loc" || t.Name.Space != "" || within != "loc" { // image:loc is the URL of a picture
				within = ""
				continue
			}
			within = ""
			n++
			more := true
			if u := strings.TrimSpace(text.String()); u != "" && len(u) < maxLoc {
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
