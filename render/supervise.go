package render

import (
	"context"
	"fmt"
	"os"
	"time"

	"github.com/readthru/readthru/internal/fault"
)

// Bounds of the browser's processes. A process is replaced after maxPages pages, because it leaks memory.
const (
	idleTime   = time.Minute
	maxPages   = 200
	maxDeaths  = 5           // consecutive deaths before a pause
	deathPause = time.Minute // no browser is started for so long
)

// starting is a browser process that is being started, for all who need one. The start goes on even if all callers that
// wait for it leave: the next page needs it.
type starting struct {
	done chan struct{}
	err  error // valid once done is closed
}

// enter supervises: it registers a page unless the browser is closed. The caller must call running.Done. Close waits
// for the pages that have entered.
func (b *Browser) enter() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return errClosing
	}
	b.running.Add(1)
	return nil
}

// acquire returns a supervised process for a page, and starts one if necessary. Concurrent callers share one start. The
// caller must return the process by release.
func (b *Browser) acquire(ctx context.Context) (*process, error) {
	for {
		p, l, err := b.current()
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

// current returns the supervised process for a new page, with the page counted among its users, or the start that the
// caller must wait for.
func (b *Browser) current() (*process, *starting, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, nil, errClosing
	}
	// The death of a process without pages is noticed here, by the next page.
	if p := b.process; p != nil && p.dead() {
		b.drop(p)
		b.died()
	} else if p != nil && p.pages >= b.pagesPerProcess {
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
		l := &starting{done: make(chan struct{})}
		b.starting = l
		f, sweep := b.found, !b.swept
		b.swept = true
		b.running.Go(fault.Contain("render: end the start of a browser", func() { b.launch(l, f, sweep) }))
	}
	return nil, b.starting, nil
}

// launch starts a supervised process for all callers that wait for l. A start that panics is a failure like any other.
func (b *Browser) launch(l *starting, f executable, sweep bool) {
	defer close(l.done)
	var p *process
	err := fault.Catch("render: start a process", func() (err error) {
		p, err = start(b.life, b.o, f, sweep)
		return err
	})
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
		b.startIdleTimer()
	}
}

// ready returns, when a process is to be supervised, an error if no browser can be started now, which wraps
// ErrNoBrowser: none is installed, the sandbox is required and does not work, or it died too often. It looks for the
// browser again if there was none or it is gone, since one may have been installed meanwhile. The caller holds mu.
func (b *Browser) ready(now time.Time) error {
	if b.o.Attach == "" {
		if b.found.path == "" || !exists(b.found.path) {
			b.found = find(b.o.Browser)
		}
		if b.found.err != nil {
			return fmt.Errorf("%w: %w", ErrNoBrowser, b.found.err)
		}
		if b.o.Sandbox && !sandboxed() {
			return fmt.Errorf("%w: the sandbox is required, but it does not work as root", ErrNoBrowser)
		}
	}
	if now.Before(b.until) {
		return fmt.Errorf("%w: the browser died %d times in a row", ErrNoBrowser, b.deaths)
	}
	return nil
}

// exists reports whether the supervised program of the browser is still there: an upgrade may have moved it.
func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// firstOf returns a, or b if a is empty, as the name of the browser that was to be supervised.
func firstOf(a, b string) string {
	if a != "" {
		return a
	}
	return b
}

// release returns a supervised process after a page; ok says that the page was rendered. It kills a process that does
// not respond any more. A page that fails in a browser that responds is the page's own matter and no death.
func (b *Browser) release(p *process, ok bool) {
	gone := p.dead()
	if !ok && !gone && !p.responds() {
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
		b.startIdleTimer()
	}
}

// startIdleTimer ends the supervised process after idleTime unless it gets a page. The caller holds mu.
func (b *Browser) startIdleTimer() {
	if b.idle != nil {
		b.idle.Stop()
	}
	b.idle = time.AfterFunc(b.idleTime, fault.Contain("render: end an idle process", b.endIdle))
}

// endIdle ends a supervised browser process that has no pages. The timer may fire as a page comes, so that it looks
// again.
func (b *Browser) endIdle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if p := b.process; p != nil && p.users.Load() == 0 && !b.closed {
		b.drop(p)
	}
}

// drop gives a supervised browser process no more pages. It ends after its last page. The caller holds mu.
func (b *Browser) drop(p *process) {
	b.process = nil
	if p.users.Load() == 0 {
		b.retire(p)
	}
}

// retire ends a supervised browser process without pages, once, in the background. The caller holds mu.
func (b *Browser) retire(p *process) {
	if b.live[p] {
		delete(b.live, p)
		b.running.Go(fault.Contain("render: end a browser", p.quit))
	}
}

// died counts a death of the supervised browser. After maxDeaths in a row no browser is started for deathPause: a
// browser that cannot run on this machine would be started for each page. The caller holds mu.
func (b *Browser) died() {
	if b.closed {
		return
	}
	b.count.deaths.Add(1)
	if b.deaths++; b.deaths >= maxDeaths {
		b.until = time.Now().Add(deathPause)
		b.o.Log.Warn("browser died too often; pausing", "deaths", b.deaths)
	}
}
