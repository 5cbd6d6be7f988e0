package wiring

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// Serving is how a daemon is run.
type Serving struct {
	Std      terminal.Streams
	Ignores  func(os.Signal) bool // whether a signal was ignored when the program started; nil: none was
	Offline  bool
	Idle     time.Duration                      // the daemon ends when it was not used for so long, unless it is 0
	Profiles string                             // address of profiles, or ""
	Load     func() (*settings.Settings, error) // reads the configuration again

	// For a daemon that a command starts:
	made string               // not empty, see MadeOf
	tell func(daemon.Started) // tells the command
}

// Serve runs the daemon until ctx ends.
func Serve(ctx context.Context, s *settings.Settings, how Serving) (err error) {
	level := new(slog.LevelVar)
	level.Set(settings.Level(s))
	if how.made != "" && s.Source["log.level"] == "default" {
		level.Set(slog.LevelWarn) // nobody reads its log unless something is wrong
	}
	end := &logEnd{}
	log := slog.New(slog.NewMultiHandler(settings.Logger(how.Std.Err, s, level).Handler(), end.handler(level)))
	settings.StandardLog(log)
	fault.Log(log)
	hangups, release := takeHangups(how.Ignores) // before the store is open, so that none ends the program
	defer release()
	limitMemory(log)
	d, err := openServed(ctx, s, how, log)
	if d == nil {
		return err
	}
	d.core.logEnd = end
	if how.Profiles != "" {
		if d.profiles, err = daemon.Listen(ctx, how.Profiles, false); err != nil {
			d.closeListeners()
			return errors.Join(err, d.core.Close()) //nolint:contextcheck // closing takes none
		}
		log.Info("profiling", "url", "http://"+d.profiles.Addr().String()+"/debug/pprof/")
	}
	log.Info("serving", "proxy", d.Info.Proxy, "admin", d.Info.Admin, "data_dir", s.DataDir, "version", releases.Version,
		"offline",
		how.Offline)
	if !settings.Loopback(s.Proxy.Listen) && d.core.users.Open() {
		log.Warn("the proxy is open to other machines", "proxy", d.Info.Proxy, "remedy",
			"make users with \"readthru user add\", or listen on 127.0.0.1")
	}
	if d.core.store.UsersLost() {
		log.Warn(api.UsersLost, "remedy", api.UsersLostRemedy) //nolint:sloglint // a constant of another package
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	d.end = stop
	var background sync.WaitGroup
	background.Go(fault.Forever(ctx, "serve: reload", func(ctx context.Context) {
		d.onHangup(ctx, hangups, stop, func() { d.reload(how.Load, level) })
	}))
	if how.Idle > 0 {
		background.Go(fault.Forever(ctx, "serve: await idleness", func(ctx context.Context) {
			if awaitIdle(ctx, how.Idle, d.used, d.Server.Retire) {
				log.Info("not used", "for", how.Idle)
				stop()
			}
		}))
	}
	err = d.Run(ctx)
	stop()
	background.Wait()
	log.Info("stopped")
	return err
}

// openServed opens the daemon that serve runs. A daemon that a command started and that nothing uses makes way for
// another. If such a daemon is to be started and one runs by now, that one is told to be ready, and openServed returns
// nil.
func openServed(ctx context.Context, s *settings.Settings, how Serving, log *slog.Logger) (d *Daemon, err error) {
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return nil, err
	}
	unlock, err := daemon.LockStart(ctx, s.DataDir, func() {
		if how.made != "" {
			how.tell(daemon.Started{Another: true})
		} else {
			how.Std.Note("waiting for a daemon that is starting")
		}
	})
	if err != nil {
		return nil, err
	}
	defer func() {
		if d == nil {
			unlock()
		}
	}()
	if how.made == "" {
		if now := daemon.Find(ctx, s.DataDir); now != nil && now.Made != "" {
			if gone, err := daemon.Stop(ctx, s.DataDir, now, true); err != nil || !gone {
				return nil, cmp.Or(err, terminal.WithHint(
					fmt.Errorf("commands use the daemon that \"readthru run\" started, process %d", now.PID),
					"wait for their end, or stop it with \"readthru stop\""))
			}
		}
		err := daemon.AwaitStore(ctx, s.DataDir, how.Std.Note, func() (err error) {
			d, err = OpenDaemon(ctx, s, how.Offline, nil, log)
			return err
		})
		if d != nil {
			d.Found = unlock
		}
		return d, err
	}
	if other := daemon.Find(ctx, s.DataDir); other != nil {
		how.tell(daemon.Started{Daemon: other})
		return nil, nil
	}
	at, err := openPorts(ctx, s, true) // before the store, so that who connects waits instead of being refused
	if err != nil {
		return nil, err
	}
	how.tell(daemon.Started{Listening: reachable(at.proxy.Addr())})
	open := func() (_ *daemon.Info, err error) {
		d, err = OpenDaemon(ctx, s, false, at, log)
		return nil, err
	}
	other, err := open() // to look for a daemon first would be to ask ourselves if one has died with these ports
	if _, locked := errors.AsType[*store.LockedError](err); locked {
		other, err = daemon.OpenOrFind(ctx, s, open)
	}
	if d == nil {
		at.close()
		if err == nil {
			how.tell(daemon.Started{Daemon: other})
		}
		return nil, err
	}
	d.Info.Made, d.mustBeFound = how.made, true
	d.Found = func() {
		unlock()
		how.tell(daemon.Started{Daemon: d.Info})
	}
	return d, os.Chdir(s.DataDir) // not to keep the folder of the command that was first
}

