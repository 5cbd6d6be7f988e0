package main

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
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/internal/fault"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/proxy"
	"github.com/readthru/readthru/store"
)

// serving is how a daemon is run.
type serving struct {
	std      stdio
	ignores  func(os.Signal) bool // whether a signal was ignored when the program started; nil: none was
	offline  bool
	idle     time.Duration             // the daemon ends when it was not used for so long, unless it is 0
	profiles string                    // address of profiles, or ""
	load     func() (*settings, error) // reads the configuration again

	// For a daemon that a command starts:
	made string        // not empty, see madeOf
	tell func(started) // tells the command
}

// serve runs the daemon until ctx ends.
func serve(ctx context.Context, s *settings, how serving) (err error) {
	level := new(slog.LevelVar)
	level.Set(levelOf(s))
	if how.made != "" && s.source["log.level"] == "default" {
		level.Set(slog.LevelWarn) // nobody reads its log unless something is wrong
	}
	end := &logEnd{}
	log := slog.New(slog.NewMultiHandler(logger(how.std.err, s, level).Handler(), end.handler(level)))
	standardLog(log)
	fault.Log(log)
	hangups, release := takeHangups(how.ignores) // before the store is open, so that none ends the program
	defer release()
	limitMemory(log)
	d, err := openServed(ctx, s, how, log)
	if d == nil {
		return err
	}
	d.core.logEnd = end
	if how.profiles != "" {
		if d.profiles, err = listen(ctx, how.profiles, false); err != nil {
			d.closeListeners()
			return errors.Join(err, d.core.Close()) //nolint:contextcheck // closing takes none
		}
		log.Info("profiling", "url", "http://"+d.profiles.Addr().String()+"/debug/pprof/")
	}
	log.Info("serving", "proxy", d.info.Proxy, "admin", d.info.Admin, "data_dir", s.dataDir, "version", releases.Version, "offline",
		how.offline)
	if !loopback(s.Proxy.Listen) && d.core.users.Open() {
		log.Warn("the proxy is open to other machines", "proxy", d.info.Proxy, "remedy",
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
		d.onHangup(ctx, hangups, stop, func() { d.reload(how.load, level) })
	}))
	if how.idle > 0 {
		background.Go(fault.Forever(ctx, "serve: await idleness", func(ctx context.Context) {
			if awaitIdle(ctx, how.idle, d.used, d.server.Retire) {
				log.Info("not used", "for", how.idle)
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
func openServed(ctx context.Context, s *settings, how serving, log *slog.Logger) (d *daemon, err error) {
	if err := makeDataDir(s.dataDir); err != nil {
		return nil, err
	}
	unlock, err := lockStart(ctx, s.dataDir, func() {
		if how.made != "" {
			how.tell(started{Another: true})
		} else {
			how.std.note("waiting for a daemon that is starting")
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
		if now := findDaemon(ctx, s.dataDir); now != nil && now.Made != "" {
			if gone, err := stopDaemon(ctx, s.dataDir, now, true); err != nil || !gone {
				return nil, cmp.Or(err, withHint(
					fmt.Errorf("commands use the daemon that \"readthru run\" started, process %d", now.PID),
					"wait for their end, or stop it with \"readthru stop\""))
			}
		}
		err := awaitStore(ctx, s.dataDir, how.std.note, func() (err error) {
			d, err = openDaemon(ctx, s, how.offline, nil, log)
			return err
		})
		if d != nil {
			d.found = unlock
		}
		return d, err
	}
	if other := findDaemon(ctx, s.dataDir); other != nil {
		how.tell(started{Daemon: other})
		return nil, nil
	}
	at, err := openPorts(ctx, s, true) // before the store, so that who connects waits instead of being refused
	if err != nil {
		return nil, err
	}
	how.tell(started{Listening: reachable(at.proxy.Addr())})
	open := func() (_ *daemonInfo, err error) {
		d, err = openDaemon(ctx, s, false, at, log)
		return nil, err
	}
	other, err := open() // to look for a daemon first would be to ask ourselves if one has died with these ports
	if _, locked := errors.AsType[*store.LockedError](err); locked {
		other, err = openOrFind(ctx, s, open)
	}
	if d == nil {
		at.close()
		if err == nil {
			how.tell(started{Daemon: other})
		}
		return nil, err
	}
	d.info.Made, d.mustBeFound = how.made, true
	d.found = func() {
		unlock()
		how.tell(started{Daemon: d.info})
	}
	return d, os.Chdir(s.dataDir) // not to keep the folder of the command that was first
}

// ports are the listeners of a daemon.
type ports struct{ proxy, admin net.Listener }

// openPorts listens. With anyPort it replaces a port that is in use by a free one.
func openPorts(ctx context.Context, s *settings, anyPort bool) (_ *ports, err error) {
	p := new(ports)
	if p.proxy, err = listen(ctx, s.Proxy.Listen, anyPort); err != nil {
		return nil, err
	}
	if p.admin, err = listen(ctx, s.Admin.Listen, anyPort); err != nil {
		p.close()
		return nil, err
	}
	return p, nil
}

// secure has other machines use TLS, where that is configured.
func (p *ports) secure(s *settings, log *slog.Logger) error {
	for _, each := range []struct {
		path string
		l    *net.Listener
		pair tlsFiles
	}{{"proxy.tls", &p.proxy, s.Proxy.TLS}, {"admin.tls", &p.admin, s.Admin.TLS}} {
		l, err := proxy.WithTLS(*each.l, proxy.TLSFiles(each.pair), log)
		if err != nil {
			return withHint(usagef("%s: %s: %w", s.source[each.path+".cert"], each.path, err),
				"name a certificate with its chain and its key, in PEM, or leave both empty")
		}
		*each.l = l
	}
	return nil
}

func (p *ports) close() {
	for _, l := range []net.Listener{p.proxy, p.admin} {
		if l != nil {
			_ = l.Close() // it is closed already if it was served
		}
	}
}

// daemon is a proxy and an admin port on a data directory.
type daemon struct {
	core      *core
	authority *certs.Authority
	proxy     *proxy.Proxy
	server    *api.Server
	info      *daemonInfo
	ports     *ports
	profiles  net.Listener // nil: there are none

	end         func() // makes Run end
	found       func() // is called when the daemon answers and commands can find it
	mustBeFound bool   // by commands; else it runs on if they cannot
}

// openDaemon opens everything from the store upwards. It listens unless it is given ports.
func openDaemon(ctx context.Context, s *settings, offline bool, at *ports, log *slog.Logger) (_ *daemon, err error) {
	if err := makeDataDir(s.dataDir); err != nil {
		return nil, err
	}
	d := &daemon{end: func() {}, found: func() {}, ports: at, info: &daemonInfo{
		Instance: newInstance(), PID: os.Getpid(), Secret: rand.Text(), Offline: offline,
		Started: time.Now().UTC(), Version: releases.Version,
	}}
	//nolint:contextcheck // opening the store takes none
	if d.core, err = openCore(s, s.dataDir, offline, log); err != nil {
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
	if d.info.Token, err = adminToken(s); err != nil {
		return nil, err
	}
	if d.authority, err = certs.Open(authorityOptions(s)); err != nil {
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
	d.info.Proxy, d.info.Admin = reachable(d.ports.proxy.Addr()), reachable(d.ports.admin.Addr())
	d.core.listensOn(d.ports.proxy, d.ports.admin)
	//nolint:contextcheck // what fills a base does not end with what started the daemon
	if err := d.core.openFleet(d.info.Proxy); err != nil {
		return nil, err
	}
	if d.proxy, err = d.core.proxy(d.authority, "http://"+d.info.Admin); err != nil {
		return nil, err
	}
	d.server = d.core.server(d.proxy, d.authority, d.info, func() { d.end() })
	d.core.serving = d.server
	return d, nil
}

// Run serves until ctx ends or a part fails. Then it waits for open requests and closes everything, for stopTime at
// most. Once a second it logs what it waits for.
func (d *daemon) Run(ctx context.Context) error {
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

// awaitEnd returns what ended says, or an error after stopTime. It calls say at once and once a second.
func awaitEnd(ended <-chan error, say func(state string)) error {
	say("signalled")
	limit, tick := time.NewTimer(stopTime), time.NewTicker(time.Second)
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
			return fmt.Errorf("stop the daemon: it did not end within %s", stopTime)
		}
	}
}

// awaited returns what the end of the daemon waits for, as attributes of a log line.
func (d *daemon) awaited(state string) []any {
	return []any{
		"state", state, "requests", d.proxy.Open(), "origin_requests", d.core.cache.Open(), "jobs", d.server.Running(),
		"unwritten_bytes", d.core.store.Health().Queued,
	}
}

func (d *daemon) run(ctx context.Context) error {
	dir := d.core.settings.dataDir
	group, ctx := errgroup.WithContext(ctx)
	group.Go(fault.Wrap("serve: proxy", func() error { return d.proxy.Serve(ctx, d.ports.proxy) }))
	group.Go(fault.Wrap("serve: admin", func() error { return d.server.Serve(ctx, d.ports.admin) }))
	if d.profiles != nil {
		group.Go(fault.Wrap("serve: profiles", func() error { return d.server.ServeProfiles(ctx, d.profiles) }))
	}
	group.Go(fault.Loop(ctx, "serve: journal", d.core.journal.Run))
	group.Go(fault.Loop(ctx, "serve: sweep", d.core.sweep))
	group.Go(fault.Loop(ctx, "serve: count what is kept", d.core.countKept))
	group.Go(fault.Loop(ctx, "serve: knowledge", d.core.knowledge.Run))
	if d.core.fleet != nil {
		group.Go(fault.Loop(ctx, "serve: fleet", d.core.fleet.Run))
	}
	group.Go(fault.Loop(ctx, "serve: hooks", d.server.RunHooks))
	group.Go(fault.Loop(ctx, "serve: sample", d.server.Sample))
	d.server.Resume() //nolint:contextcheck // the jobs end with the server, which ctx ends
	group.Go(fault.Wrap("serve: say that it is ready", func() error {
		err := d.info.write(dir)
		if err := tellReady(); err != nil {
			d.core.log.Warn("tell systemd that the daemon answers", "error", err)
		}
		if err != nil && d.mustBeFound {
			return err
		}
		if err != nil {
			d.core.log.Warn("other commands will not find this daemon", "error", err)
		}
		d.found()
		return nil
	}))
	err := group.Wait()
	d.server.Stop() // again: the proxy has ended only now, and what it counted is to be kept
	d.closeListeners()
	err = errors.Join(err, d.core.Close()) //nolint:contextcheck // closing takes none
	d.info.remove(dir)                     // whoever waits for the end of this daemon can have the store now
	return err
}

func (d *daemon) closeListeners() {
	if d.ports != nil {
		d.ports.close()
	}
	if d.profiles != nil {
		_ = d.profiles.Close() // it is closed already if it was served
	}
}

// reachable returns the address at which this machine reaches a listener.
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

func addrPort(l net.Listener) netip.AddrPort {
	a, err := netip.ParseAddrPort(l.Addr().String())
	if err != nil {
		return netip.AddrPort{}
	}
	return a
}
