package fetch

import (
	"cmp"
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"github.com/readthru/readthru/fetch/media"
	"github.com/readthru/readthru/fetch/robots"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/page"
)

// Allowed reports whether the robots.txt of u's site allows the product token of fetch.user_agent to read u. It fetches
// the file through the cache, under the policy for own fetches, at most once in 24 hours. A site without robots.txt
// (4xx) allows everything. A site that fails to serve it (5xx, no connection) allows what it allowed before, or nothing
// if that is unknown. Callers that treat status 401 or 403 as a ban, as the reference fetch server does, check Status.
// Allowed returns the error of ctx, or an error if u is not an http or https URL.
func (f *Fetcher) Allowed(ctx context.Context, u *url.URL) (Verdict, error) {
	f = f.newest.Load()
	if _, err := page.Parse(u.String()); err != nil {
		return Verdict{}, err
	}
	file := robots.FileOf(u)
	known := f.robots.Get(file.String())
	if !known.Holds(time.Now()) {
		fresh, err := f.freshRobots(ctx, file, known)
		if err != nil {
			return Verdict{}, err
		}
		known = fresh
	}
	return known.Verdict(file, u, f.robotsToken()), nil
}

// robotsToken returns our product token for robots.txt, that at the beginning of fetch.user_agent.
func (f *Fetcher) robotsToken() string {
	return cmp.Or(robots.ProductToken(f.o.UserAgent), "readthru")
}

// freshRobots fetches a site's robots.txt, once for all concurrent callers. It returns the error of ctx.
func (f *Fetcher) freshRobots(ctx context.Context, file *url.URL, known *robots.Site) (*robots.Site, error) {
	//nolint:contextcheck // must not end with the request that began it
	done := f.flights.DoChan("robots "+file.String(), func() (any, error) {
		var got *robots.Site
		err := f.detached(f.o.Timeout, func(ctx context.Context) {
			ctx, cancel := context.WithTimeout(transport.OwnPolicy(ctx), robotsTimeout)
			defer cancel()
			now := time.Now()
			status, text, long, err := f.readRobots(ctx, file)
			if err != nil {
				err = Explain(file, err)
			}
			got = robots.Judge(file, status, text, long, err, f.robotsToken(), known, now)
			f.robots.Put(file.String(), got)
		})
		return got, err
	})
	select {
	case res := <-done:
		if res.Err != nil {
			return nil, res.Err
		}
		return res.Val.(*robots.Site), nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// readRobots returns the status of a site's robots.txt, after redirects, and its text up to the limit; long says that
// there is more. A file that breaks off is an error: half of it may allow too much.
func (f *Fetcher) readRobots(ctx context.Context, file *url.URL) (status int, text []byte, long bool, err error) {
	resp, _, err := f.getFile(ctx, file, "text/plain, */*;q=0.5", http.Header{"Cache-Control": {"max-age=86400"}})
	if err != nil {
		return 0, nil, false, err
	}
	defer resp.Body.Close()
	if resp.StatusCode >= 300 {
		return resp.StatusCode, nil, false, nil
	}
	if text, long, err = robots.ReadText(resp.Body); err != nil {
		return 0, nil, false, fmt.Errorf("%w: %w", media.ErrIncomplete, err)
	}
	return resp.StatusCode, text, long, nil
}
