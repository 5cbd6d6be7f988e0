package pages

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
)

// MaxTextURLs is how many URLs of one text are fetched at most (rule B9).
const MaxTextURLs = 50

const (
	messageURLs     = 3        // fetched of one message where the caller names no limit (rule B8)
	textURLsAtOnce  = 3        // fetched at the same time (rule B9)
	maxFetchedBytes = 64 << 20 // content of the pages of one text together
)

// DetectURLs finds the URLs in a text and their kinds. It sends no request.
func (s *Service) DetectURLs(_ context.Context, r api.TextRequest) (*api.Detection, error) {
	return &api.Detection{URLs: detected(r.Text)}, nil
}

// detected returns the URLs in a text with their kinds; never nil, so that its JSON is a list.
func detected(text string) []page.Detected {
	if found := page.Detect(text); found != nil {
		return found
	}
	return []page.Detected{}
}

// DetectAndFetch fetches the first pages that a text names, three at a time. As with fetchPage, an error means that r
// is wrong. Once the pages together exceed 64 MiB, the others come without content and with an error that says so.
func (s *Service) DetectAndFetch(ctx context.Context, r api.DetectRequest) (*api.FetchedText, error) {
	if r.Limit < 0 || r.Limit > MaxTextURLs {
		return nil, api.Problem(http.StatusBadRequest, "limit %d is not a number from 1 to %d", r.Limit, MaxTextURLs)
	}
	if r.URL != "" {
		return nil, api.Problem(http.StatusBadRequest, "url does not go with text, whose URLs are fetched")
	}
	if err := resolve(&r.FetchRequest); err != nil {
		return nil, err
	}
	r.Limit = cmp.Or(r.Limit, messageURLs)
	t := &api.FetchedText{URLs: detected(r.Text)}
	t.Pages = make([]*page.Page, min(r.Limit, len(t.URLs)))
	t.Left = len(t.URLs) - len(t.Pages)
	var size atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(textURLsAtOnce)
	for i := range t.Pages {
		one := r.FetchRequest
		one.URL = t.URLs[i].URL
		group.Go(fault.Wrap("api: fetch a page that a text names", func() error {
			p, err := s.FetchPage(ctx, one)
			if err != nil {
				return err
			}
			if size.Add(int64(len(p.Content)+len(p.Readme)+len(p.SymbolMap)+len(p.Screenshot))) > maxFetchedBytes {
				p.Content, p.Readme, p.SymbolMap, p.Screenshot = "", "", "", nil
				p.Error = &page.Error{
					Kind: "too_large",
					Message: fmt.Sprintf("the pages of this text exceed %d bytes together: fetch %s by itself", maxFetchedBytes,
						page.MaskString(p.URL)),
				}
			}
			t.Pages[i] = p
			return nil
		}))
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return t, nil
}
