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

	"github.com/readthru/readthru/internal/fault"
)

// Bounds of a browser process.
const (
	startTime   = 20 * time.Second       // for a browser to start
	livingTime  = 5 * time.Second        // maximum time for the browser to answer
	profileMark = "browser-"             // prefix of profile directories
	maxMemory   = 1 << 30                // maximum memory of one page's process, in bytes
	lookEvery   = 500 * time.Millisecond // how often the memory is checked
)

// A process is a running browser. supervise.go decides when there is one; this file starts, watches and ends it.
type process struct {
	ctx     context.Context // of the browser: its end is the end of the process
	browser *chromedp.Browser
	proxy   *deadProxy
	quit    func()         // ends the browser, waits for it and removes its profile; call it when there are no pages
	pages   int            // pages so far; guarded by Browser.mu
	users   atomic.Int64   // pages being rendered; changed under Browser.mu
	closing sync.WaitGroup // clean-up after pages
}

// start starts a browser's process that ends with life, or connects to the one at o.Attach. If sweep is set, it first
// removes the profiles of browsers that were killed together with an earlier process of this program. The caller ends
// the process by quit.
func start(life context.Context, o Options, f executable, sweep bool) (*process, error) {
	s, err := newDeadProxy() //nolint:contextcheck // stop ends it
	if err != nil {
		return nil, err
	}
	var p *process
	if o.Attach != "" {
		alloc, stop := remote.NewAllocator(life, o.Attach)
		p, err = connect(alloc, stop, o)
	} else {
		p, err = launchOwn(life, o, f, s, sweep)
	}
	if err != nil {
		_ = s.Close() // the first error is returned
		return nil, err
	}
	p.proxy = s
	quit := p.quit
	p.quit = func() {
		quit()
		_ = s.Close() // the browser has ended
	}
	return p, nil
}

// launchOwn starts a browser's process with a new profile in a directory of its own, which quit removes.
func launchOwn(life context.Context, o Options, f executable, s *deadProxy, sweep bool) (*process, error) {
	dir, err := profile(o.Dir, sweep)
	if err != nil {
		return nil, err
	}
	alloc, stop := chromedp.NewExecAllocator(life, flags(f, dir, s.addr, o.Sandbox)...)
	p, err := connect(alloc, stop, o)
	if err != nil {
		removeProfile(dir)
		return nil, err
	}
	pid := p.browser.Process().Pid
	watch := func(ctx context.Context) { p.watchMemory(ctx, pid) }
	p.closing.Go(fault.Forever(p.ctx, "render: watch memory", watch)) //nolint:contextcheck // the browser's
	quit := p.quit
	p.quit = func() {
		quit()
		removeProfile(dir)
	}
	return p, nil
}

// connect waits until the process of the browser of an allocator of chromedp answers: for startTime, or for as long as
// a page may take if that is longer. stop ends the allocator; connect calls it if it fails.
func connect(alloc context.Context, stop context.CancelFunc, o Options) (*process, error) {
	// chromedp would write what pages do wrong to our log.
	quiet := func(string, ...any) {}
	ctx, quit := chromedp.NewContext(alloc, chromedp.WithLogf(quiet), chromedp.WithErrorf(quiet))
	started := make(chan error, 1)
	// chromedp.Do does not end with a timeout of its own, since the context is that of the browser.
	go fault.Contain("render: end a start", func() {
		started <- fault.Catch("render: start a browser", func() error { return chromedp.Do(ctx) })
	})()
	timer := time.NewTimer(max(startTime, o.Timeout))
	defer timer.Stop()
	var err error
	select {
	case err = <-started:
	case <-timer.C:
		err = errors.New("the browser does not answer")
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

// dead reports whether the connection to the browser is gone. It does not ask the browser.
func (p *process) dead() bool {
	select {
	case <-p.browser.LostConnection:
		return true
	default:
		return p.ctx.Err() != nil
	}
}

// responds reports whether the browser itself responds within livingTime. A page can keep it so busy that other pages
// make no progress.
func (p *process) responds() bool {
	ctx, cancel := context.WithTimeout(p.ctx, livingTime)
	defer cancel()
	_, err := chromedp.CallBrowser(ctx, browser.GetVersion, cdp.Empty{})
	return err == nil
}

// kill kills the browser's process if we started it, and waits for a moment until it is gone. One at Options.Attach
// belongs to somebody else.
func (p *process) kill() {
	proc := p.browser.Process()
	if proc == nil {
		return
	}
	_ = proc.Kill() // the process may have ended
	select {
	case <-p.browser.LostConnection:
	case <-time.After(livingTime):
	}
}

// watchMemory checks the memory of the browser's pages every lookEvery, and kills those over maxMemory, until ctx ends,
// which the browser ends. Without pages it looks at nothing.
func (p *process) watchMemory(ctx context.Context, pid int) {
	tick := time.NewTicker(lookEvery)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			if p.users.Load() > 0 {
				killLargeRenderers(pid, maxMemory)
			}
		}
	}
}

// profile creates a directory for one browser process in dir. If sweep is set, it first removes the existing ones,
// which no living browser uses: one daemon at a time has the data directory.
func profile(dir string, sweep bool) (string, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", err
	}
	if sweep {
		// An error means that dir is not a valid pattern; then nothing is removed.
		old, _ := filepath.Glob(filepath.Join(dir, profileMark+"*"))
		for _, d := range old {
			removeProfile(d)
		}
	}
	return os.MkdirTemp(dir, profileMark)
}

// removeProfile removes the profile of a browser whose process has ended. It retries for a second, because child
// processes of a killed browser may still write.
func removeProfile(dir string) {
	for range 20 {
		if os.RemoveAll(dir) == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
}
