package setup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/convert"
	"github.com/readthru/readthru/internal/service"
	"github.com/readthru/readthru/page"
)

// setupMachine leads through all that there is to set up: the service, browsers' trust, agents, and a first page that
// proves it. Each part is tried even if an earlier one failed, and what is complete is left alone, so that running it
// again does what is missing. Without a terminal or --yes it lists the agents.
func (p *program) setupMachine(c *cli.Context, s *settings.Settings) error {
	if c.Bool("json") || c.Bool("dry-run") || !c.Bool("yes") && !terminal.Is(p.In) {
		if err := p.listAgents(c.Context, s, c.Bool("json")); err != nil || c.Bool("json") {
			return err
		}
		p.Note("to set up the service and the agents that were found, type \"readthru setup --yes\"; for one agent " +
			"\"readthru setup AGENT --yes\"; to see a change, \"readthru setup AGENT --dry-run\"")
		return nil
	}
	g := &guide{p: p, s: s, yes: c.Bool("yes")}
	g.ask = terminal.NewAsker(p.Streams, g.yes)
	ctx := c.Context
	var failed []error
	for _, part := range []func(context.Context) error{g.network, g.service, g.trust, g.agents, g.prove} {
		if err := ctx.Err(); err != nil {
			return err
		}
		for _, err := range eachOf(part(ctx)) {
			p.Tell(err)
			failed = append(failed, err)
		}
	}
	p.Note("to undo all of this: readthru uninstall")
	if len(failed) > 0 {
		return terminal.WithHint(fmt.Errorf("%s of the setup failed, see above", terminal.Count(len(failed), "part")),
			"mend that and run \"readthru setup\" again: what is complete stays as it is")
	}
	return nil
}

// eachOf returns the errors that are joined in one.
func eachOf(err error) []error {
	if joined, ok := err.(interface{ Unwrap() []error }); ok {
		return joined.Unwrap()
	}
	if err == nil {
		return nil
	}
	return []error{err}
}

// guide is a setup of all.
type guide struct {
	p   *program
	s   *settings.Settings
	ask *terminal.Asker
	yes bool // every answer is the default
}

// network is the step of the guided setup that tells how origins will be reached, if not simply: through a proxy, with
// other authorities.
func (g *guide) network(context.Context) error {
	if g.s.Proxy.Upstream != "" {
		g.p.Note("origins are asked through the proxy that proxy.upstream names")
	}
	if g.s.Upstream.CAFile != "" {
		g.p.Note("origins are trusted by the system's authorities and those of %s", g.s.Upstream.CAFile)
	}
	if _, err := settings.OpenAuthority(g.s); err != nil { // whose bundle is looked at
		return err
	}
	for _, f := range append(examineUpstream(g.s, nil), examineRoots(settings.AuthorityOptions(g.s))...) {
		g.p.Note("warning: %s: %s", f.Detail, f.Remedy)
	}
	return nil
}

// service is the step of the guided setup that has the system keep the daemon running, unless it does already. Without
// a manager the step is left out: agents start the daemon themselves.
func (g *guide) service(ctx context.Context) error {
	m, err := daemon.ReachableManager(ctx, g.s)
	if err != nil {
		g.p.Note("no service: %v. Agents that are set up start the daemon themselves", err)
		return nil
	}
	d, err := serviceDaemon(g.s)
	if err != nil {
		return err
	}
	installed := service.Installed(m)
	if status := m.Status(); installed && exec.CommandContext(ctx, status[0], status[1:]...).Run() == nil {
		g.p.Note("%s keeps the daemon running already", m.Name())
		if now := daemon.Find(ctx, g.s.DataDir); now != nil {
			daemon.NoteOtherVersion(g.p.Streams, g.s, now)
		}
		return nil
	}
	if err := keepEdits(m); err != nil {
		return err
	}
	if err := settings.MakeDataDir(g.s.DataDir); err != nil {
		return err
	}
	steps := m.Install(d, installed)
	for _, step := range steps {
		if err := g.p.Print(step.String()); err != nil {
			return err
		}
	}
	if !g.ask.Yes("Keep the daemon running from now on?", true) {
		return nil
	}
	if err := g.p.makeWay(ctx, g.s, installed); err != nil {
		return fmt.Errorf("install the service: %w", err)
	}
	for _, step := range steps {
		if err := step.Do(); err != nil {
			return fmt.Errorf("install the service: %w", err)
		}
	}
	g.p.noteService(g.s, m)
	return nil
}

