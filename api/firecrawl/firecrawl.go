// Package firecrawl imitates a Firecrawl server, so that a program written for Firecrawl can use readthru instead. It
// serves pages, crawls, maps of sites, batches of pages and searches, by versions 1 and 2 of Firecrawl's API.
//
// Pages come from package fetch and crawls from package crawl, so the cache, the address guard and robots.txt apply as
// everywhere. A [Service] has a handler for each of its [Service.Routes]. The caller mounts the handlers and guards
// them.
//
// Bodies are strict: an unknown key is an error that names it. A known key that asks for something readthru does not
// have (actions, mobile, location, webhooks, other hosts in one crawl …) is refused by name. Keys that make no
// difference to the answer are ignored: origin, integration and auditMetadata (they describe the client), proxy,
// blockAds, fastMode, parsers, parsePDF and removeBase64Images (they say how to get a page; PDFs are always read, and
// data: images are never kept), deduplicateSimilarURLs (always done), useIndex and ignoreCache (of a map).
// skipTlsVerification is ignored with a warning: certificates are always verified.
//
// The two differ in these points. maxAge bounds the age of a stored answer, and so does its freshness in HTTP;
// without maxAge, version 2 follows HTTP and version 1 asks the origin. A page may take as long as timeout says,
// also longer than fetch.timeout, which bounds its rendering; a crawl ignores timeout. waitFor renders the page in a
// browser and gives it at least that long, by the page's own clock, which stands still only while something loads.
// maxDepth counts links from the start, as
// maxDiscoveryDepth does. A page that its origin refuses with a status is a success without markdown, as with
// Firecrawl: its metadata has the status and an error. A page requested with headers of the caller is fetched from
// its own host only and never kept. changeTracking compares a page with its last version here, whoever read that.
// The data of the format json are read by the model of llm.*, as far as the page may be told to it, and are held
// against the schema. A search finds pages read here, and those that SearXNG finds.
//
// A job and its documents exist for a day, or until the process ends.
package firecrawl

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"

	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/internal/summary"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/store"
)

// Options configures a Service.
type Options struct {
	Crawl   crawl.Config   // how sites are crawled and pages fetched; its Fetcher is required
	Summary *summary.Maker // if nil, summaries are extractive, and no model reads data out of pages

	Store     *store.Store         // its versions tell what changed; if nil, that is not known
	Knowledge *knowledge.Knowledge // what a search finds here; if nil, nothing
	SearXNG   *SearXNG             // what it finds elsewhere; if nil, nothing

	Dir string       // directory for the documents of jobs; if empty, the system's temporary directory
	Log *slog.Logger // if nil, nothing is logged
}

// Service imitates a Firecrawl server. It is safe for concurrent use.
type Service struct {
	o    Options
	jobs *jobs
}

// New returns a Service, which starts nothing until it is used. The caller must close it.
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

// Close cancels all jobs, waits for them and deletes their documents.
func (s *Service) Close() { s.jobs.close() }

// Running returns how many jobs run.
func (s *Service) Running() int {
	s.jobs.mu.Lock()
	defer s.jobs.mu.Unlock()
	return s.jobs.countLocked()
}

// Route is one method of one path, with its description for the API's documentation.
type Route struct {
	ID           string // unique
	Method, Path string
	Summary      string
	Query        map[string]string // descriptions of the query parameters by name
	Body, Result any               // values of the types of the JSON content, request and response; nil if none
	Handle       http.HandlerFunc
}

// Routes returns the routes, grouped by version.
func (s *Service) Routes() []Route {
	part := map[string]string{
		"skip":  "number of documents to skip; default 0",
		"limit": "maximum number of documents; default and upper bound 100",
	}
	var list []Route
	for _, v := range []version{1, 2} {
		base := fmt.Sprintf("/v%d", v)
		as := ", as in version " + base[2:] + " of Firecrawl's API"
		add := func(id, method, path, about string, query map[string]string, body, result any,
			handle func(version, *http.Request) (any, error),
		) {
			list = append(list, Route{
				fmt.Sprintf("firecrawl%sV%d", id, v), method, base + path, about, query, body, result, s.handler(v, handle),
			})
		}
		var links any = mapAnswer[string]{}
		if v == 2 {
			links = mapAnswer[mapLink]{}
		}
		add("Scrape", "POST", "/scrape", "returns a page in the requested formats"+as, nil, scrapeBody{}, scrapeAnswer{},
			s.serveScrape)
		add("Map", "POST", "/map", "lists the URLs of a site"+as, nil, mapBody{}, links, s.serveMap)
		var results any = searchAnswer[[]found]{}
		if v == 2 {
			results = searchAnswer[webResults]{}
		}
		add("Search", "POST", "/search", "finds pages read, and pages of the web by SearXNG if that is configured"+as, nil,
			searchBody{}, results, s.serveSearch)
		add("CreditUsage", "GET", "/team/credit-usage", "says that nothing is charged here"+as, nil, nil, creditAnswer{},
			s.serveCredits)
		add("Crawl", "POST", "/crawl", "starts to crawl a site"+as, nil, crawlBody{}, startAnswer{}, s.serveCrawl)
		add("ListCrawls", "GET", "/crawl/active", "lists the running crawls", nil, nil, activeAnswer{}, s.serveActive)
		add("Batch", "POST", "/batch/scrape", "starts to get a batch of pages"+as, nil, batchBody{}, startAnswer{},
			s.serveBatch)
		for _, of := range []struct {
			kind     kind
			id, what string
		}{{crawling, "Crawl", "crawl"}, {batching, "Batch", "batch"}} {
			path := string(of.kind) + "/{id}"
			add("Get"+of.id, "GET", path, "returns status and documents of a "+of.what, part, nil, statusAnswer{},
				s.serveStatus)
			add("Cancel"+of.id, "DELETE", path, "cancels a "+of.what, nil, nil, cancelAnswer{}, s.serveCancel)
			add("Get"+of.id+"Errors", "GET", path+"/errors", "lists the errors of a "+of.what, nil, nil, errorsAnswer{},
				s.serveErrors)
			if v == 1 { // its JavaScript client uses DELETE
				add("Delete"+of.id+"Errors", "DELETE", path+"/errors", "the same as GET", nil, nil, errorsAnswer{}, s.serveErrors)
			}
		}
	}
	return list
}

// Owns reports whether a path belongs to this API. Its errors then need the form that [Refuse] writes.
func Owns(path string) bool {
	return strings.HasPrefix(path, "/v1/") || strings.HasPrefix(path, "/v2/")
}

// Missing says of a path of Firecrawl's API that there is none here.
func Missing(path string) string {
	_, name, _ := strings.Cut(strings.Trim(path, "/"), "/")
	return fmt.Sprintf("%.60q is not supported here: use scrape, batch/scrape, crawl, map or search", name)
}

// version is a version of the API: 1 or 2.
type version int

// handler makes an HTTP handler of what answers a version of Firecrawl's API: it writes the result as JSON, or the
// error in Firecrawl's form, and logs failures of this server.
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