// ports are the listeners of a daemon.
type ports struct{ proxy, admin net.Listener }

// openPorts listens at the ports. With anyPort it replaces a port that is in use by a free one.
func openPorts(ctx context.Context, s *settings.Settings, anyPort bool) (_ *ports, err error) {
	p := new(ports)
	if p.proxy, err = daemon.Listen(ctx, s.Proxy.Listen, anyPort); err != nil {
		return nil, err
	}
	if p.admin, err = daemon.Listen(ctx, s.Admin.Listen, anyPort); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// secure has other machines use TLS, where that is configured.
func (p *ports) secure(s *settings.Settings, log *slog.Logger) error {
	for _, each := range []struct {
		path string
		l    *net.Listener
		pair settings.TLSFiles
	}{{"proxy.tls", &p.proxy, s.Proxy.TLS}, {"admin.tls", &p.admin, s.Admin.TLS}} {
		l, err := proxy.WithTLS(*each.l, proxy.TLSFiles(each.pair), log)
		if err != nil {
			return terminal.WithHint(terminal.Usagef("%s: %s: %w", s.Source[each.path+".cert"], each.path, err),
				"name a certificate with its chain and its key, in PEM, or leave both empty")
		}
		*each.l = l
	}
	return nil
}

// close closes the listeners of proxy and admin port.
func (p *ports) close() {
	for _, l := range []net.Listener{p.proxy, p.admin} {
		if l != nil {
			_ = l.Close() // it is closed already if it was served
		}
	}
}

// Daemon is a proxy and an admin port on a data directory.
type Daemon struct {
	core      *Core
	Authority *certs.Authority
	proxy     *proxy.Proxy
	Server    *server.Server
	Info      *daemon.Info
	ports     *ports
	profiles  net.Listener // nil: there are none

	end         func() // makes Run end
	Found       func() // is called when the daemon answers and commands can find it
	mustBeFound bool   // by commands; else it runs on if they cannot
}

// OpenDaemon opens everything from the store upwards. It listens unless it is given ports.
func OpenDaemon(ctx context.Context, s *settings.Settings, offline bool, at *ports, log *slog.Logger) (_ *Daemon,
	err error,
) {
	if err := settings.MakeDataDir(s.DataDir); err != nil {
		return nil, err
	}
	d := &Daemon{end: func() {}, Found: func() {}, ports: at, Info: &daemon.Info{
		Instance: daemon.NewInstance(), PID: os.Getpid(), Secret: rand.Text(), Offline: offline,
		Started: time.Now().UTC(), Version: releases.Version,
	}}
	//nolint:contextcheck // opening the store takes none
	if d.core, err = Open(s, s.DataDir, offline, log); err != nil {
		return nil, err
	}
	defer func() { //nolint:contextcheck // closing takes none
		if err != nil {
			if at == nil {
				d.closeListeners()
			}
			_ = d.core.Close() // the first error is returned
		}
	}()
	if d.Info.Token, err = AdminToken(s); err != nil {
		return nil, err
	}
	if d.Authority, err = certs.Open(settings.AuthorityOptions(s)); err != nil {
		return nil, fmt.Errorf("open the authority: %w", err)
	}
	if at == nil {
		if d.ports, err = openPorts(ctx, s, false); err != nil {
			return nil, err
		}
	}
	if err = d.ports.secure(s, log); err != nil {
		return nil, err
	}
	d.Info.Proxy, d.Info.Admin = reachable(d.ports.proxy.Addr()), reachable(d.ports.admin.Addr())
	d.core.ListensOn(d.ports.proxy, d.ports.admin)
	if err := d.core.openFleet(d.Info.Proxy); err != nil {
		return nil, err
	}
	if d.proxy, err = d.core.Proxy(d.Authority, "http://"+d.Info.Admin); err != nil {
		return nil, err
	}
	d.Server = d.core.Server(d.proxy, d.Authority, d.Info, func() { d.end() })
	d.core.serving = d.Server
	return d, nil
}

// Run serves until ctx ends or a part fails. Then it waits for open requests and closes everything, for StopTime at
// most. Once a second it logs what it waits for.
func (d *Daemon) Run(ctx context.Context) error {
	ended := make(chan error, 1)
	go fault.Contain("serve: end", func() {
		ended <- fault.Catch("serve: run", func() error { return d.run(ctx) })
	})()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	return awaitEnd(ended, func(state string) { d.core.log.Info("stopping", d.awaited(state)...) })
}

// awaitEnd returns what ended says, or an error after StopTime. It calls say at once and once a second, so that whoever
// sent the signal sees that it was taken.
func awaitEnd(ended <-chan error, say func(state string)) error {
	say("signalled")
	limit, tick := time.NewTimer(daemon.StopTime), time.NewTicker(time.Second)
	defer limit.Stop()
	defer tick.Stop()
	for {
		select {
		case err := <-ended:
			return err
		case <-tick.C:
			say("waiting")
		case <-limit.C:
			say("gave up")
			return fmt.Errorf("stop the daemon: it did not end within %s", daemon.StopTime)
		}
	}
}

// awaited returns what the end of the daemon waits for, as attributes of a log line.
func (d *Daemon) awaited(state string) []any {
	return []any{
		"state", state, "requests", d.proxy.Open(), "origin_requests", d.core.cache.Open(), "jobs", d.Server.Running(),
		"unwritten_bytes", d.core.store.Health().Queued,
	}
}

// run serves proxy and admin port, and does all work in the background, until ctx ends or one of them fails. Each ends
// with the others.
func (d *Daemon) run(ctx context.Context) error {
	dir := d.core.settings.DataDir
	group, ctx := errgroup.WithContext(ctx)
	group.Go(fault.Wrap("serve: proxy", func() error { return d.proxy.Serve(ctx, d.ports.proxy) }))
	group.Go(fault.Wrap("serve: admin", func() error { return d.Server.Serve(ctx, d.ports.admin) }))
	if d.profiles != nil {
		group.Go(fault.Wrap("serve: profiles", func() error { return d.Server.ServeProfiles(ctx, d.profiles) }))
	}
	group.Go(fault.Loop(ctx, "serve: journal", d.core.journal.Run))
	group.Go(fault.Loop(ctx, "serve: sweep", d.core.sweep))
	group.Go(fault.Loop(ctx, "serve: count what is kept", d.core.countKept))
	group.Go(fault.Loop(ctx, "serve: knowledge", d.core.knowledge.Run))
	if d.core.fleet != nil {
		group.Go(fault.Loop(ctx, "serve: fleet", d.core.fleet.Run))
	}
	group.Go(fault.Loop(ctx, "serve: hooks", d.Server.Hooks().Run))
	group.Go(fault.Loop(ctx, "serve: sample", d.Server.Sample))
	d.Server.Memory().Resume()
	group.Go(fault.Wrap("serve: say that it is ready", func() error {
		err := d.Info.Write(dir)
		if err := daemon.TellReady(); err != nil {
			d.core.log.Warn("tell systemd that the daemon answers", "error", err)
		}
		if err != nil && d.mustBeFound {
			return err
		}
		if err != nil {
			d.core.log.Warn("other commands will not find this daemon", "error", err)
		}
		d.Found()
		return nil
	}))
	err := group.Wait()
	d.Server.Stop() // again: the proxy has ended only now, and what it counted is to be kept
	d.closeListeners()
	err = errors.Join(err, d.core.Close()) //nolint:contextcheck // closing takes none
	d.Info.Remove(dir)                     // whoever waits for the end of this daemon can have the store now
	return err
}

// closeListeners closes all ports of the daemon. Those that were served are closed already.
func (d *Daemon) closeListeners() {
	if d.ports != nil {
		d.ports.close()
	}
	if d.profiles != nil {
		_ = d.profiles.Close() // it is closed already if it was served
	}
}

// reachable returns, for the health of the daemon, the address at which this machine reaches a listener.
func reachable(a net.Addr) string {
	host, port, err := net.SplitHostPort(a.String())
	if err != nil {
		return a.String()
	}
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port)
}

// addrPort returns the address of a listener; the zero value for one that has none in IP.
func addrPort(l net.Listener) netip.AddrPort {
	a, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return a
}
