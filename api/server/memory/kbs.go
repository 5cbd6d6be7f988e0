package memory

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// ListBases lists the knowledge bases.
func (s *Service) ListBases(context.Context, api.None) (*api.BaseList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list := k.Bases()
	if list == nil {
		list = []knowledge.Base{}
	}
	return &api.BaseList{KBs: list}, nil
}

// GetBase returns a knowledge base.
func (s *Service) GetBase(_ context.Context, ref api.BaseRef) (*knowledge.Base, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(ref.Name)
	return &b, err
}

// ListDocuments lists the documents of a knowledge base.
func (s *Service) ListDocuments(_ context.Context, q api.DocumentQuery) (*api.DocumentList, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	list, next, err := k.Documents(q.Name, q.Cursor, q.Limit)
	if list == nil {
		list = []knowledge.Entry{}
	}
	return &api.DocumentList{Documents: list, Next: next}, err
}

// DeleteBase deletes a knowledge base and what no other base holds.
func (s *Service) DeleteBase(ctx context.Context, ref api.BaseRef) (*knowledge.Base, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.DeleteBase(ctx, ref.Name)
	if err == nil {
		_ = os.Remove(s.parcelOf(b)) // few bases have one
	}
	return &b, err
}

// CreateBase creates a knowledge base and starts to fill it.
func (s *Service) CreateBase(ctx context.Context, n api.NewBase) (*api.Filling, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := baseOf(n)
	if err != nil {
		return nil, err
	}
	if b.Source != knowledge.SourceText { // an unknown service is no reason for a job that fails
		if _, err := s.crawler(b); errors.As(err, new(crawl.UnknownServiceError)) {
			return nil, api.Problem(http.StatusBadRequest, "%s", err)
		}
	}
	if b, err = k.CreateBase(b); err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return &api.Filling{KB: b}, nil
	}
	j, err := s.fill(b, "") //nolint:contextcheck // the job outlives the request
	if err != nil {
		_, derr := k.DeleteBase(ctx, b.Name)
		return nil, errors.Join(err, derr)
	}
	return &api.Filling{KB: b, Job: &j}, nil
}

// baseOf checks n and returns it as a knowledge base.
func baseOf(n api.NewBase) (knowledge.Base, error) {
	b := knowledge.Base{
		Name: n.Name, Description: n.Description, Source: knowledge.SourceText, Limit: n.Limit,
		Depth: n.Depth, Include: n.Include, Exclude: n.Exclude, Service: n.Service,
	}
	if err := knowledge.CheckBaseName(n.Name); err != nil {
		return b, api.Problem(http.StatusBadRequest, "%s", err)
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
			return b, api.Problem(http.StatusBadRequest, "%s", err)
		}
		if page.HasSecret(u) { // before it is in the base's record, and a job's
			return b, api.Problem(http.StatusBadRequest, "%s carries what looks like a credential", page.Mask(u))
		}
		b.Source, b.URL = raw.source, u.String()
		given++
	}
	switch {
	case given > 1:
		return b, api.Problem(http.StatusBadRequest, "name at most one of crawl and scrape")
	case n.Limit < 0 || n.Depth < 0:
		return b, api.Problem(http.StatusBadRequest, "limit or depth is negative")
	case n.Crawl == "" && (n.Limit > 0 || n.Depth > 0 || len(n.Include)+len(n.Exclude) > 0):
		return b, api.Problem(http.StatusBadRequest, "limit, depth, include and exclude need crawl")
	case given == 0 && n.Service != "":
		return b, api.Problem(http.StatusBadRequest, "service needs crawl or scrape")
	}
	return b, nil
}

// RefreshBase fills a knowledge base again from its source. A limit above 0 is for this time only.
func (s *Service) RefreshBase(_ context.Context, q api.RefreshQuery) (*api.Filling, error) {
	k, err := s.Index()
	if err != nil {
		return nil, err
	}
	b, err := k.Base(q.Name)
	if err != nil {
		return nil, err
	}
	if b.Source == knowledge.SourceText {
		return nil, api.Problem(http.StatusConflict, "%s holds ingested texts and has no source to refresh from", q.Name)
	}
	if b.Source == knowledge.SourceFile {
		return nil, api.Problem(http.StatusConflict, `%s is filled from files, which "readthru kb refresh" sends`, q.Name)
	}
	if q.Limit > 0 {
		b.Limit = q.Limit
	}
	j, err := s.fill(b, "") //nolint:contextcheck // the job outlives the request
	if err != nil {
		return nil, err
	}
	return &api.Filling{KB: b, Job: &j}, nil
}

