package watch

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/journal"
)

// requestsCommand is the command requests: the journal of the last requests, and why each was answered so.
func (p *program) requestsCommand() *cli.Command {
	flags := func() []cli.Flag {
		return []cli.Flag{
			&cli.BoolFlag{Name: "har", Usage: "print an HTTP archive, which browsers and other tools read"},
			&cli.BoolFlag{Name: "jsonl", Usage: "print each request as a line of JSON, the oldest first"},
			command.LimitFlag(), command.CursorFlag(), command.JSONFlag(),
		}
	}
	return &cli.Command{
		Name:      "requests",
		Usage:     "list the last requests by every door: what was done, and why",
		ArgsUsage: "[FILTER…]",
		Description: "FILTER is made of " + api.FilterHelp + ". The last 5,000 requests are kept\n" +
			"(requests.last in the configuration), and with requests.days all those of so many days.\n" +
			"view:NAME in place of a filter is a view that the dashboard has (log view:what failed).",
		Flags:  flags(),
		Action: p.listRequests,
		Subcommands: []*cli.Command{{
			Name: "list", Aliases: []string{"requests"}, Usage: "list the last requests, as without a command",
			ArgsUsage: "[FILTER…]", Flags: flags(), Action: p.listRequests,
		}, {
			Name: "show", Usage: "print all that is told of a request, by its id or as last", ArgsUsage: "ID",
			Flags:  []cli.Flag{command.JSONFlag()},
			Action: func(c *cli.Context) error { return p.aRequest(c, (*api.Client).Request) },
		}, {
			Name: "replay", Usage: "send a request (GET or HEAD) again, without credentials, and print what was done",
			ArgsUsage: "ID", Flags: []cli.Flag{command.JSONFlag()},
			Action: func(c *cli.Context) error { return p.aRequest(c, (*api.Client).ReplayRequest) },
		}, {
			Name: "clear", Usage: "forget all requests, those in memory and those on disk", Action: p.clearRequests,
		}},
	}
}

// withRequests runs ask with a client of the daemon, or, if none runs, of the requests on disk.
func (p *program) withRequests(c *cli.Context, ask func(*api.Client) error) error {
	s, err := p.Load()
	if err != nil {
		return err
	}
	if _, err := os.Stat(settings.RequestsDir(s.DataDir)); err != nil && daemon.Find(c.Context, s.DataDir) == nil {
		return terminal.WithHint(errors.New("no daemon runs, and no requests are kept on disk"),
			"start one with \"readthru serve\"; requests.last in the configuration says how many are kept")
	}
	return p.WithClient(c.Context, ask)
}

func (p *program) clearRequests(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return p.withRequests(c, func(b *api.Client) error { return b.ClearRequests(c.Context) })
}

// listRequests prints the requests of the journal that match a filter, the newest first: as a table, as JSON, or as an
// export (HAR or lines of JSON).
func (p *program) listRequests(c *cli.Context) error {
	limit, err := command.LimitOf(c)
	if err != nil {
		return err
	}
	filter := strings.Join(c.Args().Slice(), " ")
	return p.withRequests(c, func(b *api.Client) (err error) {
		if name, ok := strings.CutPrefix(filter, "view:"); ok {
			if filter, err = viewNamed(c.Context, b, name); err != nil {
				return err
			}
		}
		switch {
		case c.Bool("har"):
			return b.ExportRequests(c.Context, api.RequestExport{Filter: filter, Format: "har"}, p.Out)
		case c.Bool("jsonl"):
			return b.ExportRequests(c.Context, api.RequestExport{Filter: filter, Format: "jsonl"}, p.Out)
		}
		list, err := b.Requests(c.Context, api.RequestQuery{Filter: filter, Limit: limit, Cursor: c.String("cursor")})
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return p.PrintJSON(list)
		}
		rows := [][]string{{
			"ID", "TIME", "METHOD", "STATUS", "OUTCOME", "MS", "BYTES", "TOKENS", "DOOR", "READER", "URL", "WHY",
		}}
		for _, e := range list.Requests {
			why := ""
			if e.Unusual() {
				why = e.Why
			}
			rows = append(rows, []string{
				e.ID, e.Time.Local().Format(time.DateTime), e.Method, strconv.Itoa(e.Status), e.Outcome,
				strconv.FormatInt(e.MS, 10), strconv.FormatInt(e.BytesOut, 10), strconv.Itoa(e.Tokens), e.Door, e.Reader(), e.URL,
				why,
			})
		}
		p.More(c, list.Next)
		if len(list.Requests) == 0 && list.Next == "" && filter != "" {
			note := fmt.Sprintf("no request matches %q", filter)
			if list.Instead != "" {
				note += fmt.Sprintf("; %q finds some", list.Instead)
			}
			p.Note("%s", note)
		}
		for _, w := range list.Warnings {
			p.Note("requests on disk: %s", w)
		}
		for i, r := range rows {
			if c.Command.Name == "requests" { // the former name, whose columns scripts read
				rows[i] = slices.Concat(r[:7], r[8:9], r[10:11])
			}
		}
		return p.Table(rows[0], rows[1:])
	})
}

