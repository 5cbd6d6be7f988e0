package convert

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"net/url"
	"path"
	"strings"

	"github.com/readthru/readthru/convert/chars"
	"github.com/readthru/readthru/convert/charset"
	"github.com/readthru/readthru/convert/docx"
	"github.com/readthru/readthru/convert/dom"
	"github.com/readthru/readthru/convert/epub"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/guard"
	"github.com/readthru/readthru/convert/hidden"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/mhtml"
	"github.com/readthru/readthru/convert/opendocument"
	"github.com/readthru/readthru/convert/pptx"
	"github.com/readthru/readthru/convert/xlsx"
	"github.com/readthru/readthru/convert/xmlread"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
)

// formatRules are the rules that are data, for [Version]. A change of them changes the output.
var formatRules = []any{
	pageFormats, typeFormats, formats.SaysNothing, endings, documentEndings,
}

// Warnings of bodies that are not HTML.
const (
	WarnBinary    = "binary"    // the body is not text; the markdown only says what it is
	WarnScanned   = "scanned"   // a PDF without text that can be read, such as pictures of pages
	WarnEncrypted = "encrypted" // a document, or part of it, that needs a password
	WarnDamaged   = "damaged"   // part of the body could not be read

	WarnUnmapped = "unmapped-glyphs" // followed by =N, the signs of a PDF whose fonts do not say what they mean
)

// format is the format of a body, as [Document.read] tells it apart. It is the [Result.Path] of bodies that are not
// HTML pages, and so is told to users.
type format string

const (
	htmlFormat   format = "html"
	markdownText format = "markdown"
	plainFormat  format = "text"
	sourceFormat format = "source"
	jsonFormat   format = "json"
	csvFormat    format = "csv"
	xmlFormat    format = "xml"
	feedFormat   format = "feed"
	pdfFormat    format = "pdf"
	docxFormat   format = "docx"
	xlsxFormat   format = "xlsx"
	pptxFormat   format = "pptx"
	openFormat   format = "opendocument"
	epubFormat   format = "epub"
	mhtmlFormat  format = "mhtml"
	imageFormat  format = "image"
	binaryFormat format = "binary"
)

// pageFormats are the formats of pages. The kinds are those that package page knows by media type.
var pageFormats = map[page.Kind]format{
	page.HTML: htmlFormat, page.Markdown: markdownText, page.Feed: feedFormat, page.PDF: pdfFormat,
}

// typeFormats are the formats of other media types. formatOf handles types that end in +json and +xml, and all types of
// text, images and the like.
var typeFormats = map[string]format{
	"application/json": jsonFormat, "text/json": jsonFormat, "application/x-json": jsonFormat,
	"application/manifest+json": jsonFormat, formats.NotebookType: jsonFormat,
	"application/xml": xmlFormat, "text/xml": xmlFormat,
	"text/csv": csvFormat, "application/csv": csvFormat, "text/tab-separated-values": csvFormat,
	"application/x-pdf": pdfFormat, docx.Type: docxFormat, xlsx.Type: xlsxFormat, pptx.Type: pptxFormat,
	epub.Type: epubFormat, opendocument.TypePrefix + "text": openFormat,
	opendocument.TypePrefix + "spreadsheet": openFormat, opendocument.TypePrefix + "presentation": openFormat,
	"image/svg+xml":   imageFormat,
	"application/rtf": binaryFormat, "application/x-rtf": binaryFormat, "text/rtf": binaryFormat, // markup of its own
	mhtml.Type: mhtmlFormat, "message/rfc822": mhtmlFormat, "application/x-mimearchive": mhtmlFormat,
}

// endings are the formats of files by the end of their path, for servers and callers that name no type. They are asked
// for only where the media type says nothing.
var endings = map[string]format{
	".html": htmlFormat, ".htm": htmlFormat, ".xhtml": htmlFormat, ".md": markdownText, ".markdown": markdownText,
	".json": jsonFormat, ".geojson": jsonFormat, ".ipynb": jsonFormat,
	".csv": csvFormat, ".tsv": csvFormat, ".tab": csvFormat, ".xml": xmlFormat, ".rss": feedFormat, ".atom": feedFormat,
	".svg": imageFormat,
}

