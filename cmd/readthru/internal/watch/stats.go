package watch

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/api/server"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/journal"
	"github.com/readthru/readthru/store"
)

// statsCommand is the command stats: figures of the daemon and the store, or, with --since or --step, of each minute,
// hour or day. Without a daemon it shows what is on disk.
func (p *program) statsCommand() *cli.Command {
	return &cli.Command{
		Name:  "stats",
		Usage: "print figures: of the daemon and the store, of users, of the fleet, by minute, hour or day",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "since", Usage: "print what was counted since `TIME`: an age (36h, 7d), a day or a time"},
			&cli.StringFlag{
				Name: "step", Usage: "count by `STEP`: minute (kept for 48 hours), hour (60 days) or day (for ever)",
				DefaultText: "by --since",
			},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			if c.IsSet("since") || c.IsSet("step") {
				return p.series(c)
			}
			show := func(running bool) func(*api.Client) error {
				return func(b *api.Client) error {
					st, err := b.Stats(c.Context)
					if err != nil {
						return err
					}
					if c.Bool("json") {
						return p.PrintJSON(st)
					}
					return p.Print(statsText(st, running))
				}
			}
			return p.WithDaemonOr(c.Context, show(true),
				func(s *server.Server) error { return show(false)(s.Client(daemon.UserAgent)) })
		},
		Subcommands: []*cli.Command{
			p.usageCommand(), p.systemCommand(), command.Named("fleet", command.Sub(p.fleetCommand(), "status")),
		},
	}
}

// series prints what was counted in each step of a time.
func (p *program) series(c *cli.Context) error {
	since, err := api.Since(c.String("since"), time.Now())
	if err != nil {
		return terminal.Usagef("--since: %s", err)
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Series, error) {
		return b.Series(c.Context, api.SeriesQuery{Since: since, Step: c.String("step")})
	}, func(s *api.Series) error {
		row := func(name string, n store.Counts) []string {
			cells := []string{name}
			for _, v := range []int64{
				n.Requests(), n.Reused(), n.Tunnel, n.Failures, n.Visits, n.MarkdownTokens,
				max(0, n.HTMLTokens-n.MarkdownTokens),
			} {
				cells = append(cells, strconv.FormatInt(v, 10))
			}
			return append(cells, terminal.Bytes(n.BytesIn), terminal.Bytes(n.BytesSaved),
				(time.Duration(n.SavedMS) * time.Millisecond).String(),
				strconv.FormatInt(n.Rendered, 10), strconv.FormatInt(n.ThirdParties, 10))
		}
		var rows [][]string
		for _, point := range s.Points {
			rows = append(rows, row(terminal.Day(point.Time), point.Counts))
		}
		rows = append(rows, row("together", s.Sum))
		err := p.Table([]string{
			strings.ToUpper(s.Step), "REQUESTS", "REUSED", "TUNNELS", "FAILED", "VISITS", "TOKENS", "TOKENS SAVED",
			"BYTES", "BYTES SAVED", "TIME SAVED", "RENDERED", "DISCLOSED",
		}, rows)
		if err != nil || len(s.Agents) == 0 {
			return err
		}
		return p.agentTable(s)
	})
}

// agentTable prints what of the figures of a time is each agent's, below them.
func (p *program) agentTable(s *api.Series) error {
	var rows [][]string
	add := func(name string, figures ...int64) {
		row := []string{name}
		for _, n := range figures {
			row = append(row, strconv.FormatInt(n, 10))
		}
		rows = append(rows, row)
	}
	for _, a := range s.Agents {
		add(cmp.Or(a.Name, "without a name"), a.Requests, a.Tokens, a.TokensSaved)
	}
	if o := s.OtherAgents; o != nil {
		add("others, crawls and the dashboard", o.Requests, o.Tokens, o.TokensSaved)
	}
	add("together", s.Sum.Requests(), s.Sum.MarkdownTokens, s.Sum.HTMLTokens-s.Sum.MarkdownTokens)
	if err := p.Print("\n"); err != nil {
		return err
	}
	return p.Table([]string{"AGENT", "REQUESTS", "TOKENS", "TOKENS SAVED"}, rows)
}

// counts writes figures in the order of their names, without those that are 0; begin comes before the first.
func counts(begin string, figures map[string]int64, names []string) string {
	var list []string
	for _, name := range names {
		if n := figures[name]; n > 0 {
			list = append(list, strconv.FormatInt(n, 10)+" "+name)
		}
	}
	if len(list) == 0 {
		return ""
	}
	return begin + strings.Join(list, ", ")
}