// viewNamed returns the filter of a view of requests, which the dashboard saves.
func viewNamed(ctx context.Context, b *api.Client, name string) (string, error) {
	list, err := b.Views(ctx)
	if err != nil {
		return "", err
	}
	var names []string
	for _, v := range list.Views {
		if strings.EqualFold(v.Name, name) {
			return v.Filter, nil
		}
		names = append(names, v.Name)
	}
	return "", terminal.WithHint(terminal.Usagef("there is no view %q", name), "the views are "+strings.Join(names, ", "))
}

// aRequest prints what a call says of the request that the argument names.
func (p *program) aRequest(c *cli.Context,
	ask func(*api.Client, context.Context, string) (*journal.Entry, error),
) error {
	id, err := command.OneArg(c.Args().Slice(), "ID")
	if err != nil {
		return err
	}
	return p.withRequests(c, func(b *api.Client) error {
		if id, err = requestID(c.Context, b, id); err != nil {
			return err
		}
		e, err := ask(b, c.Context, id)
		if err != nil {
			return err
		}
		stored := e.Doc
		if stored != "" {
			if _, err := b.Versions(c.Context, stored); api.CodeOf(err) == api.CodeNotFound {
				stored += ", deleted since"
			}
		}
		if err := p.printRequest(c, e, stored); err != nil {
			return err
		}
		if stored == e.Doc && e.Tokens >= command.Dear {
			p.Note("readthru pages outline --tokens %s says where the tokens are", stored)
			p.Note("%s", command.ForLess(e.URL))
		}
		return nil
	})
}

// requestID returns the id of the request that an argument names: itself, or that of the last one.
func requestID(ctx context.Context, b *api.Client, id string) (string, error) {
	if id != "last" {
		return id, nil
	}
	list, err := b.Requests(ctx, api.RequestQuery{Limit: 1})
	if err != nil {
		return "", err
	}
	if len(list.Requests) == 0 {
		return "", errors.New("no request was told yet")
	}
	return list.Requests[0].ID, nil
}

// printRequest prints all that is told of a request, with what is to be said of its page.
func (p *program) printRequest(c *cli.Context, e *journal.Entry, stored string) error {
	if c.Bool("json") {
		return p.PrintJSON(e)
	}
	rows := [][]string{
		{"request", e.Method + " " + e.URL},
		{"time", e.Time.Local().Format(time.RFC3339) + ", " + (time.Duration(e.Micros) * time.Microsecond).String()},
		{"answer", strings.TrimSpace(fmt.Sprintf("%d %s", e.Status, e.Type)) +
			fmt.Sprintf(", %d bytes of %d", e.BytesOut, e.BytesIn)},
		{"door", e.Door},
		{"outcome", e.Outcome},
		{"why", e.Why},
		{"decided by", e.Section},
		{"rule", e.Rule},
		{"form", e.Form},
		{"intercepted", e.Taken},
		{"tunnelled", e.Tunnel},
		{"client", e.Client},
		{"user", e.User},
		{"session", e.Session},
		{"agent", e.Agent},
		{"page", stored},
		{"source", e.Source},
		{"error", e.Error},
	}
	if e.Tokens > 0 {
		rows = append(rows, []string{"tokens", fmt.Sprintf("%d, of HTML %d", e.Tokens, e.HTMLTokens)})
	}
	for _, w := range e.Warnings {
		rows = append(rows, []string{"warning", w})
	}
	if e.OriginMS > 0 || e.OriginStatus > 0 {
		answered := "origin answered"
		if e.OriginStatus > 0 {
			answered += " " + strconv.Itoa(e.OriginStatus)
		}
		rows = append(rows, []string{"step", fmt.Sprintf("%s, %d ms", answered, e.OriginMS)})
	}
	for _, a := range e.Attempts {
		rows = append(rows, []string{"step", fmt.Sprintf("%s %s, %d ms %s", a.Step, a.Outcome, a.MS, a.Reason)})
	}
	for _, f := range e.Asked.List() {
		rows = append(rows, []string{"asked", f.Name + ": " + f.Value})
	}
	for _, f := range e.Answered.List() {
		rows = append(rows, []string{"answered", f.Name + ": " + f.Value})
	}
	for _, row := range rows {
		if row[1] == "" {
			continue
		}
		if _, err := fmt.Fprintf(p.Out, "%-12s %s\n", row[0], terminal.Printable(row[1])); err != nil {
			return err
		}
	}
	return nil
}
