package wiring

import (
	"context"
	"log/slog"
	"os"
	"os/signal"
	"syscall"

	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// takeHangups returns a channel with the SIGHUPs that the program gets. It gets none if they were ignored at its start,
// as by nohup. Release ends that.
func takeHangups(ignores func(os.Signal) bool) (<-chan os.Signal, func()) {
	ch := make(chan os.Signal, 1)
	if ignores == nil || !ignores(syscall.SIGHUP) {
		signal.Notify(ch, syscall.SIGHUP)
	}
	return ch, func() { signal.Stop(ch) }
}

// onHangup calls reload for each SIGHUP until ctx ends. If the terminal that the daemon was started from is gone, its
// closing was the cause: then onHangup calls stop, as for an interrupt.
func (d *Daemon) onHangup(ctx context.Context, hangups <-chan os.Signal, stop, reload func()) {
	attached := terminal.HasTerminal()
	for {
		select {
		case <-ctx.Done():
			return
		case <-hangups:
		}
		if attached && !terminal.HasTerminal() {
			d.core.log.Info("the terminal was closed: start with nohup to go on without it")
			stop()
			return
		}
		reload()
	}
}

// reload takes over the configuration that load returns, as far as that needs no restart. A configuration that has a
// mistake changes nothing. Requests that have begun keep the settings of their beginning.
func (d *Daemon) reload(load func() (*settings.Settings, error), level *slog.LevelVar) {
	log := d.core.log
	old := d.core.now.Load()
	read, err := load()
	var next *settings.Settings
	var changed, waiting []string
	if err == nil {
		next, changed, waiting = old.Merge(read)
		if err = next.Check(); err == nil {
			if err = d.core.apply(d.proxy, next); err != nil {
				err = terminal.Usagef("%s: proxy.users: %w", next.Source["proxy.users"], err)
			}
		}
	}
	if err != nil {
		log.Error("configuration not reloaded: the former one stays", "error", err)
		return
	}
	d.core.store.SetMaxSize(int64(next.Cache.MaxSize))
	level.Set(settings.Level(next))
	log.Info("configuration reloaded", "changed", changed)
	if len(waiting) > 0 {
		log.Warn("changed keys that need a restart of the daemon", "keys", waiting)
	}
}
