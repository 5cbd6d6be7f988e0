package fetch

import (
	"fmt"
	"io"
	"net/http"

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// Ask sends an own request past the cache, and returns status, header and decoded content of the response, of at most
// limit bytes. It follows no redirect.
func (f *Fetcher) Ask(req *http.Request, limit int64) (status int, h http.Header, content []byte, err error) {
	f = f.newest.Load()
	if err := f.Blocked(req.URL); err != nil {
		return 0, nil, nil, err
	}
	if f.o.UserAgent != "" {
		req.Header.Set("User-Agent", f.o.UserAgent)
	}
	resp, err := f.o.Direct.RoundTrip(req.WithContext(transport.OwnPolicy(req.Context())))
	if err != nil {
		return 0, nil, nil, Explain(req.URL, err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err == nil && int64(len(raw)) > limit {
		err = media.ErrTooLarge
	}
	if err == nil {
		raw, err = media.Decode(raw, resp.Header, limit)
	}
	if err != nil {
		return 0, nil, nil, fmt.Errorf("read %s: %w", page.Mask(req.URL), err)
	}
	return resp.StatusCode, resp.Header, raw, nil
}
