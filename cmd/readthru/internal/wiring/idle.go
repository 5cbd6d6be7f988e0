package wiring

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// idleTime is how long a daemon that a command started runs without being used.
const idleTime = 5 * time.Minute

// ServeDetached is serve for the daemon that spawnDaemon runs. It tells the command that waits for it when it listens
// and when it answers, or why it does not.
func ServeDetached(ctx context.Context, s *settings.Settings, how Serving) error {
	daemon.IgnoreBrokenPipe() // that command may have been interrupted
	tell := func(said daemon.Started) {
		_ = json.NewEncoder(how.Std.Out).Encode(said) // as above
	}
	how.made, how.Idle = daemon.MadeOf(s), idleTime
	ready := false
	how.tell = func(said daemon.Started) {
		ready = ready || said.Daemon != nil
		tell(said)
	}
	err := Serve(ctx, s, how)
	if err != nil && !ready {
		_, mistake := errors.AsType[terminal.UsageError](err)
		tell(daemon.Started{Error: err.Error(), Hint: terminal.HintOf(err), Usage: mistake})
	}
	return err
}

// used reports, for one that ends when it is idle, whether something uses the daemon, and counts what has used it.
func (d *Daemon) used() (now bool, begun int64) {
	open, asked := d.Server.Use()
	n := d.proxy.Stats()
	return open+d.proxy.Open()+int64(d.core.cache.Open()) > 0 || d.Server.Running() > 0, asked + n.Total + n.Tunnelled
}

// awaitIdle waits until used has told nothing new for a while and end agrees, for a daemon that ends when it is not
// used. It reports false if ctx ends first.
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
