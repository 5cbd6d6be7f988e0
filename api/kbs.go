package api

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"path/filepath"
	"slices"

	"readthru/crawl"
	"readthru/knowledge"
	"readthru/page"
)

// NewBase asks for a knowledge base: what it is called and what it is made of. Exactly one of Crawl, Scrape and Files
// is given, or none: the base is one for texts that are ingested then.
type NewBase struct {
	Name        string   `json:"name"` // lower-case letters, digits and ._-
	Description string   `json:"description,omitempty"`
	Crawl       string   `json:"crawl,omitempty"`   // the site from this URL on
	Scrape      string   `json:"scrape,omitempty"`  // this page alone
	Files       []string `json:"files,omitempty"`   // absolute paths of files and folders on the daemon's machine
	Limit       int      `json:"limit,omitempty"`   // pages of a crawl; default 1000
	Depth       int      `json:"depth,omitempty"`   // links from the start; default any
	Include     []string `json:"include,omitempty"` // patterns of paths, "re:" before a regular expression
	Exclude     []string `json:"exclude,omitempty"`
}

// Filling is a base with the job that fills it.
type Filling struct {
	KB  knowledge.Base `json:"kb"`
	Job *Job           `json:"job,omitempty"` // nil for a base of texts
}

// BaseList holds the knowledge bases by name.
type BaseList struct {
	KBs []knowledge.Base `json:"kbs"`
}

// DocumentList is a part of a base's documents. Next is empty at the end.
type DocumentList struct {
	Documents []knowledge.Entry `json:"documents"`
	Next      string            `json:"next,omitempty"`
}

// knows returns the index, where it is open.
func (s *Server) knows() (*knowledge.Knowledge, error) {
	if s.o.Knowledge == nil {
		return nil, problem(http.StatusServiceUnavailable, "there is no index here")
	}
	return s.o.Knowledge, nil
}

// Bases lists the knowledge bases.
func (s *Server) Bases(context.Context) (*BaseList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list := k.Bases()
	if list == nil {
		list = []knowledge.Base{}
	}
	return &BaseList{KBs: list}, nil
}

// Base returns a knowledge base.
func (s *Server) Base(_ context.Context, name string) (*knowledge.Base, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(name)
	return &b, err
}

// BaseDocuments lists the documents of a base.
func (s *Server) BaseDocuments(_ context.Context, name, cursor string, limit int) (*DocumentList, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Documents(name, cursor, min(limit, maxLimit))
	if list == nil {
		list = []knowledge.Entry{}
	}
	return &DocumentList{list, next}, err
}

// DeleteBase removes a base with all that nobody else has.
func (s *Server) DeleteBase(ctx context.Context, name string) (*knowledge.Base, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	b, err := k.DeleteBase(ctx, name)
	return &b, err
}

// CreateBase makes a base and begins to fill it.
func (s *Server) CreateBase(ctx context.Context, n NewBase) (*Filling, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	b, err := n.base()
	if err != nil {
		return nil, err
	}
	if b, err = k.CreateBase(b); err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return &Filling{KB: b}, nil
	}
	j, err := s.fill(b) //nolint:contextcheck // the job outlives the request
	if err != nil {
		_, derr := k.DeleteBase(ctx, b.Name)
		return nil, errors.Join(err, derr)
	}
	return &Filling{b, &j}, nil
}

// base checks what is asked for and returns it as a base.
func (n NewBase) base() (knowledge.Base, error) {
	b := knowledge.Base{
		Name: n.Name, Description: n.Description, Source: knowledge.SourceText, Limit: n.Limit,
		Depth: n.Depth, Include: n.Include, Exclude: n.Exclude,
	}
	if err := knowledge.CheckBaseName(n.Name); err != nil {
		return b, problem(http.StatusBadRequest, "%s", err)
	}
	given := 0
	for _, raw := range []struct{ url, source string }{
		{n.Crawl, knowledge.SourceCrawl},
		{n.Scrape, knowledge.SourceScrape},
	} {
		if raw.url == "" {
			continue
		}
		u, err := page.Parse(raw.url)
		if err != nil {
			return b, problem(http.StatusBadRequest, "%s", err)
		}
		b.Source, b.URL = raw.source, u.String()
		given++
	}
	if len(n.Files) > 0 {
		b.Source, b.Files = knowledge.SourceFile, n.Files
		given++
		for _, f := range n.Files {
			if !filepath.IsAbs(f) {
				return b, problem(http.StatusBadRequest, "%q is not an absolute path", f)
			}
		}
	}
	switch {
	case given > 1:
		return b, problem(http.StatusBadRequest, "a base is made of a crawl, a page or files: one of them")
	case n.Limit < 0 || n.Depth < 0:
		return b, problem(http.StatusBadRequest, "limit and depth are not below 0")
	case n.Crawl == "" && (n.Limit > 0 || n.Depth > 0 || len(n.Include)+len(n.Exclude) > 0):
		return b, problem(http.StatusBadRequest, "limit, depth, include and exclude are for a crawl")
	}
	return b, nil
}

