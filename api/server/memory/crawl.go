package memory

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server/jobs"
	"github.com/readthru/readthru/crawl"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

const maxFailures = 100 // listed of a crawl

// crawl fills a build of a knowledge base from a site, and tells the job of each page. A page that cannot be kept is a
// failure of that page; what the crawl did not meet and did not lose stays in the base.
func (s *Service) crawl(ctx context.Context, j *jobs.Job, b knowledge.Base, build *knowledge.Build,
	service crawl.Service,
) error {
	outcomes := map[string]int{}
	report, err := service.Crawl(ctx, crawl.Options{
		URL: b.URL, Limit: b.Limit, Depth: b.Depth, Include: b.Include, Exclude: b.Exclude, Refresh: b.Generation > 0,
		Whole: true,
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

// add adds a crawled page to the build of a base. A page that we fetched and did not store may not be kept (AD4, AD6):
// the error is a [*knowledge.RefusedError].
func add(ctx context.Context, build *knowledge.Build, p *crawl.Page) error {
	switch {
	case p.Page == nil:
		return build.Add(ctx, knowledge.Document{URL: p.URL, Title: p.Title, Markdown: []byte(p.Markdown)})
	case !p.Page.Stored:
		return &knowledge.RefusedError{Reason: errors.New("it may not be kept: it is private, no-store, or not a page")}
	}
	return build.Add(ctx, knowledge.Document{Key: page.KeyOf(p.Page.NormalizedURL)})
}

// tally returns how many URLs of a crawl had each outcome, including those of earlier runs of the crawl that the report
// has.
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

// remarks says for people what a crawl left out, and why.
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
