package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/store"
)

// lockWait is how long a command waits for another that has the store open and is not, or not yet, a daemon.
const lockWait = 10 * time.Second

// openOrFind returns the running daemon, or what open returns once it could open the store. It waits while another
// process has the store: that may be a command that ends soon, or a daemon that is about to answer.
func openOrFind(ctx context.Context, s *settings, open func() (*daemonInfo, error)) (*daemonInfo, error) {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	for end := time.Now().Add(lockWait); ; {
		if d := findDaemon(ctx, s.dataDir); d != nil {
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

// awaitStore calls open until it can open the store of a data directory. It waits for a process that has the store and
// is no running daemon: that one is about to end, as a daemon that was told to stop is, and a command.
func awaitStore(ctx context.Context, dir string, say func(format string, args ...any), open func() error) error {
	poll := time.NewTicker(50 * time.Millisecond)
	defer poll.Stop()
	began := time.Now()
	for waits := false; ; {
		err := open()
		locked, is := errors.AsType[*store.LockedError](err)
		if !is {
			return err
		}
		if d := findDaemon(ctx, dir); d != nil {
			return withHint(err, `it is a daemon that runs: stop it with "readthru stop"`)
		}
		if time.Since(began) >= lockWait {
			return withHint(err, fmt.Sprintf("it is no daemon that answers, and has not ended within %s", lockWait))
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

// sharedDaemon is a running daemon that keeps running until release is called. Otherwise a daemon that a command
// started could end because nothing uses it.
type sharedDaemon struct {
	*daemonInfo
	client  *api.Client
	release func()
	other   bool // it was made of another program or configuration, and others use it
}

// share returns a daemon that keeps running. It starts one if none runs.
func share(ctx context.Context, s *settings) (*sharedDaemon, error) {
	return shareEarly(ctx, s, func() {})
}

// shareEarly is share, and calls listening when who connects to the daemon's ports waits for it, if it starts one.
func shareEarly(ctx context.Context, s *settings, listening func()) (*sharedDaemon, error) {
	return openOrShare(ctx, s, func() (*daemonInfo, error) { return startShared(ctx, s, listening) })
}

// openOrShare is openOrFind, and keeps the daemon running that it returns. A daemon that a command started with another
// configuration makes way if nothing uses it.
func openOrShare(ctx context.Context, s *settings, open func() (*daemonInfo, error)) (*sharedDaemon, error) {
	if name := os.Getenv(replayVariable); name != "" {
		return nil, withHint(fmt.Errorf("readthru's own commands do not work in a replay of %s", name),
			"unset "+replayVariable+" to leave the replay")
	}
	for end := time.Now().Add(stopTime); ; {
		d, err := openOrFind(ctx, s, open)
		if err != nil || d == nil {
			return nil, err
		}
		other := d.Made != "" && d.Made != madeOf(s)
		if other {
			gone, err := stopDaemon(ctx, s.dataDir, d, true)
			if err != nil {
				return nil, err
			}
			if gone {
				continue
			}
		}
		client := api.NewClient(d.Admin, d.Token, agentName)
		release, err := client.Hold(ctx)
		if err == nil {
			return &sharedDaemon{d, client.By(api.DoorCommand), func() { release(); client.Close() }, other}, nil
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
