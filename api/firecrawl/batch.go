package firecrawl

import (
	"context"
	"net/http"
	"net/url"

	"golang.org/x/sync/errgroup"

	"github.com/readthru/readthru/internal/fault"
)

// maxURLs is the maximum number of pages in a batch.
const maxURLs = 10_000

// batchBody is the content of a request that starts a batch of pages (POST /batch/scrape).
type batchBody struct {
	URLs    []string `json:"urls"`
	Lenient *bool    `json:"ignoreInvalidURLs"` // report bad URLs and go on; default: version 1 false, 2 true
	Workers int      `json:"maxConcurrency"`
	scrapeOptions

	AppendTo wanted `json:"appendToId"`
	Webhook  wanted `json:"webhook"`
}

// target is a page of a batch.
type target struct {
	asked string // the URL as the caller wrote it
	url   *url.URL
}

// serveBatch starts a job that scrapes a batch of URLs, and answers with its id.
func (s *Service) serveBatch(v version, r *http.Request) (any, error) {
	var b batchBody
	if err := decode(r, &b); err != nil {
		return nil, err
	}
	if err := b.checkJob(); err != nil {
		return nil, err
	}
	if b.Workers < 0 {
		return nil, bad("maxConcurrency must be above 0")
	}
	targets, invalid, err := b.targets(v)
	if err != nil {
		return nil, err
	}
	workers := s.o.Crawl.Workers
	if b.Workers > 0 {
		workers = min(b.Workers, maxWorkers)
	}
	agent := r.UserAgent()
	j, err := s.jobs.start(r.Context(), batching, "", len(targets), func(ctx context.Context, j *job) error {
		return s.batch(ctx, j, targets, workers, func(ctx context.Context, t target) (*document, error) {
			return s.scrape(ctx, v, t.url, t.asked, &b.scrapeOptions, agent)
		})
	})
	if err != nil {
		return nil, err
	}
	return startAnswer{true, j.id, location(v, r, j, nil), invalid}, nil
}

// targets parses the URLs of a batch. It returns malformed ones as invalid if the batch is lenient.
func (b *batchBody) targets(v version) (list []target, invalid []string, err error) {
	lenient := v == 2
	if b.Lenient != nil {
		lenient = *b.Lenient
	}
	if len(b.URLs) > maxURLs {
		return nil, nil, bad("urls has %d URLs; the maximum is %d", len(b.URLs), maxURLs)
	}
	for _, raw := range b.URLs {
		u, err := address(raw)
		switch {
		case err == nil:
			list = append(list, target{raw, u})
		case lenient:
			invalid = append(invalid, raw)
		default:
			return nil, nil, err
		}
	}
	if len(list) == 0 {
		return nil, nil, bad("urls has no URL")
	}
	return list, invalid, nil
}

// batch gets pages in parallel and adds them to the job in the order of its URLs. One that fails is an error of the
// job's list.
func (s *Service) batch(ctx context.Context, j *job, targets []target, workers int,
	get func(context.Context, target) (*document, error),
) error {
	type outcome struct {
		d   *document
		err error
	}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(workers + 1) // one more adds the documents
	waiting := make(chan chan outcome, workers)
	g.Go(fault.Wrap("firecrawl: add documents", func() error {
		for _, t := range targets {
			var got outcome
			select {
			case ch := <-waiting:
				select {
				case got = <-ch:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if got.err != nil {
				j.failed(t.asked, failed(t.url, got.err))
				continue
			}
			if err := j.add(got.d, t.asked, len(targets)); err != nil {
				return err
			}
		}
		return nil
	}))
	for _, t := range targets {
		ch := make(chan outcome, 1)
		select {
		case waiting <- ch:
		case <-ctx.Done():
			return g.Wait()
		}
		g.Go(fault.Wrap("firecrawl: end a document", func() error {
			var got outcome
			got.err = fault.Catch("firecrawl: get a document", func() (err error) {
				got.d, err = get(ctx, t)
				return err
			})
			ch <- got
			return nil
		}))
	}
	return g.Wait()
}