// documentEndings are the formats of documents by the end of their path, which their readers can find damaged. They are
// asked for only where neither the media type nor the bytes say anything.
var documentEndings = map[string]format{
	".pdf": pdfFormat, ".docx": docxFormat, ".xlsx": xlsxFormat, ".pptx": pptxFormat, ".epub": epubFormat,
	".odt": openFormat, ".ods": openFormat, ".odp": openFormat, ".mht": mhtmlFormat, ".mhtml": mhtmlFormat,
}

// formatOf returns the format of content: that of its media type if the bytes agree, else that of the bytes and the
// path. A body that begins like a PDF, a picture or a document in a zip archive has that format unless its type is one
// of text. One that begins like nothing known has the format of the document that its type or its path names, so that
// the reader of that format finds it damaged.
func formatOf(content []byte, contentType string, u *url.URL) format {
	t := page.MediaType(contentType)
	f, stated := pageFormats[page.KindOf(t)]
	if !stated {
		f, stated = typeFormats[t]
	}
	silent := t == "" || formats.SaysNothing[t]
	if silent && u != nil {
		f = documentEndings[strings.ToLower(path.Ext(u.Path))]
	}
	binary := formats.NoText(content)
	document := f == pdfFormat || f == epubFormat || f == mhtmlFormat || archiveReaders[f] != nil
	if silent || document || binary && f != htmlFormat || f == htmlFormat && isNoPage(content) {
		if m := magic(content); m != "" && (m != binaryFormat || !document || !isArchive(content)) {
			return m
		}
		if mhtml.Is(content) {
			return mhtmlFormat
		}
	}
	switch {
	case stated && !binary && (document && !hasPDFHeader(content) || f == xmlFormat || f == feedFormat) &&
		looksLikeHTML(content):
		return htmlFormat // of a document: a page that explains why there is none
	case document && (stated || binary || len(content) == 0):
		return f
	case binary && f != htmlFormat:
		return binaryFormat
	case stated:
		return f
	case strings.HasSuffix(t, "+json"):
		return jsonFormat
	case strings.HasSuffix(t, "+xml"):
		return xmlFormat
	case silent:
		return undeclared(content, t, u)
	case strings.HasPrefix(t, "image/"), strings.HasPrefix(t, "audio/"), strings.HasPrefix(t, "video/"),
		strings.HasPrefix(t, "font/"):
		return binaryFormat
	}
	return sourceFormat // of a type that is not known here, and text all the same
}

// isNoPage reports whether the format of content that is labelled as HTML is another one for certain: that of a PDF, an
// archive or a picture.
func isNoPage(content []byte) bool {
	return bytes.HasPrefix(content, []byte("%PDF-")) || isArchive(content) || formats.IsPicture(content)
}

// undeclared returns the format of a text whose media type t says nothing: one of formats.SaysNothing, or none at all.
// For plain text only the path decides, because a server may show the source of a page that way.
func undeclared(content []byte, t string, u *url.URL) format {
	if t != "text/plain" && looksLikeHTML(content) {
		return htmlFormat
	}
	if u != nil {
		f, known := endings[strings.ToLower(path.Ext(u.Path))]
		switch {
		case known && (f != htmlFormat || t == ""):
			return f
		case formats.Language(u.Path) != "" && !LooksLikeMarkdown(content):
			return sourceFormat
		}
	}
	if t == "text/plain" {
		return plainFormat
	}
	switch text := bytes.TrimLeft(bytes.TrimPrefix(content, []byte("\xef\xbb\xbf")), " \t\r\n"); {
	case len(text) > 0 && jsonStart(text):
		return jsonFormat
	case bytes.HasPrefix(text, []byte("<?xml")), bytes.HasPrefix(text, []byte("<rss")),
		bytes.HasPrefix(text, []byte("<feed")):
		return xmlFormat
	}
	return plainFormat
}

// magic returns the format of content by its first bytes, or "" if it begins like text or like nothing known. A wrong
// media type is common for downloads, so that clear first bytes go before it.
func magic(content []byte) format {
	switch {
	case len(content) == 0:
		return ""
	case bytes.HasPrefix(content, []byte("%PDF-")), formats.NoText(content) && hasPDFHeader(content):
		return pdfFormat
	case bytes.HasPrefix(content, []byte(`{\rtf`)):
		return binaryFormat
	case isArchive(content):
		return cmp.Or(archived(content), binaryFormat)
	case !formats.NoText(content):
		return ""
	case formats.IsPicture(content):
		return imageFormat
	case formats.Known(content):
		return binaryFormat
	}
	return ""
}

