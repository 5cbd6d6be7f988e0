package crawl

import (
	"context"
	"sync"
	"time"
)

// A pacer spaces the requests of a crawl to each host. Requests wait in the order of their calls. Of other nodes it
// learns by turn.
type pacer struct {
	interval time.Duration // between two requests to a host; 0 is none
	turn     Turn          // nil: nobody else asks

	mu    sync.Mutex
	hosts map[string]time.Time // when the next request may go
}

// newPacer returns a pacer that has sent nothing.
func newPacer(interval time.Duration, turn Turn) *pacer {
	return &pacer{interval: max(interval, 0), turn: turn, hosts: map[string]time.Time{}}
}

// wait blocks until a request of the crawl may be sent to host. delay is the time between requests that the host asks
// for (Crawl-delay); the longer of it and the interval holds. The error is that of ctx.
func (p *pacer) wait(ctx context.Context, host string, delay time.Duration) error {
	p.mu.Lock()
	now := time.Now()
	at := p.hosts[host]
	if at.Before(now) {
		at = now
	}
	if len(p.hosts) > 1000 { // sitemaps may name any number of hosts
		clear(p.hosts)
	}
	space := max(p.interval, delay)
	p.hosts[host] = at.Add(space)
	p.mu.Unlock()
	if err := sleep(ctx, at.Sub(now)); err != nil || p.turn == nil || space == 0 {
		return err
	}
	others, err := p.turn(ctx, host, space)
	if err != nil {
		return context.Cause(ctx) // nobody knows of other nodes' requests: this one keeps to its own
	}
	return sleep(ctx, others)
}

// charge counts one more request to host, which did not wait because it was part of another one.
func (p *pacer) charge(ctx context.Context, host string, delay time.Duration) {
	space := max(p.interval, delay)
	p.mu.Lock()
	p.hosts[host] = p.hosts[host].Add(space)
	p.mu.Unlock()
	p.book(ctx, host, space)
}

// pause blocks requests of the crawl to host for d, from now on, as the origin has asked.
func (p *pacer) pause(ctx context.Context, host string, d time.Duration) {
	p.mu.Lock()
	if until := time.Now().Add(d); p.hosts[host].Before(until) {
		p.hosts[host] = until
	}
	p.mu.Unlock()
	p.book(ctx, host, d)
}

// book has other nodes leave a host alone for d, by taking a turn there without waiting for it. Without an answer they
// do not know of it.
func (p *pacer) book(ctx context.Context, host string, d time.Duration) {
	if p.turn != nil && d > 0 {
		_, _ = p.turn(ctx, host, d)
	}
}

// sleep waits for d to keep the pace of a crawl. It returns the cause of ctx's end if ctx ends first.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return context.Cause(ctx)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
