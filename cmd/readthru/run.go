package main

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"
)

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:        "run",
		Usage:       "run a command whose web requests go through the proxy",
		ArgsUsage:   "-- COMMAND [ARGUMENT…]",
		Description: "A daemon that runs is used; else one is started for as long as the command takes. The status is the command's.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "offline", Usage: "answer from what is stored, ask no origin"},
			&cli.StringFlag{Name: "login", Usage: "`NAME:PASSWORD` for a proxy with users"},
		},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) == 0 {
				return withHint(usagef("the command is missing"), "readthru run -- curl -s https://go.dev/doc/")
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			name, err := exec.LookPath(args[0])
			if err != nil {
				return p.notRun(args[0], err)
			}
			p.releaseSignals() // signals are the command's from here on
			return p.runThrough(context.WithoutCancel(c.Context), s, c.Bool("offline"), c.String("login"), name, args)
		},
	}
}

// notRun says that a command could not be started. The statuses are a shell's: 127 when it is not there, 126 when it may not
// be run.
func (p *program) notRun(name string, err error) error {
	if e, ok := errors.AsType[*exec.Error](err); ok {
		err = e.Err
	}
	status := 127
	if errors.Is(err, fs.ErrPermission) {
		status = 126
	}
	p.note("error: run %s: %s", name, err)
	return exitError(status)
}

// runThrough runs a command with the environment of clients, starting a daemon when none runs.
func (p *program) runThrough(ctx context.Context, s *settings, offline bool, login, name string, args []string) error {
	log := slog.New(slog.DiscardHandler) // standard error is the command's
	if s.source["log.level"] != "default" {
		log = logger(p.err, s)
	}
	standardLog(log)
	var own *daemon
	running, err := openOrShare(ctx, s, func() (err error) {
		own, err = openDaemon(ctx, s, offline, true, log)
		return err
	})
	if err != nil {
		return err
	}
	if running != nil {
		defer running.release()
		return p.runWith(s, running.daemonInfo, offline, login, name, args)
	}
	limitMemory()
	serving, stop := context.WithCancel(ctx)
	done := make(chan error, 1)
	go func() { done <- own.Run(serving) }()
	defer func() {
		p.waitForOthers(ctx, own)
		stop()
		if err := <-done; err != nil {
			p.note("close the daemon: %s", err)
		}
	}()
	e, err := newClientEnv(s, own.authority, own.info.Proxy, login)
	if err != nil {
		return err
	}
	return p.runChild(name, args, e.variables())
}

// runWith runs a command with a daemon that runs already.
func (p *program) runWith(s *settings, d *daemonInfo, offline bool, login, name string, args []string) error {
	if offline && !d.Offline {
		return withHint(errors.New("the daemon that runs is not offline"), `stop it first, or start it with "readthru serve --offline"`)
	}
	authority, err := openAuthority(s)
	if err != nil {
		return err
	}
	e, err := newClientEnv(s, authority, d.Proxy, login)
	if err != nil {
		return err
	}
	return p.runChild(name, args, e.variables())
}

// waitForOthers keeps our daemon up for commands that began to use it meanwhile. An interrupt ends the wait.
func (p *program) waitForOthers(ctx context.Context, d *daemon) {
	if n := d.server.Leases(); n > 0 {
		p.note("the command has ended; waiting for %d more that use its proxy", n)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	d.server.Retire(ctx)
}

// runChild runs a command, hands it the signals that reach us, and returns its status. What we were told to ignore, as by nohup,
// it ignores too.
func (p *program) runChild(name string, args []string, vars []variable) error {
	cmd := &exec.Cmd{Path: name, Args: args, Env: withVariables(os.Environ(), vars), Stdin: p.in, Stdout: p.out, Stderr: p.err}
	signals := make(chan os.Signal, 8)
	signal.Notify(signals, slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}, p.ignores)...)
	defer signal.Stop(signals)
	if err := cmd.Start(); err != nil {
		if pe, ok := errors.AsType[*fs.PathError](err); ok {
			err = pe.Err
		}
		return p.notRun(args[0], err)
	}
	// A terminal sends its interrupts to the whole group, the command included; another would be one too many.
	fromTerminal := terminal(p.in) || terminal(p.out) || terminal(p.err)
	done := make(chan error, 1)
	go func() { done <- cmd.Wait() }()
	for {
		select {
		case sig := <-signals:
			if fromTerminal && (sig == os.Interrupt || sig == syscall.SIGQUIT) {
				continue
			}
			_ = cmd.Process.Signal(sig) // it may have ended already, which Wait tells
		case err := <-done:
			return childStatus(err)
		}
	}
}

// childStatus is a command's status as a shell gives it: 128 and the signal's number when a signal ended it.
func childStatus(err error) error {
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok {
		return err
	}
	if ws, ok := exit.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		return exitError(128 + int(ws.Signal()))
	}
	return exitError(exit.ExitCode())
}

// withVariables returns env with vars set, and without the proxy of all protocols, which would win with some clients.
func withVariables(env []string, vars []variable) []string {
	replaced := map[string]bool{"ALL_PROXY": true, "all_proxy": true}
	for _, v := range vars {
		replaced[v.name] = true
	}
	var out []string
	for _, e := range env {
		if name, _, _ := strings.Cut(e, "="); !replaced[name] {
			out = append(out, e)
		}
	}
	for _, v := range vars {
		out = append(out, v.name+"="+v.value)
	}
	return out
}
