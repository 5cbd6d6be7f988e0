package store

import (
	"maps"

	"github.com/readthru/readthru/page"
)

// Cleaner takes out of texts of others what no reader sees. The zero value leaves them as they are.
type Cleaner struct {
	// Edition is raised when Clean takes out more: what was stored under a lower one is cleaned again when it is read.
	Edition int

	// Clean returns a text without what no reader sees; one that is not markdown, such as a title, without invisible
	// characters. If nil, a text stays as it is.
	Clean func(text []byte, markdown bool) []byte
}

// Markdown returns markdown without what no reader sees.
func (c Cleaner) Markdown(md []byte) []byte {
	if c.Clean == nil {
		return md
	}
	return c.Clean(md, true)
}

// Line returns a title, a label, a URL or another text that is not markdown without invisible characters.
func (c Cleaner) Line(s string) string {
	if c.Clean == nil {
		return s
	}
	return string(c.Clean([]byte(s), false))
}

// Behind reports whether what was stored under an edition of the cleaner is to be cleaned when it is read, because the
// present edition takes out more.
func (c Cleaner) Behind(edition int) bool { return c.Clean != nil && edition < c.Edition }

// record returns the record of a stored page as callers may read it: if an older edition of the cleaner let it pass,
// its texts are cleaned now of what no reader of the page sees. Md returns the page's content, from which the excerpt
// is taken again: what was left out of that may stand in the stored excerpt as words. What r shares with memory (Meta,
// Error) is copied before it is changed.
func (c Cleaner) record(r page.Record, edition int, md func() ([]byte, error)) page.Record {
	if !c.Behind(edition) {
		return r
	}
	for _, text := range []*string{
		&r.URL, &r.FinalURL, &r.CanonicalURL, &r.Display, &r.Title, &r.Description, &r.ContentType,
	} {
		*text = c.Line(*text)
	}
	if r.Meta != nil {
		meta := make(page.Meta, len(r.Meta))
		for name, value := range maps.All(r.Meta) {
			meta[c.Line(name)] = c.Line(value)
		}
		r.Meta = meta
	}
	if r.Error != nil {
		e := *r.Error
		e.Message = c.Line(e.Message)
		r.Error = &e
	}
	if r.Excerpt != "" {
		content, _ := md() // no excerpt of what cannot be read
		r.Excerpt = page.Excerpt(content[:min(len(content), 16<<10)], page.ExcerptLength)
	}
	return r
}
