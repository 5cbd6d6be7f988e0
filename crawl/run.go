package crawl

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/page"
)

// A run is one crawl of the local crawler. Its methods but get are called by one goroutine.
type run struct {
	*local
	o        Options
	yield    func(Event) error
	pacer    *pacer
	frontier *frontier
	inARow   int // consecutive failures of the origin
}

// crawl reads the start page, or takes up an earlier run, and then gets round after round until nothing is left.
func (r *run) crawl(ctx context.Context) error {
	include, err := parsePatterns(r.o.Include)
	if err != nil {
		return err
	}
	exclude, err := parsePatterns(r.o.Exclude)
	if err != nil {
		return err
	}
	if r.o.State != nil {
		if err := load(r.o.State, fingerprint(r.o),
			func(b batch) error { return r.resume(b, include, exclude) }); err != nil {
			return err
		}
	}
	if r.frontier.report.Site == "" {
		if err := r.begin(ctx, include, exclude); err != nil {
			return err
		}
	}
	for {
		if none := r.frontier.pageless(); none > maxPageless+2*r.frontier.limit && r.frontier.left() > 0 {
			r.frontier.report.GaveUp = fmt.Sprintf("%d URLs gave no page", none)
			return nil
		}
		round := r.frontier.round()
		if len(round) == 0 {
			if !r.queueHeld() {
				return nil
			}
			if err := r.save(batch{}); err != nil {
				return err
			}
			continue
		}
		if err := r.round(ctx, round); err != nil {
			return err
		}
	}
}

// queueHeld queues the pages that the caller holds from an earlier crawl and that no link led to this time. It reports
// whether there are any to read.
func (r *run) queueHeld() bool {
	f := r.frontier
	if r.o.Held == nil || f.report.Pages >= f.limit {
		return false
	}
	for raw := range r.o.Held {
		f.add(item{URL: raw, Depth: f.depth, Listed: true})
	}
	return f.left() > 0
}

// resume replays a saved step of an earlier run of this crawl. The first one has the site.
func (r *run) resume(b batch, include, exclude patterns) error {
	if b.Site != "" {
		u, err := page.Parse(b.Site)
		if err != nil {
			return err
		}
		r.enter(u, include, exclude)
	}
	return r.frontier.play(b)
}

// enter sets the site of a crawl by its start page, after redirects, and queues that.
func (r *run) enter(u *url.URL, include, exclude patterns) {
	r.frontier.scope = newScope(u, include, exclude)
	r.frontier.scope.below = r.o.Below
	r.frontier.shapes.asked = append(slices.Clone(r.o.Include), r.frontier.scope.near)
	r.frontier.report.Site = u.String()
	r.frontier.begin(u)
}

// begin reads the start page and what the site lists. An error with the start page is the error of the crawl: without
// it there is nothing.
func (r *run) begin(ctx context.Context, include, exclude patterns) error {
	u, err := parseStart("crawl", r.o.URL)
	if err != nil {
		return err
	}
	u, got := r.arrive(ctx, u)
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case got.outcome == Skipped || got.outcome == Forbidden || got.outcome == Moved:
		return fmt.Errorf("crawl %s: %w", page.Mask(u), got.err)
	case got.outcome == Failed || got.outcome == Gone:
		return got.err
	}
	if r.o.Whole && got.page.Page != nil && got.page.Page.Stored {
		s := newScope(u, include, exclude)
		if pages := s.whole(u, got.header+got.page.Markdown); pages != nil {
			r.frontier.report.Site = u.String()
			return r.yieldWhole(ctx, s, pages)
		}
	}
	r.enter(u, include, exclude)
	r.frontier.next()
	d, err := r.handle(item{URL: u.String()}, got)
	if err != nil {
		return err
	}
	if err := r.queueListed(ctx, u); err != nil {
		return err
	}
	return r.save(batch{Crawl: fingerprint(r.o), Site: u.String(), Done: []done{d}})
}

// queueListed queues the URLs that the site itself lists in sitemaps and llms.txt, unless the caller wants linked ones
// alone. Four times the limit of pages leaves a choice.
func (r *run) queueListed(ctx context.Context, start *url.URL) error {
	if r.o.Unlisted {
		return nil
	}
	return r.seed(ctx, start, max(1000, 4*r.frontier.limit),
		func(raw string) bool { return r.frontier.add(item{URL: raw, Depth: 1, Listed: true}) })
}

