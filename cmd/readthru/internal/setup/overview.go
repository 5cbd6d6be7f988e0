package setup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/releases"
	"github.com/readthru/readthru/internal/service"
)

// maxProblems is how many of doctor's findings the overview shows.
const maxProblems = 3

// overview prints what runs, what is set up, and what to do next. It is what "readthru" alone prints, and changes
// nothing.
func (p *program) overview(ctx context.Context) error {
	s, err := p.Load()
	if err != nil {
		return err
	}
	var t strings.Builder
	fmt.Fprintf(&t, "readthru %s, a caching forward proxy that gives agents the web as markdown\n\n", releases.Version)
	d := daemon.Find(ctx, s.DataDir)
	t.WriteString("daemon   " + daemonState(ctx, d) + "\n")
	installed := false
	if m, err := daemon.ServiceManager(s); err == nil {
		if installed = service.Installed(m); installed {
			t.WriteString("service  " + m.Name() + " keeps the daemon running\n")
		} else {
			t.WriteString("service  none: the daemon runs while you, or a command, let it\n")
		}
	}
	found, next := p.agentsFound(ctx, s)
	t.WriteString("agents   " + found + "\n")
	if _, err := os.Stat(s.DataDir); !errors.Is(err, fs.ErrNotExist) { // doctor would make the directory
		t.WriteString(problems(p.examine(ctx, s, false)))
	}
	steps := [][2]string{{"readthru run -- curl -s https://go.dev/doc/", "one command through the proxy"}}
	if next != "" {
		steps = append(steps, [2]string{"readthru setup " + string(next), "have " + next.Title() + " use readthru"})
	}
	if !installed {
		steps = append(steps, [2]string{"readthru service install", "keep the daemon running"})
	}
	if d != nil {
		steps = append(steps, [2]string{"readthru open", "the dashboard, in a browser"})
	}
	steps = append(steps, [2]string{"readthru help", "all commands"})
	t.WriteString("\n")
	for i, step := range steps {
		lead := "        "
		if i == 0 {
			lead = "next    "
		}
		fmt.Fprintf(&t, "%s %-44s %s\n", lead, step[0], step[1])
	}
	return p.Print(t.String())
}

// daemonState tells where a daemon is and what it keeps, or that none runs.
func daemonState(ctx context.Context, d *daemon.Info) string {
	if d == nil {
		return `none runs: "readthru run" starts one`
	}
	text := fmt.Sprintf("process %d, proxy on %s, admin on %s", d.PID, d.Proxy, d.Admin)
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	client := api.NewClient(d.Admin, d.Token, daemon.UserAgent)
	defer client.Close()
	st, err := client.Stats(ctx)
	if err != nil {
		return text
	}
	return fmt.Sprintf("%s: %s kept, %d tokens saved", text, terminal.Count(st.Pages.Total, "page"), st.Tokens.Saved)
}

// agentsFound names the agents of this machine, whether each is set up, and the first that is not.
func (p *program) agentsFound(ctx context.Context, s *settings.Settings) (text string, next agents.Agent) {
	var list []string
	for _, a := range agents.All() {
		st := (&agentsetup.Setup{Std: p.Streams, Settings: s, Agent: a}).Look(ctx)
		if !st.Found {
			continue
		}
		state := "is set up"
		if st.State != "yes" {
			state = "is not set up"
			next = cmp.Or(next, a)
		}
		list = append(list, st.Title+" "+state)
	}
	if len(list) == 0 {
		return "none found", ""
	}
	return strings.Join(list, ", "), next
}

// problems returns the first findings that are not good, those that failed before warnings.
func problems(found []finding) string {
	var t strings.Builder
	n := 0
	for _, state := range []string{failed, warning} {
		for _, f := range found {
			if f.State != state || n == maxProblems {
				continue
			}
			n++
			fmt.Fprintf(&t, "%-8s %s: %s\n", state, f.Name, terminal.Printable(f.Detail))
			if f.Remedy != "" {
				fmt.Fprintf(&t, "         remedy: %s\n", terminal.Printable(f.Remedy))
			}
		}
	}
	return t.String()
}
