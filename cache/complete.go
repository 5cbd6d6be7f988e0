package cache

import (
	"fmt"
	"io"
	"net/http"
	"time"

	"github.com/readthru/readthru/store"
)

// complete combines a stored part with the rest just received into a complete response (RFC 9111 §3.4).
func (f *flight) complete(r *store.Response, resp *http.Response, sent, received time.Time) (*store.Response, bool) {
	body, err := f.cache.store.Body(r.Body)
	if err != nil {
		return nil, false
	}
	resp.StatusCode, resp.Status = http.StatusOK, "200 OK"
	resp.Header.Del("Content-Range")
	for name, lines := range r.Header {
		if _, ok := resp.Header[name]; !ok && name != "Content-Range" && name != "Age" && name != "Date" {
			resp.Header[name] = lines
		}
	}
	resp.ContentLength = r.Total
	resp.Header.Set("Content-Length", fmt.Sprint(r.Total))
	rest := resp.Body
	resp.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(body, rest), closers{body, rest}}
	return f.cache.policy().entry(f.q, resp, sent, received), true
}

// closers closes several and returns the first error.
type closers []io.Closer

func (cs closers) Close() error {
	var first error
	for _, c := range cs {
		if err := c.Close(); err != nil && first == nil {
			first = err
		}
	}
	return first
}
