// Package firecrawl answers as a Firecrawl server does, so that a program written for that can be pointed at this one:
// pages, crawls, maps of sites and batches of pages, by versions 1 and 2 of its API.
//
// The pages come from package fetch and the crawls from package crawl, through the cache, its guard and robots.txt as
// all that is fetched here. A [Service] has a handler for each of its [Service.Routes]; who mounts them guards them.
//
// Bodies are strict: an unknown key is an error that names it. A key that is known and asks for what there is none of
// here (actions, mobile, location, formats that a model makes, webhooks, other hosts in one crawl …) is refused by its
// name, too. Ignored, because the answer is no other without them, are: origin, integration and auditMetadata (who
// asks), proxy, blockAds, fastMode, parsers, parsePDF and removeBase64Images (how a page is got; PDFs are always read,
// pictures in addresses never kept), deduplicateSimilarURLs (always done), useIndex and ignoreCache (of a map).
// skipTlsVerification is ignored with a warning: certificates are always verified.
//
// Where the two differ: maxAge bounds the age of a stored answer, and what HTTP says of its freshness bounds it
// further; without maxAge version 2 answers as HTTP has it, version 1 asks the origin. timeout can only shorten
// fetch.timeout, and is nothing to a crawl. waitFor has a browser render the page, which waits until the page is quiet
// and not for so long. maxDepth counts links from the start, as maxDiscoveryDepth does. A page that an origin refuses
// with a status is a success without markdown, as there: metadata has the status and an error. A page with headers of
// the caller's is asked for on its own host alone and never kept.
//
// A job and its documents are there for a day, or until the process ends.
package firecrawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"readthru/crawl"
	"readthru/summary"
)

// Options configures a Service.
type Options struct {
	Crawl   crawl.Config   // how sites are crawled, and who fetches; its Fetcher is required
	Summary *summary.Maker // if nil, summaries are extractive
	// where the documents of jobs are kept while they can be asked for; if empty the system's temporary directory
	Dir string
	Log *slog.Logger // if nil nothing is logged
}

// Service answers as a Firecrawl server does. It is safe for concurrent use.
type Service struct {
	o    Options
	jobs *jobs
}

// New returns a Service. Close it when done. It starts nothing.
func New(o Options) *Service {
	if o.Summary == nil {
		o.Summary = summary.New(summary.Options{})
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Crawl.Workers <= 0 {
		o.Crawl.Workers = 4
	}
	return &Service{o: o, jobs: newJobs(o.Dir)}
}

// Close ends the jobs that run, waits for them and drops all documents.
func (s *Service) Close() { s.jobs.close() }

// Route is one method of one path, with what a description of the API says of it.
type Route struct {
	Method, Path string
	Summary      string
	Query        map[string]string // parameters and what they are
	Body, Result any               // a value of the type that goes in and comes out as JSON; nil for none
	Handle       http.HandlerFunc
}

// Routes lists the routes, those of each version together.
func (s *Service) Routes() []Route {
	part := map[string]string{
		"skip":  "leave out so many documents; default 0",
		"limit": "how many documents at most; default 100, and never more",
	}
	var list []Route
	for _, v := range []version{1, 2} {
		base := fmt.Sprintf("/v%d", v)
		as := ", as Firecrawl's API has it, version " + base[2:]
		var links any = mapAnswer[string]{}
		if v == 2 {
			links = mapAnswer[mapLink]{}
		}
		list = append(list,
			Route{
				"POST", base + "/scrape", "a page in the forms asked for" + as, nil,
				scrapeBody{},
				scrapeAnswer{},
				s.handler(v, s.serveScrape),
			},
			Route{"POST", base + "/map", "the URLs of a site" + as, nil, mapBody{}, links, s.handler(v, s.serveMap)},
			Route{
				"POST", base + "/crawl", "begin to crawl a site" + as, nil,
				crawlBody{},
				startAnswer{},
				s.handler(v, s.serveCrawl),
			},
			Route{
				"GET", base + "/crawl/active", "the crawls that are under way", nil, nil,
				activeAnswer{},
				s.handler(v, s.serveActive),
			},
			Route{
				"POST", base + "/batch/scrape", "begin to get pages" + as, nil,
				batchBody{},
				startAnswer{},
				s.handler(v, s.serveBatch),
			},
		)
		for _, of := range []struct {
			kind kind
			what string
		}{{crawling, "crawl"}, {batching, "batch"}} {
			path := base + string(of.kind) + "/{id}"
			list = append(list,
				Route{
					"GET", path, "how far a " + of.what + " is, and its documents", part, nil,
					statusAnswer{},
					s.handler(v, s.serveStatus),
				},
				Route{"DELETE", path, "end a " + of.what, nil, nil, cancelAnswer{}, s.handler(v, s.serveCancel)},
				Route{
					"GET", path + "/errors", "what of a " + of.what + " could not be had", nil, nil,
					errorsAnswer{},
					s.handler(v, s.serveErrors),
				},
			)
			if v == 1 { // its client for JavaScript asks so
				list = append(list, Route{
					"DELETE", path + "/errors", "the same as by GET", nil, nil,
					errorsAnswer{},
					s.handler(v, s.serveErrors),
				})
			}
		}
	}
	return list
}

// Owns reports whether a path is one of this API's versions, whose refusals have its form.
func Owns(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v2/")
}

// version is that of the API.
type version int

// handler answers with what handle returns, or with its error.
func (s *Service) handler(v version, handle func(v version, r *http.Request) (any, error)) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		got, err := handle(v, r)
		if err == nil {
			answer(w, http.StatusOK, got)
			return
		}
		f, ok := errors.AsType[*failure](err)
		if !ok {
			f = failed(nil, err)
		}
		if f.status >= 500 && !errors.Is(r.Context().Err(), context.Canceled) {
			s.o.Log.Debug("firecrawl request failed", "path", r.URL.Path, "code", f.code)
		}
		answer(w, f.status, f.body())
	}
}
