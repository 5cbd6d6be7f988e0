package pages

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/markdown"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/store"
)

// GetOriginal returns what the origin answered for a page. It asks no origin.
func (s *Service) GetOriginal(_ context.Context, ref api.PageRef) (*api.Original, error) {
	_, p, err := s.find(ref.Doc)
	if err != nil {
		return nil, err
	}
	for _, raw := range slices.Compact([]string{p.FinalURL, p.URL}) {
		uri, err := cacheURI(raw)
		if err != nil {
			continue
		}
		if o, err := s.o.Fetch.Original(uri); err == nil {
			return &api.Original{
				Doc: p.Doc, URL: raw, ContentType: o.Type, Received: o.Response.ResponseTime.UTC(),
				Content: string(o.Content),
			}, nil
		}
	}
	return nil, fmt.Errorf("the origin's answer for %s, which may not be kept or was removed: %w",
		page.MaskString(p.URL), store.ErrNotFound)
}

// maxImage is the largest image, in bytes.
const maxImage = 16 << 20

// ServeImage returns an image that stands in a page, through the cache. Nothing else can be had by it: a page that
// shows images must not be able to make a browser ask for what it likes.
func (s *Service) ServeImage(w http.ResponseWriter, r *http.Request, q api.ImageQuery) error {
	d, _, err := s.pageOrDocument(q.Doc)
	if err != nil {
		return err
	}
	has := false
	for l := range markdown.Links(d.Markdown) {
		has = has || (l.Kind == markdown.InlineImage || l.Kind == markdown.Definition) && l.Address(d.Markdown) == q.URL
	}
	if !has {
		return api.Problem(http.StatusNotFound, "the page has no such image")
	}
	base, err := url.Parse(d.URL)
	if err != nil {
		return api.Problem(http.StatusNotFound, "the page has no address")
	}
	ref, err := page.Resolve(base, q.URL)
	if err != nil {
		return api.Problem(http.StatusBadRequest, "the image's address: %s", err)
	}
	u, err := page.Parse(ref.String())
	if err != nil {
		return api.Problem(http.StatusBadRequest, "the image's address: %s", err)
	}
	f, err := s.o.Fetch.File(r.Context(), u)
	if err != nil {
		return api.Problem(http.StatusBadGateway, "%s", err)
	}
	defer f.Body.Close()
	if !slices.Contains(imageTypes, f.Type) {
		return api.Problem(http.StatusUnsupportedMediaType, "%s is no image: its type is %s", page.Mask(u), orUnknown(f.Type))
	}
	b, err := io.ReadAll(io.LimitReader(f.Body, maxImage+1))
	if err != nil || len(b) > maxImage {
		return api.Problem(http.StatusBadGateway, "the image is cut off, or has more than %d bytes", maxImage)
	}
	h := w.Header()
	h.Set("Content-Type", f.Type)
	h.Set("Content-Security-Policy", "default-src 'none'; sandbox; frame-ancestors 'none'") // an SVG has scripts
	h.Set("Cache-Control", "private, max-age=3600")
	_, _ = w.Write(b) // an error is a client that has gone
	return nil
}

// imageTypes are the types that browsers show as images.
var imageTypes = []string{
	"image/png", "image/jpeg", "image/gif", "image/webp", "image/avif", "image/svg+xml", "image/bmp", "image/x-icon",
	"image/vnd.microsoft.icon",
}