// RefreshBase fills a base anew from where it came. A limit above 0 takes the place of the base's own.
func (s *Server) RefreshBase(_ context.Context, name string, limit int) (*Filling, error) {
	k, err := s.knows()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(name)
	if err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return nil, problem(http.StatusConflict, "%s holds texts that were handed in: there is nothing to refresh it from",
			name)
	}
	if limit > 0 {
		if b, err = k.UpdateBase(name, func(b *knowledge.Base) { b.Limit = limit }); err != nil {
			return nil, err
		}
	}
	j, err := s.fill(b) //nolint:contextcheck // the job outlives the request
	if err != nil {
		return nil, err
	}
	return &Filling{b, &j}, nil
}

// Resume takes up the fillings that were under way when an earlier process ended. Those from the network wait while
// offline.
func (s *Server) Resume() {
	if s.o.Knowledge == nil {
		return
	}
	for _, b := range s.o.Knowledge.Bases() {
		begun := b.Building || b.Generation == 0
		if !begun || b.Source == knowledge.SourceText || s.o.Offline && b.Source != knowledge.SourceFile {
			continue
		}
		if _, err := s.fill(b); err != nil {
			s.o.Log.Warn("a knowledge base is not filled", "kb", b.Name, "error", err)
		}
	}
}

// fill begins the job that fills a base. A base that was never filled goes when it cannot be.
func (s *Server) fill(b knowledge.Base) (Job, error) {
	build, err := s.o.Knowledge.Build(b.Name)
	if err != nil {
		return Job{}, err
	}
	j, err := s.jobs.start(Job{Kind: b.Source, KB: b.Name, Resumed: build.Resumed()},
		func(ctx context.Context, j *job) error {
			defer build.Close()
			err := s.gather(ctx, j, b, build)
			if err == nil {
				if b, err = build.Commit(ctx); err == nil {
					j.update(func(now *Job) { now.Documents, now.Passages = b.Documents, b.Passages })
					return nil
				}
			}
			if errors.Is(context.Cause(ctx), errStopping) {
				return err // to be taken up again
			}
			end := context.WithoutCancel(ctx)
			if aerr := build.Abort(end); aerr != nil {
				s.o.Log.Warn("a build could not be given up", "kb", b.Name, "error", aerr)
			}
			if b.Generation == 0 {
				build.Close()
				if _, derr := s.o.Knowledge.DeleteBase(end, b.Name); derr != nil {
					s.o.Log.Warn("an empty base stays", "kb", b.Name, "error", derr)
				}
			}
			return err
		})
	if err != nil {
		build.Close() // to be taken up again
	}
	return j, err
}

// gather adds the documents of a base's source to its build.
func (s *Server) gather(ctx context.Context, j *job, b knowledge.Base, build *knowledge.Build) error {
	switch b.Source {
	case knowledge.SourceFile:
		report, err := build.AddFiles(ctx, b.Files, func(i, total int, url string) {
			j.update(func(now *Job) { now.I, now.Total, now.URL = i, total, url })
		})
		if report != nil {
			j.update(func(now *Job) { now.NotTaken, now.Skipped = report.Skipped, report.Reasons })
		}
		return err
	case knowledge.SourceScrape:
		service, err := s.crawler()
		if err != nil {
			return err
		}
		p, err := service.Scrape(ctx, b.URL)
		if err != nil {
			return err
		}
		j.update(func(now *Job) { now.I, now.Total = 1, 1 })
		return add(ctx, build, p)
	}
	service, err := s.crawler()
	if err != nil {
		return err
	}
	return s.crawl(ctx, j, b, build, service)
}

func (s *Server) crawler() (crawl.Service, error) {
	if s.o.Crawl == nil {
		return nil, problem(http.StatusServiceUnavailable, "nothing can be crawled here")
	}
	return s.o.Crawl()
}

const maxFailures = 100 // told of a crawl