// hasPDFHeader reports whether the header of the format PDF stands where readers accept it: among the first bytes.
func hasPDFHeader(content []byte) bool {
	return bytes.Contains(content[:min(len(content), headerWindow)], []byte("%PDF-"))
}

// isXHTML reports whether the format of a page is XHTML, by its media type.
func isXHTML(contentType string) bool { return page.MediaType(contentType) == "application/xhtml+xml" }

// isArchive reports whether the format of content is a zip archive's, by its beginning.
func isArchive(content []byte) bool { return bytes.HasPrefix(content, []byte("PK\x03\x04")) }

// looksLikeHTML reports whether the format of content is HTML's: it begins with a doctype, or with one of the outermost
// elements in its first KiB.
func looksLikeHTML(content []byte) bool {
	start := bytes.TrimLeft(bytes.TrimPrefix(content[:min(len(content), 1<<10)], []byte("\xef\xbb\xbf")), " \t\r\n")
	return markupStart(start) && (bytes.HasPrefix(bytes.ToLower(start), []byte("<!doctype html")) ||
		bytes.Contains(bytes.ToLower(start), []byte("<html")) ||
		bytes.Contains(bytes.ToLower(start), []byte("<body")) || bytes.Contains(bytes.ToLower(start), []byte("<head")))
}

// csv reads the format CSV: it makes a table of comma-separated values. The title is the name of the file.
func (d *Document) csv(ctx context.Context, text, mediaType string) {
	d.head.Title = d.fileName()
	var damaged bool
	if d.ready, damaged = formats.CSV(ctx, text, mediaType); damaged {
		d.warnings = append(d.warnings, WarnDamaged)
	}
}

// json reads the format JSON: it makes the markdown of JSON, of a notebook, or of a feed. A text that is not valid JSON
// stays unchanged between fences. A title comes from the notebook or feed, else it is the name of the file.
func (d *Document) json(ctx context.Context, text string) {
	d.head.Title = d.fileName()
	raw := []byte(text)
	if !json.Valid(raw) {
		d.ready = mdwrite.Fence(text, "json")
		return
	}
	guard.Check(ctx)
	if formats.IsNotebook(text) && d.notebook(text) {
		return
	}
	if strings.Contains(text[:min(len(text), 1<<10)], "https://jsonfeed.org/version/") && d.feed(ctx, text) {
		return
	}
	d.ready = formats.JSON(ctx, raw)
}

// notebook reads the format of notebooks: it makes their markdown. It reports whether text is one. What is hidden in
// its texts is removed, as in any markdown.
func (d *Document) notebook(text string) bool {
	md, title, ok := formats.Notebook(text)
	if !ok {
		return false
	}
	clean, unseen := hidden.Markdown([]byte(md), d.url) // the strings of JSON were escaped
	d.reportHidden(unseen)
	d.ready = string(clean)
	d.head.Title = cmp.Or(title, firstHeading(clean), d.head.Title)
	return true
}

// firstHeading returns, for a format that states no title, the text of the first heading of a notebook's markdown; ""
// if it has none.
func firstHeading(md []byte) string {
	if list := markdown.Headings(md); len(list) > 0 {
		return list[0].Title
	}
	return ""
}

