package read

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/recording"
	"github.com/readthru/readthru/internal/transport"
	"github.com/readthru/readthru/internal/wholefile"
	"github.com/readthru/readthru/proxy"
)

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

// runReplayed runs a command with a proxy that answers from a recording.
func (p *program) runReplayed(ctx context.Context, s *settings.Settings, r *childRun, name string) (err error) {
	from, err := recording.Open(name)
	if err != nil {
		return terminal.WithHint(err, "readthru run --record "+name+" -- COMMAND writes one")
	}
	defer func() { _ = from.Close() }() // it was only read
	authority, err := settings.OpenAuthority(s)
	if err != nil {
		return err
	}
	log := settings.AskedLog(p.Err, s)
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
	e, err := settings.NewClientEnv(s, authority, l.Addr().String(), "")
	if err != nil {
		return err
	}
	status := p.runChild(r.name, r.args, append(e.Variables(), settings.Variable{
		Name:  settings.ReplayVariable,
		Value: name,
	}))
	return cmp.Or(status, p.tellReplay(from.Outcome(), r, name))
}

// maxMisses is how many requests that a recording does not have are listed.
const maxMisses = 10

// tellReplay prints how many requests the recording answered. A request that it does not have is a failure.
func (p *program) tellReplay(o recording.Outcome, r *childRun, name string) error {
	for _, what := range o.Missed[:min(len(o.Missed), maxMisses)] {
		p.Note("error: not in %s: %s", name, what)
	}
	if !r.quiet && o.Answered+o.Misses > 0 {
		text := terminal.Count(o.Answered, "request") + " answered from " + name
		if o.Misses > 0 {
			text += ", " + terminal.Count(o.Misses, "request") + " not in it"
		}
		p.Note("%s", text)
	}
	if o.Misses > 0 {
		return terminal.ExitError(1)
	}
	return nil
}

// disconnected is the transport of a replay: it fails.
type disconnected struct{}

// RoundTrip fails.
func (disconnected) RoundTrip(*http.Request) (*http.Response, error) {
	return nil, transport.ErrOffline
}

// Dial fails.
func (disconnected) Dial(context.Context, string, string) (net.Conn, error) {
	return nil, transport.ErrOffline
}
