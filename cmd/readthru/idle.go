package main

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// idleTime is how long a daemon that a command started runs without being used.
const idleTime = 5 * time.Minute

// serveDetached is serve for the daemon that spawnDaemon runs. It tells the command that waits for it when it listens
// and when it answers, or why it does not.
func serveDetached(ctx context.Context, s *settings, how serving) error {
	ignoreBrokenPipe() // that command may have been interrupted
	tell := func(said started) {
		_ = json.NewEncoder(how.std.out).Encode(said) // as above
	}
	how.made, how.idle = madeOf(s), idleTime
	ready := false
	how.tell = func(said started) {
		ready = ready || said.Daemon != nil
		tell(said)
	}
	err := serve(ctx, s, how)
	if err != nil && !ready {
		_, mistake := errors.AsType[usageError](err)
		tell(started{Error: err.Error(), Hint: hintOf(err), Usage: mistake})
	}
	return err
}

// used reports whether something uses the daemon, and counts what has used it.
func (d *daemon) used() (now bool, begun int64) {
	open, asked := d.server.Use()
	n := d.proxy.Stats()
	return open+d.proxy.Open()+int64(d.core.cache.Open()) > 0 || d.server.Running() > 0, asked + n.Total + n.Tunnelled
}

// awaitIdle waits until used has told nothing new for a while and end agrees. It reports false if ctx ends first.
func awaitIdle(ctx context.Context, idle time.Duration, used func() (bool, int64), end func() bool) bool {
	tick := time.NewTicker(max(1, min(idle/4, 5*time.Second)))
	defer tick.Stop()
	last, before := time.Now(), int64(-1)
	for {
		now, begun := used()
		if now || begun != before {
			last, before = time.Now(), begun
		}
		if time.Since(last) >= idle && end() {
			return true
		}
		select {
		case <-ctx.Done():
			return false
		case <-tick.C:
		}
	}
}
