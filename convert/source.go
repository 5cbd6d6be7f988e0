package convert

import (
	"path"
	"strings"

	"github.com/readthru/readthru/convert/docx"
	"github.com/readthru/readthru/convert/epub"
	"github.com/readthru/readthru/convert/formats"
	"github.com/readthru/readthru/convert/mdwrite"
	"github.com/readthru/readthru/convert/mhtml"
	"github.com/readthru/readthru/convert/opendocument"
	"github.com/readthru/readthru/convert/pptx"
	"github.com/readthru/readthru/convert/xlsx"
	"github.com/readthru/readthru/page"
)

// source makes the markdown of source code: a fenced block with its language. A text without a known language stays
// unchanged. The language follows from the name of the file, or else from the media type.
func (d *Document) source(text, contentType string) {
	lang := ""
	if d.url != nil {
		lang = formats.Language(d.url.Path)
		d.head.Title = d.fileName()
	}
	if lang == "" {
		lang = formats.LanguageOfType(page.MediaType(contentType))
	}
	if lang == "" {
		d.ready = text
		return
	}
	d.ready = mdwrite.Fence(text, lang)
}

// TypeOf returns the media type of a file, such as one of source code, by its name, for [Parse], or "" if the name does
// not tell. The command convert asks it for files, for which nobody states a type.
func TypeOf(name string) string {
	ending := strings.ToLower(path.Ext(name))
	switch ending {
	case ".html", ".htm":
		return "text/html"
	case ".md", ".markdown":
		return "text/markdown"
	case ".json", ".geojson":
		return "application/json"
	case ".xml":
		return "application/xml"
	case ".csv":
		return "text/csv"
	case ".pdf":
		return "application/pdf"
	case ".docx":
		return docx.Type
	case ".xlsx", ".xlsm":
		return xlsx.Type
	case ".pptx", ".ppsx":
		return pptx.Type
	case ".epub":
		return epub.Type
	case ".odt":
		return opendocument.TypePrefix + "text"
	case ".ods":
		return opendocument.TypePrefix + "spreadsheet"
	case ".odp":
		return opendocument.TypePrefix + "presentation"
	case ".ipynb":
		return formats.NotebookType
	case ".mhtml", ".mht":
		return mhtml.Type
	case ".xhtml":
		return "application/xhtml+xml"
	case ".rss", ".atom":
		return "application/" + ending[1:] + "+xml"
	case ".svg":
		return "image/svg+xml"
	case ".tsv", ".tab":
		return "text/tab-separated-values"
	case ".txt", ".text", ".log":
		return "text/plain"
	}
	if lang := formats.Language(name); lang != "" {
		return "text/x-" + lang
	}
	return ""
}