// statsText shows the figures of a daemon that runs, or those of the store, each under the time that it is of.
func statsText(st *api.Stats, running bool) string {
	var t strings.Builder
	if running {
		fmt.Fprintf(&t, "version       %s\n", st.Version)
		fmt.Fprintf(&t, "\nsince the start, %s ago\n", time.Duration(st.UptimeS)*time.Second)
		fmt.Fprintf(&t, "requests      %d%s\n", st.Requests.Total, counts(": ", st.Requests.Outcomes, journal.Outcomes))
		if st.Requests.Total > 0 {
			fmt.Fprintf(&t, "by doors      %s; %d intercepted\n", counts("", st.Requests.Doors, journal.Doors),
				st.Requests.Intercepted)
		}
		if st.Requests.Failures > 0 {
			fmt.Fprintf(&t, "failed        %d, by whoever's word: readthru log is:failed lists them\n",
				st.Requests.Failures)
		}
		if st.Requests.Hidden > 0 {
			fmt.Fprintf(&t, "hidden        %s, by rules with log: off\n", terminal.Count(st.Requests.Hidden, "request"))
		}
		fmt.Fprintf(&t, "cache         %d hits, %d misses, %d revalidated, %d stale, %d bypassed: ratio %.2f\n",
			st.Cache.Hits, st.Cache.Misses, st.Cache.Revalidated, st.Cache.Stale, st.Cache.Bypass, st.Cache.HitRatio)
		t.WriteString(agentsText(st))
		t.WriteString("\nnow\n")
		fmt.Fprintf(&t, "in progress   %s, %d of origins, %s, %s\n", terminal.Count(int64(st.Work.Requests), "request"),
			st.Work.Origins, terminal.Count(int64(st.Work.Renders), "rendering"), terminal.Count(int64(st.Work.Jobs), "job"))
	} else {
		t.WriteString("no daemon runs: these are the figures of the store\n\nnow\n")
	}
	fmt.Fprintf(&t, "stored        %s, %s\n", terminal.Count(st.Cache.Entries, "response"),
		terminal.Bytes(st.Cache.Bytes))
	fmt.Fprintf(&t, "pages         %d, %s\n", st.Pages.Total, terminal.Count(st.Pages.Versions, "version"))
	fmt.Fprintf(&t, "index         %s, %d to index\n", terminal.Count(int64(st.Index.Passages), "passage"),
		st.Index.Queued)
	fmt.Fprintf(&t, "markdown.new  %s, %d sent today, %d left\n", st.MarkdownNew.Mode, st.MarkdownNew.Sent,
		st.MarkdownNew.Remaining)
	t.WriteString("\never, also of pages that are gone\n")
	fmt.Fprintf(&t, "visits        %d\n", st.Pages.Visits)
	for _, source := range slices.Sorted(maps.Keys(st.Pages.BySource)) {
		fmt.Fprintf(&t, "  %-11s %d\n", source, st.Pages.BySource[source])
	}
	fmt.Fprintf(&t, "tokens        %d of HTML became %d of markdown: %d saved\n", st.Tokens.HTML, st.Tokens.Markdown,
		st.Tokens.Saved)
	for _, h := range st.Hosts {
		fmt.Fprintf(&t, "host          %s: %s, %s\n", h.Host, terminal.Count(h.Visits, "visit"),
			terminal.Count(h.Hits, "hit"))
	}
	return t.String()
}

// agentsText shows the agents that have asked lately.
func agentsText(st *api.Stats) string {
	if len(st.Agents) == 0 {
		return ""
	}
	var t strings.Builder
	t.WriteString("\nin the last hour\n")
	for _, a := range st.Agents {
		fmt.Fprintf(&t, "agent         %s: %s, %s, %d tokens saved, seen %s\n", cmp.Or(a.Name, "without a name"),
			terminal.Count(int64(a.Sessions), "session"), terminal.Count(a.Requests, "request"), a.TokensSaved,
			terminal.Day(a.Seen))
	}
	if o := st.OtherAgents; o != nil {
		fmt.Fprintf(&t, "other agents  %s, %d tokens saved\n", terminal.Count(o.Requests, "request"), o.TokensSaved)
	}
	return t.String()
}