// trust is the step of the guided setup that has this system trust the authority. Its default is no, because agents
// need it not.
func (g *guide) trust(context.Context) error {
	a, err := settings.OpenAuthority(g.s)
	if err != nil {
		return err
	}
	if !g.ask.Yes("Have this system and its browsers trust the proxy's authority? Agents do without it.", false) {
		return nil
	}
	notes, err := a.Install()
	for _, n := range notes {
		g.p.Note("%s", n)
	}
	return err
}

// agents is the step of the guided setup that sets up each agent that is found on this machine. A failure of one does
// not keep the others from it, except that of a port that is taken, which all would meet.
func (g *guide) agents(ctx context.Context) error {
	var failed []error
	found := false
	for _, a := range agents.All() {
		in := &agentsetup.Setup{Std: g.p.Streams, Settings: g.s, Agent: a, Ask: g.ask, Yes: g.yes, Wanted: true}
		switch st := in.Look(ctx); {
		case !st.Found:
			continue
		case st.State == "yes":
			g.p.Note("%s is set up already", a.Title())
		default:
			err := in.Install(ctx, agentsetup.Choices{Proxy: true, Text: true})
			if errors.Is(err, agentsetup.ErrPortTaken) {
				return err // the others would meet the same
			}
			failed = append(failed, err)
		}
		found = true
	}
	if !found {
		g.p.Note("no agent was found: \"readthru setup --instructions\" has a paragraph for others")
	}
	return errors.Join(failed...)
}

// provingPage is HTML that makes a page of markdown.
const provingPage = `<!doctype html><title>readthru works</title><nav><a href="/">Home</a></nav>
<main><h1>readthru works</h1><p>This page came from an origin on this machine as HTML, went through the proxy, and
arrives as markdown. Nothing was asked of the internet, and the page is not kept.</p></main><script>track()</script>`

// prove is the last step of the guided setup: it reads a page of an origin on this machine through the daemon.
func (g *guide) prove(ctx context.Context) error {
	if len(g.s.Proxy.Users) > 0 || !g.s.AllowPrivate() {
		g.p.Note("no first page: the proxy wants a password, or reaches no private address; try \"readthru doctor\"")
		return nil
	}
	began := time.Now()
	d, err := daemon.Share(ctx, g.s)
	if err != nil {
		return fmt.Errorf("read a first page: %w", err)
	}
	defer d.Release()
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return fmt.Errorf("read a first page: %w", err)
	}
	origin := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(
		func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.Header().Set("Cache-Control", "no-store")
			_, _ = io.WriteString(w, provingPage) // a client that has left gets none
		})}
	ended := make(chan struct{})
	go func() {
		_ = origin.Serve(l) // http.ErrServerClosed
		close(ended)
	}()
	defer func() {
		_ = origin.Close() // it has answered
		<-ended
	}()
	a, err := settings.OpenAuthority(g.s)
	if err != nil {
		return err
	}
	client, err := throughProxy(d.Proxy, a.PEM())
	if err != nil {
		return err
	}
	defer client.CloseIdleConnections()
	address := url.URL{Scheme: "http", Host: l.Addr().String(), Path: "/readthru-setup"}
	text, _, err := readAsAgent(ctx, client, address.String())
	if err != nil {
		return terminal.WithHint(fmt.Errorf("read a first page: %w", err), "see \"readthru doctor\"")
	}
	_ = d.Client.DeletePage(ctx, page.New(&address).Doc) // it may not have been kept
	g.p.Note("a first page came as markdown, %d tokens for %d, in %s", convert.Tokens(text), convert.Tokens(provingPage),
		time.Since(began).Round(10*time.Millisecond))
	return nil
}
