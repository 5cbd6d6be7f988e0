package crawl

import (
	"context"
	"sync"
	"time"
)

// pacer spaces requests to hosts. Requests wait in the order they come.
type pacer struct {
	interval time.Duration // between two requests to a host; 0: none

	mu    sync.Mutex
	hosts map[string]time.Time // when the next request may go
}

func newPacer(interval time.Duration) *pacer {
	return &pacer{interval: max(interval, 0), hosts: map[string]time.Time{}}
}

// wait returns when a request to host may go. delay is what the host asks for between two of them. The error is that of
// ctx.
func (p *pacer) wait(ctx context.Context, host string, delay time.Duration) error {
	p.mu.Lock()
	now := time.Now()
	at := p.hosts[host]
	if at.Before(now) {
		at = now
	}
	if len(p.hosts) > 1000 { // sitemaps name hosts, too
		clear(p.hosts)
	}
	p.hosts[host] = at.Add(max(p.interval, delay))
	p.mu.Unlock()
	return sleep(ctx, at.Sub(now))
}

// charge accounts for a request that went beside the one waited for.
func (p *pacer) charge(host string, delay time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hosts[host] = p.hosts[host].Add(max(p.interval, delay))
}

// pause lets no request go to host for a while.
func (p *pacer) pause(host string, d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if until := time.Now().Add(d); p.hosts[host].Before(until) {
		p.hosts[host] = until
	}
}

// sleep waits, or returns ctx's error.
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