// round gets the URLs of a round in parallel and handles them in their order. What came of each is saved before the
// next one, so that whoever resumes the crawl does not ask for it again.
func (r *run) round(ctx context.Context, items []item) error {
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(r.Workers + 1) // one more handles the results
	results := make([]chan result, len(items))
	for i := range items {
		results[i] = make(chan result, 1)
	}
	g.Go(fault.Wrap("crawl: handle results", func() error {
		for i, it := range items {
			var got result
			select {
			case got = <-results[i]:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
			if ctx.Err() != nil { // the result is an effect of the cancellation
				return context.Cause(ctx)
			}
			trapped, dropped := r.frontier.report.Trapped, r.frontier.report.Dropped
			d, err := r.handle(it, got)
			if err != nil {
				return err
			}
			if err := r.save(batch{
				Done: []done{d}, Trapped: r.frontier.report.Trapped - trapped, Dropped: r.frontier.report.Dropped - dropped,
			}); err != nil {
				return err
			}
		}
		return nil
	}))
	for i, it := range items {
		if ctx.Err() != nil {
			break
		}
		g.Go(fault.Wrap("crawl: end a fetch", func() error {
			var got result
			if err := fault.Catch("crawl: fetch a page", func() error { got = r.get(ctx, it); return nil }); err != nil {
				got = result{outcome: Failed, err: err}
			}
			results[i] <- got
			return nil
		}))
	}
	return g.Wait()
}

// save saves a step with the URLs that it queued, if the caller keeps the state of the crawl.
func (r *run) save(b batch) error {
	b.Added = r.frontier.take()
	if r.o.State == nil {
		return nil
	}
	return save(r.o.State, b)
}

// handle compares a result with what is known of the site, yields its event, and queues its links. It returns the step
// to save.
func (r *run) handle(it item, got result) (done, error) {
	f := r.frontier
	d := done{URL: it.URL, Outcome: got.outcome}
	event := Event{URL: it.URL, Err: got.err}
	follow := got.links
	switch got.outcome {
	case Moved:
		if !f.add(item{URL: got.moved.String(), Depth: it.Depth, Listed: it.Listed}) {
			if _, same := f.scope.site(got.moved); !same {
				event.Err = fmt.Errorf("redirects off the site, %w", got.err)
			}
		}
	case Added:
		d.Hash = got.page.Hash
		repeats, fresh := f.said.judge(got.page.Markdown)
		d.Repeats, d.Facts = repeats, packFacts(fresh)
		d.Outcome, d.Also = r.compare(it, got)
		if d.Outcome != Duplicate {
			event.Page = got.page
		} else if len(got.page.Markdown) > shortText {
			follow = nil // its links are queued already
		}
	}
	f.done(d)
	for _, link := range follow {
		f.add(item{URL: link, Depth: it.Depth + 1})
	}
	event.Outcome, event.I = d.Outcome, f.report.Pages
	event.Total = min(f.limit, f.report.Pages+f.left())
	if err := r.yield(event); err != nil {
		return d, err
	}
	return d, r.checkTrouble(got)
}

// compare compares a page with those of this crawl and of the previous one. also is the page's canonical URL if that is
// another form of its address and was not known, to be saved with the step.
func (r *run) compare(it item, got result) (o Outcome, also string) {
	f := r.frontier
	if f.has(got.page.Hash) {
		return Duplicate, ""
	}
	if c, u := variant(it.URL, got.canonical); c != nil && page.Normalize(c) != page.Normalize(u) {
		if own, ok := f.scope.site(c); ok {
			if f.knows(own) {
				return Duplicate, ""
			}
			f.see(own)
			also = own.String()
		}
	}
	return r.o.compare(got.page), also
}

// variant returns a canonical URL with the parsed address of the page if it is another form of that: it has another
// query or another ending of the path; else nil. Other canonical URLs are ignored, because whole sites name their front
// page on every page by mistake.
func variant(raw, canonical string) (c, u *url.URL) {
	c, err := url.Parse(canonical)
	if err != nil || canonical == "" {
		return nil, nil
	}
	if u, err = url.Parse(raw); err != nil {
		return nil, nil
	}
	a, b := *c, *u
	a.RawQuery, b.RawQuery = "", ""
	one, _ := formatless(&a)
	other, _ := formatless(&b)
	if !strings.EqualFold(one, other) {
		return nil, nil
	}
	return c, u
}

// checkTrouble returns an error that ends the crawl when the origin has failed too often in a row or asks for a long
// pause. What is saved lets the crawl go on later.
func (r *run) checkTrouble(got result) error {
	if !got.trouble {
		r.inARow = 0
		return nil
	}
	r.inARow++
	if got.wait > 0 {
		return fmt.Errorf("the origin asks for a pause of %v: %w", got.wait.Round(time.Second), got.err)
	}
	if r.inARow >= maxInARow {
		return fmt.Errorf("%d URLs in a row failed, the last one: %w", r.inARow, got.err)
	}
	return nil
}
