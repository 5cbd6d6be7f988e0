package fetch

import (
	"net/http"
	"net/url"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/page"
)

// Limits of Anchors: the largest page that is read for it, in bytes, and how many pages' anchors are kept in memory.
const (
	maxAnchored  = 4 << 20
	keptAnchored = 64
)

// Anchors returns the anchors of a page, as the HTML has them that its origin answered and that is stored. There are
// none if no HTML is, or if it is long.
func (f *Fetcher) Anchors(k page.Key) []page.Anchor {
	f = f.newest.Load()
	p, err := f.o.Store.Page(k)
	if err != nil {
		return nil
	}
	for _, raw := range []string{p.FinalURL, p.URL} {
		u, err := url.Parse(raw)
		if err != nil || raw == "" {
			continue
		}
		list, err := f.o.Store.Responses(cacheKey(u))
		if err != nil {
			continue
		}
		for _, r := range list {
			if r.Status != http.StatusOK || r.Partition != "" || r.Length > maxAnchored ||
				page.KindOf(media.Type(r.Header)) != page.HTML {
				continue
			}
			if anchors, ok := f.anchors.Get(r.Body); ok {
				return anchors
			}
			_, content, err := f.contentOf(r)
			if err != nil || len(content) > maxAnchored {
				return nil
			}
			anchors := convert.Anchors(media.InUTF8(content, r.Header.Get("Content-Type")))
			f.anchors.Add(r.Body, anchors)
			return anchors
		}
	}
	return nil
}
