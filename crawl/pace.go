package crawl

import (
	"context"
	"sync"
	"time"
)

// pacer spaces the requests to each host. Requests wait in the order of their calls.
type pacer struct {
	interval time.Duration // between two requests to a host; 0 is none

	mu    sync.Mutex
	hosts map[string]time.Time // when the next request may go
}

func newPacer(interval time.Duration) *pacer {
	return &pacer{interval: max(interval, 0), hosts: map[string]time.Time{}}
}

// wait blocks until a request may be sent to host. delay is the time between requests that the host asks for. The error
// is that of ctx.
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
	p.hosts[host] = at.Add(max(p.interval, delay))
	p.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}

// charge counts one more request to host, which did not wait.
func (p *pacer) charge(host string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[host] = p.hosts[host].Add(max(p.interval, delay))
}

// pause blocks requests to host for d.
func (p *pacer) pause(host string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); p.hosts[host].Before(until) {
		p.hosts[host] = until
	}
}

// sleep waits for d. It returns the cause of ctx's end if ctx ends first.
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
