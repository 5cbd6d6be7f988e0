package setup

import (
	"context"
	"fmt"
	"os"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/cmd/readthru/internal/wiring"
)

// sessionStart answers the event of a session that begins: it tells the agent how many pages are kept. If no daemon
// runs it starts one and waits until that listens, not until it answers. Whoever connects to the daemon meanwhile
// waits.
func (p *program) sessionStart(ctx context.Context, agent agents.Agent) (a agents.Answer) {
	s, err := p.Load()
	if err != nil {
		return a
	}
	count := func() {
		dir, _ := os.Getwd() // without one there is no project
		a.Context = keptLine(wiring.ReadKept(s.DataDir), projectHosts(dir))
	}
	var proxy string
	if d := daemon.Find(ctx, s.DataDir); d != nil {
		proxy = d.Proxy
		count()
	} else if proxy, err = daemon.BeginShared(s, count); err != nil {
		a.Message = "readthru: " + err.Error()
		if hint := terminal.HintOf(err); hint != "" {
			a.Message += "; " + hint
		}
	}
	points := (&agentsetup.Setup{Settings: s, Agent: agent}).PointsAt()
	if points != "" && proxy != "" && !agentsetup.SameAddress(points, proxy) {
		a.Message = fmt.Sprintf("readthru: another program has %s, to which the settings of %s send web requests. End that "+
			"program and run \"readthru stop\", or set proxy.listen in the configuration to another address, and run "+
			"\"readthru setup %s\" again", points, agent.Title(), agent)
		a.Context = "readthru: web requests of this session would reach another program at " + points + ", not readthru. " +
			"Do not read the web until the user has run \"readthru doctor\"."
		if redirect(s, os.Getenv("CLAUDE_ENV_FILE"), proxy) == nil {
			a.Context = "readthru: your web fetch tool would reach another program at " + points + ", not readthru. Read " +
				"the web by curl or by readthru's tools until the user has run \"readthru doctor\"."
		}
	}
	return a
}

// redirect has the shell of a session of Claude Code use a proxy at another address, by the file of variables that the
// session reads.
func redirect(s *settings.Settings, file, proxy string) error {
	if file == "" {
		return os.ErrNotExist
	}
	authority, err := settings.OpenAuthority(s)
	if err != nil {
		return err
	}
	e, err := settings.NewClientEnv(s, authority, proxy, "")
	if err != nil {
		return err
	}
	text, err := settings.Export("sh", e.Variables())
	if err != nil {
		return err
	}
	f, err := os.OpenFile(file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	return err
}
