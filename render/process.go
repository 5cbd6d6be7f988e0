package render

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/chromedp/cdproto/browser"
	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/remote"
)

const (
	startTime   = 20 * time.Second
	livingTime  = 5 * time.Second        // for the browser itself to answer a question
	profileMark = "browser-"             // profiles begin with it
	maxMemory   = 1 << 30                // bytes of one page's process
	lookEvery   = 500 * time.Millisecond // how often that is looked at
)

// process is a running browser.
type process struct {
	ctx     context.Context // of the browser, without a deadline: it is the browser's life
	browser *chromedp.Browser
	sink    *sink
	quit    func()         // ends the browser, waits for it and removes its profile; when it has no pages any more
	pages   int            // begun; under Browser.mu
	users   atomic.Int64   // pages under way; changed under Browser.mu
	closing sync.WaitGroup // what pages leave behind
}

// start starts a browser whose life is within life's, or connects to the one that runs. With sweep, profiles of
// browsers that were killed with us are removed first.
func start(life context.Context, o Options, f found, sweep bool) (*process, error) {
	s, err := newSink()
	if err != nil {
		return nil, err
	}
	var p *process
	if o.Attach != "" {
		p, err = connect(remote.NewAllocator(life, o.Attach))
	} else {
		p, err = launchOwn(life, o, f, s, sweep)
	}
	if err != nil {
		_ = s.Close() // the first error is told
		return nil, err
	}
	p.sink = s
	quit := p.quit
	p.quit = func() {
		quit()
		_ = s.Close() // nobody is left to reach it
	}
	return p, nil
}

// launchOwn starts a browser in a profile of its own.
func launchOwn(life context.Context, o Options, f found, s *sink, sweep bool) (*process, error) {
	dir, err := profile(o.Dir, sweep)
	if err != nil {
		return nil, err
	}
	p, err := connect(chromedp.NewExecAllocator(life, flags(f, dir, s.addr, o.Sandbox)...))
	if err != nil {
		removeProfile(dir)
		return nil, err
	}
	pid := p.browser.Process().Pid
	p.closing.Go(func() { p.guard(pid) })
	quit := p.quit
	p.quit = func() {
		quit()
		removeProfile(dir)
	}
	return p, nil
}

// connect waits until the browser of an allocator answers.
func connect(alloc context.Context, stop context.CancelFunc) (*process, error) {
	quiet := func(string, ...any) {}
	ctx, quit := chromedp.NewContext(alloc, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet))
	started := make(chan error, 1)
	go func() { started <- chromedp.Do(ctx) }()
	timer := time.NewTimer(startTime)
	defer timer.Stop()
	var err error
	select {
	case err = <-started:
	case <-timer.C:
		err = errors.New("it does not answer")
	}
	if err != nil {
		stop()
		quit()
		return nil, err
	}
	p := &process{ctx: ctx, browser: chromedp.FromContext(ctx).Browser}
	p.quit = func() {
		quit()
		stop()
		p.closing.Wait()
	}
	return p, nil
}

// dead reports whether the connection to the browser is gone.
func (p *process) dead() bool {
	select {
	case <-p.browser.LostConnection:
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// answers reports whether the browser itself is in order: a page can keep it so busy that no other gets on.
func (p *process) answers() bool {
	ctx, cancel := context.WithTimeout(p.ctx, livingTime)
	defer cancel()
	_, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	return err == nil
}

// kill ends the process at once, if it is ours.
func (p *process) kill() {
	proc := p.browser.Process()
	if proc == nil {
		return
	}
	_ = proc.Kill() // it may just have ended
	select {
	case <-p.browser.LostConnection:
	case <-time.After(livingTime):
	}
}

// guard looks at the memory of the browser's pages until it ends.
func (p *process) guard(pid int) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-p.ctx.Done():
			return
		case <-tick.C:
			if p.users.Load() > 0 {
				curb(pid, maxMemory)
			}
		}
	}
}

// profile makes a directory for one browser process below dir. With sweep, those that are there go first.
func profile(dir string, sweep bool) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if sweep {
		old, _ := filepath.Glob(filepath.Join(dir, profileMark+"*")) // a bad pattern, from a strange dir, sweeps nothing
		for _, d := range old {
			removeProfile(d)
		}
	}
	return os.MkdirTemp(dir, profileMark)
}

// removeProfile removes a profile. Children of a browser that was killed may write a little longer.
func removeProfile(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
