package fetch

import (
	"fmt"
	"io"
	"net/http"

	"readthru/store"
)

// Original is what an origin answered, as it is stored.
type Original struct {
	Content  []byte // text in UTF-8, without content coding
	Type     string // the field Content-Type
	Response *store.Response
}

// Original returns the newest stored response of a URL, whether it is fresh or not, unless it is a private one. uri is
// the key of the cache. The error wraps store.ErrNotFound if there is none.
func (f *Fetcher) Original(uri string) (*Original, error) {
	list, err := f.newest.Load().o.Store.Responses(uri)
	if err != nil {
		return nil, err
	}
	for _, r := range list {
		if r.Status == http.StatusOK && r.Partition == "" {
			return f.original(r)
		}
	}
	return nil, fmt.Errorf("the stored response of %s: %w", uri, store.ErrNotFound)
}

func (f *Fetcher) original(r *store.Response) (*Original, error) {
	o := f.newest.Load().o
	body, err := o.Store.Body(r.Body)
	if err != nil {
		return nil, err
	}
	defer body.Close() //nolint:errcheck // it was only read
	raw, err := io.ReadAll(io.LimitReader(body, o.MaxBody))
	if err != nil {
		return nil, err
	}
	content, err := decode(raw, r.Header, o.MaxBody)
	if err != nil {
		return nil, err
	}
	media := r.Header.Get("Content-Type")
	return &Original{Content: recoded(content, media), Type: media, Response: r}, nil
}