// Resume continues to fill the knowledge bases that an earlier process left unfinished. Those that need the network
// wait while offline, and those of a fleet until it says which node fills them.
func (s *Service) Resume() {
	if s.o.Knowledge == nil {
		return
	}
	s.removeParcels()
	for _, b := range s.o.Knowledge.Bases() {
		begun := b.Building || b.Generation == 0
		if !begun || b.Paused || b.Source == knowledge.SourceText || !s.MayFill(b) {
			continue
		}
		if shared, ok := s.o.Knowledge.SharedBase(b.Name); ok && s.o.Fleet != nil && s.o.Fleet.SharesBase(shared) {
			continue
		}
		if _, err := s.fill(b, ""); err != nil {
			s.o.Log.Warn("knowledge base not filled", "kb", b.Name, "error", err)
		}
	}
}

// MayFill reports whether a knowledge base that is not filled may be continued just now: offline, one that needs the
// network waits.
func (s *Service) MayFill(b knowledge.Base) bool {
	return b.Source == knowledge.SourceFile || !s.o.Offline()
}

// Fill continues to fill a knowledge base, and returns when that has begun.
func (s *Service) Fill(name string) error {
	b, err := s.o.Knowledge.Base(name)
	if err != nil {
		return err
	}
	_, err = s.fill(b, "")
	return err
}

// leftError is the cause that ends a job whose base is another node's.
type leftError struct{ error }

// StopFilling ends that, because of what another node does. It does not wait for the end.
func (s *Service) StopFilling(name string, why error) {
	s.o.Jobs.CancelFilling(name, leftError{why})
}

// fill starts the job that fills a knowledge base, from a parcel if it is one of files that does not have its own yet.
// If the job fails or is cancelled, the base stays as it was. One that is filled for the first time keeps what was read
// until then, and the next refresh continues; if nothing was read, the base is deleted.
func (s *Service) fill(b knowledge.Base, parcel string) (api.Job, error) {
	if s.o.Fleet != nil {
		if err := s.o.Fleet.BeginFilling(s.o.Jobs.Stopping(), b.Name); err != nil {
			return api.Job{}, err
		}
	}
	build, err := s.o.Knowledge.Build(b.Name)
	if err != nil {
		return api.Job{}, err
	}
	if parcel != "" {
		if err := os.Rename(parcel, s.parcelOf(b)); err != nil {
			build.Close()
			return api.Job{}, fmt.Errorf("keep the files: %w", err)
		}
	}
	first := api.Job{Kind: b.Source, KB: b.Name, Resumed: build.Resumed()}
	if was, ok := s.o.Jobs.Interrupted(b.Name); ok && build.Resumed() {
		first.ID, first.Began = was.ID, was.Began
	}
	j, err := s.o.Jobs.Start(first,
		func(ctx context.Context, j *jobs.Job) error {
			defer build.Close()
			err := s.gather(ctx, j, b, build)
			if err == nil {
				if b, err = build.Commit(ctx); err == nil {
					_ = os.Remove(s.parcelOf(b)) // few bases have one
					j.Update(func(now *api.Job) { now.Documents, now.Passages = b.Documents, b.Passages })
					return nil
				}
			}
			if cause := context.Cause(ctx); errors.Is(cause, jobs.ErrStopping) || errors.As(cause, new(leftError)) {
				return err // a later process continues, or another node
			}
			_ = os.Remove(s.parcelOf(b)) // as above
			end := context.WithoutCancel(ctx)
			if b.Generation == 0 && build.Len() > 0 {
				if perr := build.Pause(); perr != nil {
					s.o.Log.Warn("unfinished build not paused", "kb", b.Name, "error", perr)
				}
				j.Update(func(now *api.Job) { now.Documents = build.Len() })
				return err
			}
			if aerr := build.Abort(end); aerr != nil {
				s.o.Log.Warn("unfinished build not deleted", "kb", b.Name, "error", aerr)
			}
			if b.Generation == 0 {
				build.Close()
				if _, derr := s.o.Knowledge.DeleteBase(end, b.Name); derr != nil {
					s.o.Log.Warn("empty base not deleted", "kb", b.Name, "error", derr)
				}
			}
			return err
		})
	if err != nil {
		build.Close() // a later process continues
	}
	return j, err
}