func (s *Server) crawl(ctx context.Context, j *job, b knowledge.Base, build *knowledge.Build,
	service crawl.Service,
) error {
	outcomes := map[string]int{}
	report, err := service.Crawl(ctx, crawl.Options{
		URL: b.URL, Limit: b.Limit, Depth: b.Depth, Include: b.Include, Exclude: b.Exclude, Refresh: b.Generation > 0,
		Known: build.Known, State: build.CrawlLog(),
	}, func(e crawl.Event) error {
		refused := ""
		if e.Page != nil {
			err := add(ctx, build, e.Page)
			if no, is := errors.AsType[*knowledge.RefusedError](err); is {
				refused = no.Error()
			} else if err != nil {
				return err
			}
		}
		outcomes[string(e.Outcome)]++
		j.update(func(now *Job) {
			now.I, now.Total, now.URL = e.I, e.Total, e.URL
			switch {
			case len(now.Failures) >= maxFailures:
			case refused != "":
				now.Failures = append(now.Failures, e.URL+": "+refused)
			case e.Err != nil:
				now.Failures = append(now.Failures, e.URL+": "+e.Err.Error())
			}
		})
		return nil
	})
	if report != nil {
		j.update(func(now *Job) { now.Outcomes, now.Remarks = tally(report, outcomes), remarks(report) })
	}
	if err == nil && build.Len() == 0 {
		now, _ := j.snapshot()
		err = fmt.Errorf("no page could be had from %s", b.URL)
		if len(now.Failures) > 0 {
			err = fmt.Errorf("no page could be had: %s", now.Failures[0])
		}
	}
	return err
}

// add adds a crawled page to a build: by its key when it is stored. One that we read ourselves and did not store is
// none to keep (AD4, AD6).
func add(ctx context.Context, build *knowledge.Build, p *crawl.Page) error {
	switch {
	case p.Page == nil:
		return build.Add(ctx, knowledge.Document{URL: p.URL, Title: p.Title, Markdown: []byte(p.Markdown)})
	case !p.Page.Stored:
		return &knowledge.RefusedError{Reason: errors.New("it may not be kept: it is private or no-store, or no page in " +
			"truth")}
	}
	return build.Add(ctx, knowledge.Document{Key: page.KeyOf(p.Page.NormalizedURL)})
}

// tally returns the outcomes of all URLs, those of earlier runs of the crawl included where the report has them.
func tally(r *crawl.Report, seen map[string]int) map[string]int {
	if len(r.Outcomes) == 0 {
		return seen
	}
	all := map[string]int{}
	for o, n := range r.Outcomes {
		all[string(o)] = n
	}
	return all
}

// remarks says what a crawl left out.
func remarks(r *crawl.Report) []string {
	var list []string
	if r.GaveUp != "" {
		list = append(list, "gave up: "+r.GaveUp)
	}
	for _, n := range []struct {
		n    int
		what string
	}{
		{r.Queued, "URLs were known and not read"},
		{r.Trapped, "links lead into what looks endless"},
		{r.Dropped, "links were left out because the list was full"},
	} {
		if n.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	return slices.Concat(list, r.Sitemaps)
}

func (s *Server) serveBases(w http.ResponseWriter, r *http.Request) error {
	list, err := s.Bases(r.Context())
	return reply(w, list, err)
}

func (s *Server) serveBase(w http.ResponseWriter, r *http.Request) error {
	b, err := s.Base(r.Context(), r.PathValue("name"))
	return reply(w, b, err)
}

func (s *Server) serveBaseDocuments(w http.ResponseWriter, r *http.Request) error {
	q, limit, err := listQuery(r, "cursor")
	if err != nil {
		return err
	}
	list, err := s.BaseDocuments(r.Context(), r.PathValue("name"), q.Get("cursor"), limit)
	return reply(w, list, err)
}

func (s *Server) serveCreateBase(w http.ResponseWriter, r *http.Request) error {
	var n NewBase
	if err := decode(r, &n); err != nil {
		return err
	}
	if len(n.Files) > 0 && !fromHere(r) {
		return problem(http.StatusForbidden, "files of this machine are taken for callers on this machine alone")
	}
	f, err := s.CreateBase(r.Context(), n)
	return reply(w, f, err)
}

// fromHere reports whether a request comes over a loopback address.
func fromHere(r *http.Request) bool {
	at, err := netip.ParseAddrPort(r.RemoteAddr)
	return err == nil && at.Addr().Unmap().IsLoopback()
}

func (s *Server) serveDeleteBase(w http.ResponseWriter, r *http.Request) error {
	b, err := s.DeleteBase(r.Context(), r.PathValue("name"))
	return reply(w, b, err)
}

func (s *Server) serveRefreshBase(w http.ResponseWriter, r *http.Request) error {
	q := r.URL.Query()
	if err := known(q, "limit"); err != nil {
		return err
	}
	limit, err := crawlLimit(q.Get("limit"))
	if err != nil {
		return err
	}
	f, err := s.RefreshBase(r.Context(), r.PathValue("name"), limit)
	return reply(w, f, err)
}
