package daemon

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/store"
)

// lockWait is how long a command waits for another that has the store open and is not, or not yet, a daemon.
const lockWait = 10 * time.Second

// OpenOrFind returns the running daemon, or what open returns once it could open the store. It waits while another
// process has the store: that may be a command that ends soon, or a daemon that is about to answer.
func OpenOrFind(ctx context.Context, s *settings.Settings, open func() (*Info, error)) (*Info, error) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(lockWait); ; {
		if d := Find(ctx, s.DataDir); d != nil {
			return d, nil
		}
		d, err := open()
		if _, locked := errors.AsType[*store.LockedError](err); !locked || time.Now().After(end) {
			return d, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-poll.C:
		}
	}
}

// AwaitStore calls open until it can open the store of a data directory. It waits for a process that has the store and
// is no running daemon: that one is about to end, as a daemon that was told to stop is, and a command.
func AwaitStore(ctx context.Context, dir string, say func(format string, args ...any), open func() error) error {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	began := time.Now()
	for waits := false; ; {
		err := open()
		locked, is := errors.AsType[*store.LockedError](err)
		if !is {
			return err
		}
		if d := Find(ctx, dir); d != nil {
			return terminal.WithHint(err, `it is a daemon that runs: stop it with "readthru stop"`)
		}
		if time.Since(began) >= lockWait {
			return terminal.WithHint(err, fmt.Sprintf("it is no daemon that answers, and has not ended within %s", lockWait))
		}
		if !waits {
			waits = true
			say("waiting for the end of %s, which has the store open", locked.Holder())
		}
		select {
		case <-ctx.Done():
			return err
		case <-poll.C:
		}
	}
}

// Shared is a running daemon that keeps running until release is called. Otherwise a daemon that a command
// started could end because nothing uses it.
type Shared struct {
	*Info
	Client  *api.Client
	Release func()
	Other   bool // it was made of another program or configuration, and others use it
}

// Share returns a daemon that keeps running. It starts one if none runs.
func Share(ctx context.Context, s *settings.Settings) (*Shared, error) {
	return ShareEarly(ctx, s, func() {})
}

// ShareEarly is share, and calls listening when who connects to the daemon's ports waits for it, if it starts one.
func ShareEarly(ctx context.Context, s *settings.Settings, listening func()) (*Shared, error) {
	return OpenOrShare(ctx, s, func() (*Info, error) { return startShared(ctx, s, listening) })
}

// OpenOrShare is OpenOrFind, and keeps the daemon running that it returns. A daemon that a command started with another
// configuration makes way if nothing uses it.
func OpenOrShare(ctx context.Context, s *settings.Settings, open func() (*Info, error)) (*Shared, error) {
	if name := os.Getenv(settings.ReplayVariable); name != "" {
		return nil, terminal.WithHint(fmt.Errorf("readthru's own commands do not work in a replay of %s", name),
			"unset "+settings.ReplayVariable+" to leave the replay")
	}
	for end := time.Now().Add(StopTime); ; {
		d, err := OpenOrFind(ctx, s, open)
		if err != nil || d == nil {
			return nil, err
		}
		other := d.Made != "" && d.Made != MadeOf(s)
		if other {
			gone, err := Stop(ctx, s.DataDir, d, true)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
		}
		client := api.NewClient(d.Admin, d.Token, UserAgent)
		release, err := client.Hold(ctx)
		if err == nil {
			return &Shared{d, client.By(api.DoorCommand), func() { release(); client.Close() }, other}, nil
		}
		client.Close()
		switch api.CodeOf(err) {
		case "", api.CodeStopping, api.CodeUnavailable:
		default:
			return nil, err
		}
		if time.Now().After(end) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(50 * time.Millisecond): // it is about to stop, or has stopped
		}
	}
}
