package read

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// childRun is a command to run, with its options.
type childRun struct {
	name string   // file of the program
	args []string // including the name as it was given

	session string // session of its requests
	offline bool
	login   string // name:password for a proxy with users, else empty
	record  string // file to record the answers in, or ""
	quiet   bool

	direct string // hosts for which clients do not ask the proxy, as NO_PROXY names them
}

// runCommand is the command run: a command of the user's as a child process, with an environment that sends its web
// requests through the proxy.
func (p *program) runCommand() *cli.Command {
	return &cli.Command{
		Name:      "run",
		Usage:     "run a command whose web requests go through the proxy",
		ArgsUsage: "-- COMMAND [ARGUMENT…]",
		Description: "The command uses the running daemon; without one, run starts a daemon, which other runs share " +
			"and which ends\nby itself when it was not used for five minutes. The exit status is the command's.\n" +
			"--record writes all answers to a file. --replay answers from that file, byte for byte, and sends nothing to " +
			"the network: a request\n" +
			"that is not in the file is answered with 504, and the exit status is then 1 unless the command itself fails.",
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "offline", Usage: "answer from what is stored and ask no origin"},
			&cli.StringFlag{Name: "record", Usage: "record all answers in `FILE`"},
			&cli.StringFlag{Name: "replay", Usage: "answer only from `FILE`, which --record wrote"},
			&cli.StringFlag{
				Name: "session", EnvVars: []string{"READTHRU_SESSION"},
				Usage: "`NAME` of the session of visits and fetched pages", DefaultText: "a new one",
			},
			&cli.StringFlag{Name: "login", Usage: "`NAME:PASSWORD` for a proxy with users"},
			&cli.BoolFlag{Name: "quiet", Aliases: []string{"q"}, Usage: "do not print a summary at the end"},
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
			s, err := p.Load()
			if err != nil {
				return err
			}
			if r.name, err = exec.LookPath(r.args[0]); err != nil {
				return p.notRun(r.args[0], err)
			}
			if replay == "" && r.login == "" && len(s.Proxy.Users) > 0 {
				p.Note("warning: the proxy has users: it answers 407 without --login NAME:PASSWORD")
			}
			p.ReleaseSignals() // from here on, signals go to the command
			ctx := context.WithoutCancel(c.Context)
			if replay != "" {
				return p.runReplayed(ctx, s, &r, replay)
			}
			return p.runThrough(ctx, s, &r)
		},
	}
}

// check returns an error for options that do not go together. It names the session if the user did not.
func (r *childRun) check(replay string) error {
	if len(r.args) == 0 {
		return terminal.WithHint(terminal.Usagef("COMMAND is missing"), "readthru run -- curl -s https://go.dev/doc/")
	}
	if replay != "" && (r.record != "" || r.offline || r.login != "") {
		return terminal.Usagef("--replay does not go with --record, --offline or --login")
	}
	if r.session == "" {
		r.session = "run-" + strings.ToLower(rand.Text()[:8])
	}
	return nil
}

// runThrough runs a command with the environment of clients. It starts a daemon if none runs.
func (p *program) runThrough(ctx context.Context, s *settings.Settings, r *childRun) error {
	settings.AskedLog(p.Err, s) // standard error belongs to the command
	d, err := daemon.Share(ctx, s)
	if err != nil {
		return err
	}
	defer d.Release()
	if d.Other {
		p.Note("warning: another run uses the proxy, whose configuration stays as it was for that one")
	}
	authority, err := settings.OpenAuthority(s)
	if err != nil {
		return err
	}
	return p.runIn(ctx, s, r, d.Client, authority)
}

// runIn runs the command in its session, through a proxy of that session, and prints a summary at the end.
func (p *program) runIn(ctx context.Context, s *settings.Settings, r *childRun, client *api.Client,
	authority *certs.Authority,
) error {
	before, err := client.Session(ctx, r.session) // other commands may have used it
	if err != nil {
		return err
	}
	var d *sessionProxy
	if r.record != "" {
		d, err = record(ctx, client, r.session, r.offline, r.record)
	} else {
		d, err = openProxy(ctx, client, r.session, r.offline, func(err error) {
			p.Note("error: the daemon has ended before the command: %s", err)
		})
	}
	if err != nil {
		return err
	}
	e, err := settings.NewClientEnv(s, authority, d.addr, r.login)
	if err != nil {
		return errors.Join(err, d.close(ctx))
	}
	e.Session, r.direct = r.session, settings.WithoutProxy(e.Direct)
	status := p.runChild(r.name, r.args, e.Variables())
	if err := d.close(ctx); err != nil {
		if !errors.Is(err, errLost) { // which was said when it happened
			p.Note("error: %s", err)
		}
		status = cmp.Or[error](status, terminal.ExitError(1))
	}
	if !r.quiet {
		p.tellSession(ctx, client, r, before, d.addr)
	}
	_ = client.Flush(ctx) // a container ends with its command, and the daemon with it; what is lost was only cached
	return status
}

// settleTime is how long the summary waits for requests that the command left behind.
const settleTime = 5 * time.Second

// tellSession prints a line about what the command read since before through the proxy at an address, or that nothing
// came through it, and which hosts go around it.
func (p *program) tellSession(ctx context.Context, client *api.Client, r *childRun, before *api.SessionStats,
	proxy string,
) {
	settled, cancel := context.WithTimeout(ctx, settleTime)
	st, err := client.SessionAfter(settled, r.session, proxy)
	if cancel(); err != nil {
		st, err = client.Session(ctx, r.session)
	}
	if err != nil {
		p.Note("no summary of the session: %s", err)
		return
	}
	if hosts := slices.DeleteFunc(st.RejectedCA, func(h string) bool {
		return slices.Contains(before.RejectedCA, h)
	}); len(hosts) > 0 {
		p.Note("warning: the command rejected our certificate for %s", strings.Join(hosts, ", "))
		p.Note(
			`hint: it uses other certificates than those in its environment; the rule {host: %s, action: tunnel} lets it pass`,
			hosts[0])
	}
	requests, tunnels := st.Requests-before.Requests, st.Tunnels-before.Tunnels
	if requests+tunnels == 0 {
		p.Note("no request came through the proxy; NO_PROXY has clients go around it for %s",
			strings.ReplaceAll(r.direct, ",", ", "))
		p.Note("hint: readthru run -- env NO_PROXY= no_proxy= COMMAND sends most clients through for these, too")
		p.Note(`hint: if it asked for other hosts, it ignores HTTPS_PROXY; see "readthru doctor"`)
		return
	}
	text := terminal.Count(requests, "request") + ": " + terminal.Count(st.Pages-before.Pages,
		"page") + ", " + terminal.Count(st.Hits-before.Hits,
		"hit") +
		", " + terminal.Count(st.Tokens.Saved-before.Tokens.Saved, "token") + " saved"
	if n := st.Errors - before.Errors; n > 0 {
		text += fmt.Sprintf(", %d failed", n)
	}
	if tunnels > 0 {
		text += ", " + terminal.Count(tunnels, "tunnel")
		if r.record != "" {
			text += " not recorded"
		}
	}
	if r.record != "" {
		text += "; recorded in " + r.record
	}
	p.Note("%s", text)
}
