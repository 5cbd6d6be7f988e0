package store

import (
	"time"

	"github.com/readthru/readthru/page"
)

// Query names what [Store.Lookup] reads together to answer a request for a page.
type Query struct {
	URI  string // of the stored responses, as for [Store.Responses]
	Host string
	Page page.Key // for the renditions kept by it

	// Recipes returns the recipes of the renditions that suit a stored response: the one kept by page, and the one made
	// of the response's body. If nil, or where they are empty, no rendition is read.
	Recipes func(*Response) (ofPage, ofBody string)
}

// Found is what the store has for a [Query]. All of it is shared: never change it.
type Found struct {
	URI       string
	At        time.Time   // what was stored after it may be missing
	Responses []*Response // newest first
	Host      Host

	OfPage, OfBody *Rendition // of the newest response; nil without that, without one, and without Query.Recipes

	// HeadOnly says that the newest response's content will probably not be read, because of a rendition at hand: it is
	// opened by [Store.Later].
	HeadOnly bool
}

// Lookup reads what answers a request for a page from the store: the stored responses of its URI, the renditions of the
// newest one, and what was learnt about the host.
func (s *Store) Lookup(q Query) *Found {
	found := &Found{URI: q.URI, At: time.Now()}
	found.Host, _ = s.Host(q.Host)          // nothing, where nothing is known
	found.Responses, _ = s.Responses(q.URI) // none, where they cannot be read
	if len(found.Responses) > 0 && q.Recipes != nil {
		// older responses are of other variants, whose renditions the caller asks for if it needs them
		newest := found.Responses[0]
		ofPage, ofBody := q.Recipes(newest)
		if ofPage != "" {
			found.OfPage, _ = s.PageRendition(q.Page, ofPage)
		}
		if ofBody != "" {
			found.OfBody, _ = s.Rendition(newest.Body, ofBody)
		}
	}
	return found
}
