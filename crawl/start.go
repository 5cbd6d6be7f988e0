package crawl

import (
	"context"
	"fmt"
	"net/url"

	"github.com/readthru/readthru/page"
)

// maxStartHops is how many redirects of a start page are followed. Other pages of a crawl are asked for at the target,
// as URLs of their own.
const maxStartHops = 10

// parseStart parses the URL of a start page and drops its anchor. The error, which names the work, refuses a URL with
// a credential: every page of the site would be fetched because of it.
func parseStart(work, raw string) (*url.URL, error) {
	u, err := page.Parse(raw)
	if err != nil {
		return nil, err
	}
	if page.HasSecret(u) {
		return nil, fmt.Errorf("%s %s: the URL carries what looks like a credential", work, page.Mask(u))
	}
	return page.WithoutAnchor(u), nil
}

// arrive gets the start page and follows its redirects, to any host. It returns the last URL and what came of it, which
// is Moved if there are too many redirects.
func (r *run) arrive(ctx context.Context, u *url.URL) (*url.URL, result) {
	for hop := 0; ; hop++ {
		got := r.get(ctx, item{URL: u.String()})
		if got.outcome != Moved || hop == maxStartHops {
			return u, got
		}
		u = got.moved
	}
}
