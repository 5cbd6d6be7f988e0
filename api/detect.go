package api

import (
	"context"
	"fmt"
	"net/http"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"readthru/page"
)

// Detection holds the URLs that a text names, in the order of their first appearance (rule B1).
type Detection struct {
	URLs []page.Detected `json:"urls"`
}

// DetectRequest asks for the pages that a text names. Its FetchRequest, with an empty URL, says how each of them is
// wanted.
type DetectRequest struct {
	Text  string `json:"text"`
	Limit int    `json:"limit,omitempty"` // how many at most, the first of the text; 0 is 3 (rule B8), at most 50
	FetchRequest
}

// FetchedText holds the pages that a text names. A page that could not be had has its Error set.
type FetchedText struct {
	URLs  []page.Detected `json:"urls"`  // all of the text
	Pages []*page.Page    `json:"pages"` // of the first of them, in the same order
	Left  int             `json:"left"`  // how many URLs were not fetched, because there are more than the limit
}

const (
	messageURLs     = 3        // fetched of one message where the caller names no limit (rule B8)
	maxTextURLs     = 50       // fetched of one text at most (rule B9)
	textURLsAtOnce  = 3        // fetched at the same time (rule B9)
	maxFetchedBytes = 64 << 20 // content of the pages of one text together
)

// Detect finds the URLs of a text and says what kind each is. It asks nobody.
func (s *Server) Detect(_ context.Context, text string) (*Detection, error) {
	return &Detection{URLs: detected(text)}, nil
}

func detected(text string) []page.Detected {
	if found := page.Detect(text); found != nil {
		return found
	}
	return []page.Detected{}
}

// DetectAndFetch gets the first pages that a text names, three at a time. As with [Server.Fetch], an error means that r
// is wrong. Pages that together are over 64 MiB come without their content, with an error that says so.
func (s *Server) DetectAndFetch(ctx context.Context, r DetectRequest) (*FetchedText, error) {
	if r.Limit < 0 || r.Limit > maxTextURLs {
		return nil, problem(http.StatusBadRequest, "limit %d is not a number from 1 to %d", r.Limit, maxTextURLs)
	}
	if r.URL != "" {
		return nil, problem(http.StatusBadRequest, "url is for one page: the URLs here are those of text")
	}
	if err := r.check(); err != nil {
		return nil, err
	}
	if r.Limit == 0 {
		r.Limit = messageURLs
	}
	t := &FetchedText{URLs: detected(r.Text)}
	t.Pages = make([]*page.Page, min(r.Limit, len(t.URLs)))
	t.Left = len(t.URLs) - len(t.Pages)
	var size atomic.Int64
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(textURLsAtOnce)
	for i := range t.Pages {
		one := r.FetchRequest
		one.URL = t.URLs[i].URL
		group.Go(func() error {
			p, err := s.Fetch(ctx, one)
			if err != nil {
				return err
			}
			if size.Add(int64(len(p.Content)+len(p.Readme)+len(p.SymbolMap)+len(p.Screenshot))) > maxFetchedBytes {
				p.Content, p.Readme, p.SymbolMap, p.Screenshot = "", "", "", nil
				p.Error = &page.Error{
					Kind: "too_large",
					Message: fmt.Sprintf("the pages of this text are over %d bytes together: fetch %s by itself", maxFetchedBytes,
						page.MaskString(p.URL)),
				}
			}
			t.Pages[i] = p
			return nil
		})
	}
	if err := group.Wait(); err != nil {
		return nil, err
	}
	return t, nil
}

// Detect asks the daemon, as [Server.Detect] does.
func (c *Client) Detect(ctx context.Context, text string) (*Detection, error) {
	return send[Detection](ctx, c, "/api/v1/detect", textRequest{text})
}

// DetectAndFetch asks the daemon, as [Server.DetectAndFetch] does.
func (c *Client) DetectAndFetch(ctx context.Context, r DetectRequest) (*FetchedText, error) {
	return send[FetchedText](ctx, c, "/api/v1/detect-and-fetch", r)
}

// textRequest is the content of a request about a text.
type textRequest struct {
	Text string `json:"text"`
}

func (s *Server) serveDetect(w http.ResponseWriter, r *http.Request) error {
	var req textRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	d, err := s.Detect(r.Context(), req.Text)
	return reply(w, d, err)
}

func (s *Server) serveDetectAndFetch(w http.ResponseWriter, r *http.Request) error {
	var req DetectRequest
	if err := decode(r, &req); err != nil {
		return err
	}
	req.by(r)
	t, err := s.DetectAndFetch(r.Context(), req)
	return reply(w, t, err)
}
