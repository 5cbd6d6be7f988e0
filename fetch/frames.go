package fetch

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/httpfield"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
	"github.com/readthru/readthru/render"
	"github.com/readthru/readthru/store"
)

// warnFrames is the warning of a page of which frames are left out; followed by =N, their number.
const warnFrames = "frame-left-out"

// The limits on the frames of one page.
const (
	maxFrames     = 12               // documents that are read, with those in frames of frames
	maxFrameDepth = 3                // frames in each other; manuals have a frame of frames
	maxFrameHops  = 5                // redirects of a document
	framesBudget  = 10 * time.Second // for all of them
)

// framed is a page whose frames were looked at, and what was put into it.
type framed struct {
	html []byte            // the page with the documents of its frames in their places; nil: none was put there
	left int               // frames that are left out
	ours int               // those of them that are of the page's site
	made []render.Response // the documents that were asked for

	hidden int // pieces of hidden text that were taken out of them
}

// joinFrames puts the documents of the page's frames into their places, as far as they are of its own site and hold
// text, once for an attempt. Like a twin they are fetched under the policy for own fetches and without the client's
// fields, because the page and not the client chose their addresses. For a request with credentials nothing is fetched.
func (f *Fetcher) joinFrames(ctx context.Context, a *attempt) {
	if a.framed != nil || a.kind != media.HTML || a.status != http.StatusOK || a.wall != "" ||
		len(a.content) > gate.LargePage {
		return
	}
	a.framed = &framed{}
	contentType := a.resp.Header.Get("Content-Type")
	if page.KindOf(contentType) != page.HTML {
		contentType = "text/html" // labelled as something else
	}
	limit := framesBudget
	if deadline, ok := ctx.Deadline(); ok {
		limit = min(limit, time.Until(deadline)/2) // the page itself needs time
	}
	ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), limit)
	defer cancel()
	shown := map[string]bool{a.at.plain: true}
	a.framed.html = f.withFrames(ctx, a, a.content, contentType, a.url, 0, shown)
	if a.framed.html != nil {
		a.rest()
		a.tree = tree{} // it is of the page without them
	}
}

// withFrames returns a document with those of its frames in their places; nil if there is none. depth is how many
// frames it is in. shown are the documents that it is part of, and those that were put already.
func (f *Fetcher) withFrames(ctx context.Context, a *attempt, content []byte, contentType string, u *url.URL, depth int,
	shown map[string]bool,
) []byte {
	if depth == maxFrameDepth {
		return nil
	}
	frames := convert.FindFrames(ctx, content, contentType, u)
	if frames == nil {
		return nil
	}
	a.framed.left += frames.Others
	put := false
	for i, to := range frames.URLs() {
		id := withoutFragment(to)
		if shown[id] {
			continue
		}
		shown[id] = true
		inner, at, err := f.frame(ctx, a, to)
		if err == nil {
			contentType := inner.resp.Header.Get("Content-Type")
			text := inner.content
			if whole := f.withFrames(ctx, a, text, contentType, at, depth+1, shown); whole != nil {
				text, contentType = whole, "text/html; charset=utf-8"
			}
			if frames.Put(ctx, i, text, contentType, at) {
				put = true
				continue
			}
			err = errors.New("it has no text")
		}
		f.o.Log.Debug("frame left out", "url", page.Mask(to), "err", err)
		a.framed.left++
		a.framed.ours++
	}
	a.framed.hidden += frames.Hidden
	if !put {
		return nil
	}
	whole, err := frames.HTML()
	if err != nil {
		return nil
	}
	return whole
}

// frame reads the document of a frame, after redirects, and returns the URL at which it was found. What was asked for
// is noted, as the page is fresh only as long as that.
func (f *Fetcher) frame(ctx context.Context, a *attempt, u *url.URL) (*response, *url.URL, error) {
	switch {
	case a.credentials:
		return nil, nil, errors.New("the request carries credentials")
	case len(a.framed.made) == maxFrames:
		return nil, nil, fmt.Errorf("the page has more than %d frames", maxFrames)
	}
	ask := Request{Own: true, Method: http.MethodGet, CacheOnly: a.req.CacheOnly, Force: a.forced && !a.req.CacheOnly}
	for range maxFrameHops {
		if err := a.mayFrame(u); err != nil {
			return nil, nil, err
		}
		if err := f.Blocked(u); err != nil {
			return nil, nil, err
		}
		resp, err := f.o.Client.RoundTrip(f.request(ctx, ask, u, acceptHTML))
		if err != nil {
			a.framed.made = append(a.framed.made, render.Response{URL: u})
			return nil, nil, err
		}
		if next, ok := transport.Location(u, resp); ok {
			transport.Discard(resp)
			u = next
			continue
		}
		inner := &response{resp: resp}
		err = f.readFrame(inner)
		resp.Body.Close()
		a.framed.made = append(a.framed.made,
			render.Response{URL: u, Status: resp.StatusCode, Header: resp.Header, Empty: len(inner.content) == 0})
		return inner, u, err
	}
	return nil, nil, fmt.Errorf("more than %d redirects", maxFrameHops)
}

// mayFrame returns an error for the URL of a frame that is not of the page's site, or that only its reader may ask for.
func (a *attempt) mayFrame(u *url.URL) error {
	switch {
	case !page.SameSite(u.Hostname(), a.url.Hostname()) || !fetchable(u):
		return fmt.Errorf("%s is of another site", page.Mask(u))
	case a.url.Scheme == "https" && u.Scheme != "https":
		return errors.New("it would come without TLS")
	case page.HasSecret(u):
		return errors.New("its URL has a secret")
	}
	return nil
}

// readFrame reads the document of a frame. The error says why it is not put into the page.
func (f *Fetcher) readFrame(inner *response) error {
	h := inner.resp.Header
	switch {
	case inner.resp.StatusCode != http.StatusOK:
		return fmt.Errorf("HTTP %d", inner.resp.StatusCode)
	case media.Classify(true, inner.resp.StatusCode, h) != media.HTML:
		return errors.New("it is " + media.Type(h))
	case httpfield.Directive(h, "no-store") || httpfield.Directive(h, "private"):
		return errors.New("it must not be stored")
	}
	if err := inner.read(gate.LargePage); err != nil {
		return err
	}
	if convert.Wall(inner.resp.StatusCode, h, inner.content) != "" {
		return errors.New("it is a bot wall")
	}
	return nil
}

// noteFrames notes with a local rendition of the page what became of its frames. It is fresh as long as their documents
// are.
func (f *Fetcher) noteFrames(a *attempt, r *store.Rendition) {
	if a.framed == nil {
		return
	}
	if a.framed.left > 0 {
		r.Warnings = page.AddWarning(r.Warnings, warnFrames+"="+strconv.Itoa(a.framed.left))
	}
	if a.framed.hidden > 0 {
		r.Warnings = page.CountWarning(r.Warnings, convert.WarnHidden, a.framed.hidden)
	}
	if len(a.framed.made) > 0 {
		r.Expires = time.Now().Add(f.lifetime(a, a.framed.made))
	}
}

// withFramesIn reports whether frames were asked for when a local rendition was made: it is kept by its page.
func withFramesIn(r *store.Rendition) bool { return r.From == page.Local && !r.Expires.IsZero() }
