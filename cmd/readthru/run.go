package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	"readthru/api"
	"readthru/certs"
)

// childRun is a command that is to run, and how.
type childRun struct {
	name string   // its program's file
	args []string // with its name as it was given

	session string // whose requests its own are
	offline bool
	login   string // name:password for a proxy with users, else empty
	record  string // file that takes what it is answered; empty: none
	quiet   bool
}

func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a command whose web requests go through the proxy",
		ArgsUsage: "-- COMMAND [ARGUMENT…]",
		Description: "A daemon that runs is used; else one is started for as long as the command takes. The status is the " +
			"command's.\n" +
			"With --record all that the command is answered goes into a file; with --replay it is answered from that, byte " +
			"for byte, and nothing is\n" +
			"asked of the network: what is not in the file is answered 504, and the status is 1 unless the command's own " +
			"tells of it.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "offline", Usage: "answer from what is stored, ask no origin"},
			&cli.StringFlag{Name: "record", Usage: "write what is answered to `FILE`"},
			&cli.StringFlag{Name: "replay", Usage: "answer from `FILE`, which --record wrote, and from nothing else"},
			&cli.StringFlag{
				Name: "session", EnvVars: []string{"READTHRU_SESSION"},
				Usage: "`NAME` under which visits and what was fetched are kept", DefaultText: "a new one",
			},
			&cli.StringFlag{Name: "login", Usage: "`NAME:PASSWORD` for a proxy with users"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "no line at the end that says what was read"},
		},
		Action: func(c *cli.Context) error {
			r := childRun{
				args: c.Args().Slice(), session: c.String("session"), offline: c.Bool("offline"), login: c.String("login"),
				record: c.String("record"), quiet: c.Bool("quiet"),
			}
			replay := c.String("replay")
			if err := r.check(replay); err != nil {
				return err
			}
			s, err := p.load()
			if err != nil {
				return err
			}
			if r.name, err = exec.LookPath(r.args[0]); err != nil {
				return p.notRun(r.args[0], err)
			}
			p.releaseSignals() // signals are the command's from here on
			ctx := context.WithoutCancel(c.Context)
			if replay != "" {
				return p.runReplayed(ctx, s, &r, replay)
			}
			return p.runThrough(ctx, s, &r)
		},
	}
}

// check refuses what does not go together, and names the session where nobody did.
func (r *childRun) check(replay string) error {
	if len(r.args) == 0 {
		return withHint(usagef("the command is missing"), "readthru run -- curl -s https://go.dev/doc/")
	}
	if replay != "" && (r.record != "" || r.offline || r.login != "") {
		return usagef("--replay asks nobody: it goes with neither --record nor --offline nor --login")
	}
	if r.session == "" {
		r.session = "run-" + strings.ToLower(rand.Text()[:8])
	}
	return nil
}

// runThrough runs a command with the environment of clients, starting a daemon when none runs.
func (p *program) runThrough(ctx context.Context, s *settings, r *childRun) error {
	log := p.askedLog(s) // standard error is the command's
	var own *daemon
	running, err := openOrShare(ctx, s, func() (err error) {
		own, err = openDaemon(ctx, s, r.offline, true, log)
		return err
	})
	if err != nil {
		return err
	}
	if running != nil {
		defer running.release()
		authority, err := openAuthority(s)
		if err != nil {
			return err
		}
		if r.record != "" && r.offline && !running.Offline {
			return withHint(errors.New("what a daemon answers that is not offline itself is not recorded offline"),
				`stop it first, or start it with "readthru serve --offline"`)
		}
		return p.runIn(ctx, s, r, running.client, authority)
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
	return p.runIn(ctx, s, r, own.server.Client(agentName), own.authority)
}

// runIn runs the command in its session, through a door of the session's own, and tells at the end what was read.
func (p *program) runIn(ctx context.Context, s *settings, r *childRun, client *api.Client,
	authority *certs.Authority,
) error {
	before, err := client.Session(ctx, r.session) // others may have been of it
	if err != nil {
		return err
	}
	var d *sessionProxy
	if r.record != "" {
		d, err = record(ctx, client, r.session, r.record)
	} else {
		d, err = openProxy(ctx, client, r.session, r.offline)
	}
	if err != nil {
		return err
	}
	e, err := newClientEnv(s, authority, d.addr, r.login)
	if err != nil {
		return errors.Join(err, d.close(ctx))
	}
	e.session = r.session
	status := p.runChild(r.name, r.args, e.variables())
	if err := d.close(ctx); err != nil {
		p.note("error: %s", err)
		status = cmp.Or[error](status, exitError(1))
	}
	if !r.quiet {
		p.tellSession(ctx, client, r, before)
	}
	return status
}

// tellSession says in a line what the command read since before. One that read nothing is none of our business.
func (p *program) tellSession(ctx context.Context, client *api.Client, r *childRun, before *api.SessionStats) {
	st, err := client.Session(ctx, r.session)
	if err != nil {
		p.note("what was read is not known: %s", err)
		return
	}
	requests, tunnels := st.Requests-before.Requests, st.Tunnels-before.Tunnels
	if requests+tunnels == 0 {
		return
	}
	text := count(requests, "request") + ": " + count(st.Pages-before.Pages, "page") + ", " + count(st.Hits-before.Hits,
		"hit") +
		", " + count(st.Tokens.Saved-before.Tokens.Saved, "token") + " saved"
	if n := st.Errors - before.Errors; n > 0 {
		text += ", " + count(n, "error")
	}
	if tunnels > 0 {
		text += ", " + count(tunnels, "tunnel")
		if r.record != "" {
			text += " not recorded"
		}
	}
	if r.record != "" {
		text += "; recorded in " + r.record
	}
	p.note("%s", text)
}

// waitForOthers keeps our daemon up for commands that began to use it meanwhile. An interrupt ends the wait.
func (p *program) waitForOthers(ctx context.Context, d *daemon) {
	if n := d.server.Holds(); n > 0 {
		p.note("the command has ended; waiting for %d more that use its proxy", n)
	}
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	d.server.Retire(ctx)
}