// read finds the format of content and reads it into d. Bodies that are not text go to the reader of their format; text
// is decoded, cleaned of what nobody sees, and then parsed as a page or made into markdown. The error is that of
// decoding, such as that of a text that is too large. A page that cannot be parsed has no tree afterwards, which
// Convert answers with its text alone.
func (d *Document) read(ctx context.Context, content []byte, contentType string) error {
	f := formatOf(content, contentType, d.url)
	switch f {
	case pdfFormat:
		return d.binary(ctx, f, func() { d.pdf(ctx, content) })
	case docxFormat, xlsxFormat, pptxFormat, openFormat, epubFormat:
		return d.binary(ctx, f, func() { d.archive(ctx, f, content) })
	case binaryFormat:
		return d.binary(ctx, f, func() {
			if formats.IsEncryptedOffice(content) {
				d.head.Title = d.fileName()
				d.warnings = append(d.warnings, WarnEncrypted)
				return
			}
			d.describe(content, contentType)
		})
	case mhtmlFormat:
		return d.webArchive(ctx, content)
	case imageFormat:
		if !svg(content) {
			return d.binary(ctx, f, func() { d.describe(content, contentType) })
		}
	case xmlFormat, feedFormat:
		content, contentType = xmlread.DeclaredCharset(content, contentType)
	}
	// Only HTML can be cut into parts, so that other texts have the smaller limit.
	limit := guard.MaxInput
	if f == htmlFormat {
		limit = guard.MaxPage
	}
	text, guessed, err := charset.Decode(content, contentType, limit)
	if err != nil {
		return err
	}
	if guessed {
		d.warnings = append(d.warnings, WarnCharset)
	}
	var unseen hidden.Report
	switch f {
	case htmlFormat:
	case markdownText, plainFormat:
		text, unseen = hidden.Markdown(text, d.url)
	default:
		text, unseen = hidden.Text(text)
	}
	d.reportHidden(unseen)
	d.content, d.entire = text, text
	if f == htmlFormat {
		text = dom.FromXHTML(ctx, text, isXHTML(contentType))
		d.content = text
		if len(text) > guard.MaxInput {
			parts := cutPage(ctx, text)
			d.content, d.rest = parts[0].text, parts[1:]
		}
		if guard.Run(func() { d.parse(ctx) }) != nil {
			d.body = nil
		}
		return nil
	}
	d.form = f
	// A text whose reader fails is still a text.
	if guard.Run(func() { d.text(ctx, f, contentType) }) != nil && ctx.Err() == nil {
		d.form, d.body = plainFormat, nil
		d.ready = mdwrite.Fence(string(text), "")
		d.warnings = append(d.warnings, WarnFallback)
	}
	d.signs.Words = chars.Words(d.ready)
	return nil
}

// webArchive reads the format MHTML: the page in a web archive. Its links are relative to the address that it was saved
// from. Where the archive has no page, its text, if it is one, stays between fences, with the warning damaged.
func (d *Document) webArchive(ctx context.Context, content []byte) error {
	var p *mhtml.Page
	var err error
	if guard.Run(func() { p, err = mhtml.Read(ctx, content, guard.MaxPage) }) != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil || p == nil {
		if len(content) > guard.MaxInput {
			return charset.ErrTooLarge
		}
		text, unseen := hidden.Text(charset.UTF8(content))
		d.form, d.content, d.entire = mhtmlFormat, text, text
		d.warnings = append(d.warnings, WarnDamaged)
		if !formats.NoText(content) && len(bytes.TrimSpace(text)) > 0 {
			d.reportHidden(unseen)
			d.ready = mdwrite.Fence(string(text), "")
		}
		return nil
	}
	if u, err := url.Parse(p.Location); err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != "" {
		u.User = nil
		if d.saved = u; d.url == nil {
			d.url = u
		}
	}
	if p.Cut {
		d.warnings = append(d.warnings, WarnTooLarge)
	}
	return d.read(ctx, p.Content, cmp.Or(p.ContentType, "text/html"))
}

// binary calls reading, which reads a format that is not text. If reading fails, the document is empty and has the
// warning damaged. f becomes the document's format. The error is always nil.
func (d *Document) binary(ctx context.Context, f format, reading func()) error {
	d.form = f
	if guard.Run(reading) != nil && ctx.Err() == nil {
		d.body, d.ready = nil, ""
		d.warnings = append(d.warnings, WarnDamaged)
	}
	if d.body == nil {
		d.signs.Words = chars.Words(d.ready)
	}
	return nil
}

// text makes the markdown of a format that is text and not HTML. f is its format, contentType says more about some.
// Plain text and markdown stay as they are.
func (d *Document) text(ctx context.Context, f format, contentType string) {
	text := strings.TrimSpace(strings.ReplaceAll(string(d.content), "\r\n", "\n"))
	switch f {
	case jsonFormat:
		d.json(ctx, text)
	case csvFormat:
		d.csv(ctx, text, page.MediaType(contentType))
	case xmlFormat, feedFormat:
		d.xml(ctx, text)
	case imageFormat:
		d.svg(ctx, text)
	case sourceFormat:
		d.source(text, contentType)
	default:
		d.ready = text
	}
}
