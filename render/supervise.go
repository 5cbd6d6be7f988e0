package render

import (
	"context"
	"fmt"
	"os"
	"time"
)

const (
	idleTime  = time.Minute
	maxPages  = 200
	maxDeaths = 5           // in a row, then no browser for a while
	respite   = time.Minute // how long that is
)

// launch is a browser being started. Who waits for it may leave; it goes on.
type launch struct {
	done chan struct{}
	err  error // when done
}

// enter lets a page in unless the browser is closed. The caller says running.Done.
func (b *Browser) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosing
	}
	b.running.Add(1)
	return nil
}

// acquire returns the running browser, started when it must be. It is started once for all who wait for it.
func (b *Browser) acquire(ctx context.Context) (*process, error) {
	for {
		p, l, err := b.seize()
		if p != nil || err != nil {
			return p, err
		}
		select {
		case <-l.done:
			if l.err != nil {
				return nil, l.err
			}
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// seize returns the browser for one page more, or the start to wait for.
func (b *Browser) seize() (*process, *launch, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, errClosing
	}
	if p := b.process; p != nil && p.dead() {
		b.drop(p)
		b.died()
	} else if p != nil && p.pages >= b.mostOf {
		b.drop(p)
	}
	if p := b.process; p != nil {
		if b.idle != nil {
			b.idle.Stop()
		}
		p.pages++
		p.users.Add(1)
		return p, nil, nil
	}
	if b.starting == nil {
		if err := b.ready(time.Now()); err != nil {
			return nil, nil, err
		}
		l := &launch{done: make(chan struct{})}
		b.starting = l
		f, sweep := b.found, !b.swept
		b.swept = true
		b.running.Go(func() { b.begin(l, f, sweep) })
	}
	return nil, b.starting, nil
}

// begin starts a browser for all who wait for l.
func (b *Browser) begin(l *launch, f found, sweep bool) {
	defer close(l.done)
	p, err := start(b.life, b.o, f, sweep)
	b.mu.Lock()
	defer b.mu.Unlock()
	b.starting = nil
	switch {
	case b.closed:
		l.err = errClosing
		if err == nil {
			b.live[p] = true
			b.retire(p)
		}
	case err != nil:
		l.err = fmt.Errorf("%w: start %s: %w", ErrNoBrowser, firstOf(b.o.Attach, f.path), err)
		b.died()
	default:
		b.process, b.live[p] = p, true
		b.await()
	}
}

// ready returns why no browser may be started now, nil when one may. Under mu.
func (b *Browser) ready(now time.Time) error {
	if b.o.Attach == "" {
		if b.found.path == "" || !exists(b.found.path) {
			b.found = find(b.o.Browser)
		}
		if b.found.err != nil {
			return fmt.Errorf("%w: %w", ErrNoBrowser, b.found.err)
		}
		if b.o.Sandbox && !sandboxed() {
			return fmt.Errorf("%w: its sandbox is required, which it has not under root", ErrNoBrowser)
		}
	}
	if now.Before(b.until) {
		return fmt.Errorf("%w: it died %d times in a row", ErrNoBrowser, b.deaths)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// release gives a browser back after a page. One that does not answer any more is killed.
func (b *Browser) release(p *process, ok bool) {
	gone := p.dead()
	if !ok && !gone && !p.answers() {
		p.kill()
		gone = true
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p.users.Add(-1)
	if ok {
		b.deaths = 0
	}
	if gone && b.process == p {
		b.drop(p)
		b.died()
	}
	switch {
	case p.users.Load() > 0:
	case b.process != p:
		b.retire(p)
	default:
		b.await()
	}
}

// await lets a browser without pages go after a while. Under mu.
func (b *Browser) await() {
	if b.idle != nil {
		b.idle.Stop()
	}
	b.idle = time.AfterFunc(b.idleTime, b.rest)
}

// rest ends a browser that nobody has used for a while.
func (b *Browser) rest() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.process; p != nil && p.users.Load() == 0 && !b.closed {
		b.drop(p)
	}
}

// drop gives a browser no more pages. It ends with the last of those it has. Under mu.
func (b *Browser) drop(p *process) {
	b.process = nil
	if p.users.Load() == 0 {
		b.retire(p)
	}
}

// retire ends a browser without pages, once. Under mu.
func (b *Browser) retire(p *process) {
	if b.live[p] {
		delete(b.live, p)
		b.running.Go(p.quit)
	}
}

// died notes a death: after several in a row there is no browser for a while. Under mu.
func (b *Browser) died() {
	if b.closed {
		return
	}
	b.count.deaths.Add(1)
	if b.deaths++; b.deaths >= maxDeaths {
		b.until = time.Now().Add(respite)
		b.o.Log.Warn("browser given up for a while", "deaths", b.deaths)
	}
}
