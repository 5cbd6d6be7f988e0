package page

import "strings"

// Kind says which kind of page a media type stands for. It is the one answer to the question what a page is: what is
// one may become markdown for a proxied client (AD1), lives for cache.page_ttl when its origin states no lifetime, and
// is kept from other readers when it was read with credentials (AD4).
type Kind int

// DefaultMaxBody is the largest content that is stored, rendered or converted when the configuration names none
// (fetch.max_body), in bytes.
const DefaultMaxBody = 32 << 20

// The kinds of a page.
const (
	NoPage   Kind = iota // an asset, data or a download; also text/plain, which a tool may read as a file
	HTML                 // HTML or XHTML
	Markdown             // markdown, under any of its names, or with components in it (MDX)
	Feed                 // RSS, Atom or JSON Feed
	PDF
)

// kinds are the media types of pages, in lower case and without parameters. A type that is not here is no page, though
// an own fetch may convert it (typeFormats of package convert); a further kind needs a row in its pageFormats.
var kinds = map[string]Kind{
	"text/html": HTML, "application/xhtml+xml": HTML,
	"text/markdown": Markdown, "text/x-markdown": Markdown, "text/mdx": Markdown,
	"application/rss+xml": Feed, "application/atom+xml": Feed, "application/feed+json": Feed,
	"application/pdf": PDF,
}

// KindOf returns the kind of content with this media type, the value of a Content-Type field.
func KindOf(contentType string) Kind { return kinds[MediaType(contentType)] }

// IsPage reports whether content is of the kind of pages: content with this media type, the value of a Content-Type
// field, is read as a page.
func IsPage(contentType string) bool { return KindOf(contentType) != NoPage }

// IsMarkdown reports whether content is of the kind markdown: content with this media type, the value of a Content-Type
// field, is markdown.
func IsMarkdown(contentType string) bool { return KindOf(contentType) == Markdown }

// MediaType returns, for its kind, the media type that a Content-Type field names, in lower case and without
// parameters. A field with malformed parameters names a type all the same; an empty one names none.
func MediaType(contentType string) string {
	t, _, _ := strings.Cut(contentType, ";")
	return strings.ToLower(strings.TrimSpace(t))
}
