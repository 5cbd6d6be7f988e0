package index

import (
	"time"

	"github.com/readthru/readthru/page"
)

// Document is a searchable text: a page that was read, or another document of a knowledge base.
type Document struct {
	Key   page.Key
	URL   string // what a hit shows: the page's normalised URL; of a record in a file its _id
	Title string
	// TitleElement is what the title element of the page says, empty where none is known. Title is often its heading.
	TitleElement string
	Host         string // of the URL, lower case, with its port unless that is the default; empty when there is none
	Kind         string // a page.Type, or "file", "text" or "note"
	FetchedAt    time.Time
	Subjects     []string // that it is known to be about, whatever its text says: the library that its URL names
	Markdown     []byte   // without front matter

	// Metadata is what the author of an ingested text says about it.
	Metadata page.Metadata
}

// Note returns a document as a complete file: front matter, then markdown.
func (d *Document) Note() []byte {
	p := page.Page{Record: page.Record{Title: d.Title, URL: d.URL, FetchedAt: d.FetchedAt}}
	return append([]byte(p.FrontMatter()), d.Markdown...)
}