// gather adds the documents of a base's source to its build.
func (s *Service) gather(ctx context.Context, j *jobs.Job, b knowledge.Base, build *knowledge.Build) error {
	switch b.Source {
	case knowledge.SourceFile:
		return s.addFiles(ctx, j, b, build)
	case knowledge.SourceScrape:
		service, err := s.crawler(b)
		if err != nil {
			return err
		}
		p, err := service.Scrape(ctx, b.URL)
		if err != nil {
			return err
		}
		j.Update(func(now *api.Job) { now.I, now.Total = 1, 1 })
		return add(ctx, build, p)
	}
	service, err := s.crawler(b)
	if err != nil {
		return err
	}
	return s.crawl(ctx, j, b, build, service)
}

// crawler returns the crawl service of a base.
func (s *Service) crawler(b knowledge.Base) (crawl.Service, error) {
	if s.o.Crawl == nil {
		return nil, api.Problem(http.StatusServiceUnavailable, "this server does not crawl")
	}
	return s.o.Crawl(b.Service)
}

const maxFailures = 100 // listed of a crawl

func (s *Service) crawl(ctx context.Context, j *jobs.Job, b knowledge.Base, build *knowledge.Build,
	service crawl.Service,
) error {
	outcomes := map[string]int{}
	report, err := service.Crawl(ctx, crawl.Options{
		URL: b.URL, Limit: b.Limit, Depth: b.Depth, Include: b.Include, Exclude: b.Exclude, Refresh: b.Generation > 0,
		Known: build.Known, Held: build.Held(), State: build.CrawlLog(),
	}, func(e crawl.Event) error {
		refused := ""
		if e.Outcome == crawl.Duplicate {
			if err := build.Leave(e.URL); err != nil {
				return err
			}
		} else if e.Page != nil {
			err := add(ctx, build, e.Page)
			if no, is := errors.AsType[*knowledge.RefusedError](err); is {
				refused = no.Error()
			} else if err != nil {
				return err
			}
		}
		outcomes[string(e.Outcome)]++
		j.Update(func(now *api.Job) {
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
		j.Update(func(now *api.Job) { now.Outcomes, now.Remarks = tally(report, outcomes), remarks(report) })
	}
	if err != nil {
		return err
	}
	if err := enoughRead(build, j, b); err != nil {
		return err
	}
	kept, err := build.Keep(report.Lost)
	if kept > 0 {
		j.Update(func(now *api.Job) { now.Kept = kept })
	}
	return err
}

// enoughRead returns an error if a crawl read nothing, or less than half of what a refresh should: a site that is in
// trouble, or that asks to sign in, would empty the base.
func enoughRead(build *knowledge.Build, j *jobs.Job, b knowledge.Base) error {
	held := 0
	for range build.Held() {
		held++
	}
	if b.Limit > 0 {
		held = min(held, b.Limit)
	}
	if build.Len() >= max(1, (held+1)/2) {
		return nil
	}
	reason := ""
	if now := j.Now(); len(now.Failures) > 0 {
		reason = ": " + now.Failures[0]
	}
	if held == 0 {
		return fmt.Errorf("no page could be fetched from %s%s", b.URL, reason)
	}
	return fmt.Errorf("only %d of %d pages could be fetched, so %s stays as it was%s", build.Len(), held, b.Name, reason)
}

// add adds a crawled page to a build. A page that we fetched and did not store may not be kept (AD4, AD6).
func add(ctx context.Context, build *knowledge.Build, p *crawl.Page) error {
	switch {
	case p.Page == nil:
		return build.Add(ctx, knowledge.Document{URL: p.URL, Title: p.Title, Markdown: []byte(p.Markdown)})
	case !p.Page.Stored:
		return &knowledge.RefusedError{Reason: errors.New("it may not be kept: it is private, no-store, or not a page")}
	}
	return build.Add(ctx, knowledge.Document{Key: page.KeyOf(p.Page.NormalizedURL)})
}

// tally returns the outcomes of all URLs, including those of earlier runs of the crawl that the report has.
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

// maxCuts is how many parts of a site that a crawl left are named.
const maxCuts = 10

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
		{r.Trapped, "links were left out because their addresses look endless"},
		{r.Dropped, "links were left out because the list was full"},
	} {
		if n.n > 0 {
			list = append(list, fmt.Sprintf("%d %s", n.n, n.what))
		}
	}
	for _, c := range r.Cut[:min(len(r.Cut), maxCuts)] {
		pattern := page.MaskString(c.Pattern)
		list = append(list, fmt.Sprintf("%d URLs like %s were left out, because %d pages in a row said nothing new; "+
			"to read them, include '%s'", c.Left, pattern, c.Row, pattern))
	}
	if more := len(r.Cut) - maxCuts; more > 0 {
		list = append(list, fmt.Sprintf("URLs like %d others were left out for the same reason", more))
	}
	return slices.Concat(list, r.Sitemaps)
}
