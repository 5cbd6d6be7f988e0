package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/proxy"
)

// madeBy names this program in recordings.
var madeBy = "readthru/" + version

// sessionProxies opens listeners for sessions, since not every client can name its session to a proxy.
type sessionProxies struct {
	core  *core
	proxy *proxy.Proxy
}

// Record implements [api.SessionProxies].
func (d sessionProxies) Record(ctx context.Context, session string, offline bool, w io.Writer,
	begun func(addr string),
) error {
	return d.serve(ctx, proxy.Terms{Session: session, Offline: offline}, func(addr string) error {
		return asConflict(d.proxy.Record(ctx, session, madeBy, w, func() { begun(addr) }))
	})
}

// Open implements [api.SessionProxies].
func (d sessionProxies) Open(ctx context.Context, session string, offline bool, begun func(addr string)) error {
	return d.serve(ctx, proxy.Terms{Session: session, Offline: offline}, func(addr string) error {
		begun(addr)
		<-ctx.Done()
		return nil
	})
}

// serve serves a listener on terms while do runs.
func (d sessionProxies) serve(ctx context.Context, terms proxy.Terms, do func(addr string) error) error {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for session %s: %w", terms.Session, err)
	}
	defer d.core.avoidToo(addrPort(l))()
	serving, stop := context.WithCancel(context.WithoutCancel(ctx))
	served := make(chan error, 1)
	go func() { served <- d.proxy.ServeSession(serving, l, terms) }()
	err = do(l.Addr().String())
	stop()
	return errors.Join(err, <-served)
}

// EndRecording implements [api.SessionProxies].
func (d sessionProxies) EndRecording(ctx context.Context, session string) error {
	return asConflict(d.proxy.EndRecording(ctx, session))
}

func asConflict(err error) error {
	if errors.Is(err, proxy.ErrRecording) {
		return api.NewError(http.StatusConflict, api.CodeRecording, err.Error())
	}
	return err
}

// sessionProxy is a proxy of one session, while it is open.
type sessionProxy struct {
	addr  string
	close func(ctx context.Context) error
}

// errLost is the error of a proxy that ended before it was closed.
var errLost = errors.New("it was stopped")

// openProxy opens a proxy for a session. It calls lost if the proxy ends before it is closed.
func openProxy(ctx context.Context, client *api.Client, session string, offline bool,
	lost func(error),
) (*sessionProxy, error) {
	ctx, cancel := context.WithCancel(ctx)
	begun, done := make(chan string, 1), make(chan error, 1)
	go func() {
		opened := false
		err := client.Open(ctx, session, offline, func(addr string) {
			opened = true
			begun <- addr
		})
		if opened && ctx.Err() == nil {
			lost(cmp.Or(err, errLost))
			err = errLost
		}
		done <- err
	}()
	select {
	case addr := <-begun:
		return &sessionProxy{addr, func(context.Context) error {
			cancel()
			return <-done
		}}, nil
	case err := <-done:
		cancel()
		return nil, fmt.Errorf("open a proxy for the command: %w", err)
	}
}

// record opens a proxy for a session, and records what it is answered into a file. The file exists only if the
// recording is complete.
func record(ctx context.Context, client *api.Client, session string, offline bool, name string) (*sessionProxy, error) {
	ctx, cancel := context.WithCancel(ctx)
	begun, done := make(chan string, 1), make(chan error, 1)
	go func() {
		done <- wholefile.WriteFrom(name, func(f *os.File) error {
			if err := client.Record(ctx, session, offline, f, func(addr string) { begun <- addr }); err != nil {
				return err
			}
			whole, err := recording.Open(f.Name())
			if err != nil {
				return err
			}
			return whole.Close()
		})
	}()
	select {
	case addr := <-begun:
		return &sessionProxy{addr, func(ctx context.Context) error {
			defer cancel()
			err := client.EndRecording(ctx, session)
			if err != nil {
				cancel()
			}
			return cmp.Or(err, <-done)
		}}, nil
	case err := <-done:
		cancel()
		return nil, fmt.Errorf("record: %w", err)
	}
}

// replayVariable names the recording in the environment of a command in a replay. readthru's own commands do not use
// the proxy, so no recording has what they read, and they must not read it from the network instead.
const replayVariable = "READTHRU_REPLAY"

// runReplayed runs a command with a proxy that answers from a recording.
func (p *program) runReplayed(ctx context.Context, s *settings, r *childRun, name string) (err error) {
	from, err := recording.Open(name)
	if err != nil {
		return withHint(err, "readthru run --record "+name+" -- COMMAND writes one")
	}
	defer func() { _ = from.Close() }() // it was only read
	authority, err := openAuthority(s)
	if err != nil {
		return err
	}
	log := p.askedLog(s)
	replayer, err := proxy.New(proxy.Options{
		Replay: from, Client: disconnected{}, Transport: disconnected{},
		Dial: disconnected{}.Dial, Authority: authority, Log: log,
	})
	if err != nil {
		return err
	}
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("listen for the replay: %w", err)
	}
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- replayer.Serve(serving, l) }()
	defer func() {
		stop()
		err = cmp.Or(err, <-done)
	}()
	e, err := newClientEnv(s, authority, l.Addr().String(), "")
	if err != nil {
		return err
	}
	status := p.runChild(r.name, r.args, append(e.variables(), variable{replayVariable, name}))
	return cmp.Or(status, p.tellReplay(from.Outcome(), r, name))
}

// maxMisses is how many requests that a recording does not have are listed.
const maxMisses = 10

// tellReplay prints how many requests the recording answered. A request that it does not have is a failure.
func (p *program) tellReplay(o recording.Outcome, r *childRun, name string) error {
	for _, what := range o.Missed[:min(len(o.Missed), maxMisses)] {
		p.note("error: not in %s: %s", name, what)
	}
	if !r.quiet && o.Answered+o.Misses > 0 {
		text := count(o.Answered, "request") + " answered from " + name
		if o.Misses > 0 {
			text += ", " + count(o.Misses, "request") + " not in it"
		}
		p.note("%s", text)
	}
	if o.Misses > 0 {
		return exitError(1)
	}
	return nil
}

// disconnected is the transport of a replay: it fails.
type disconnected struct{}

// RoundTrip fails.
func (disconnected) RoundTrip(*http.Request) (*http.Response, error) { return nil, fetch.ErrOffline }

// Dial fails.
func (disconnected) Dial(context.Context, string, string) (net.Conn, error) {
	return nil, fetch.ErrOffline
}
