package operate

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/page"
)

// cacheCommand is the command cache: the stored responses of the HTTP cache. Pages, which were made of them, stay.
func (p *program) cacheCommand() *cli.Command {
	return &cli.Command{
		Name:  "cache",
		Usage: "inspect and empty the HTTP cache",
		Subcommands: []*cli.Command{
			{Name: "get", Usage: "show the stored responses of a URL", ArgsUsage: "URL", Flags: []cli.Flag{
				&cli.BoolFlag{Name: "explain", Usage: "print why they would or would not answer a fetch now"}, command.JSONFlag(),
			}, Action: p.cacheGet},
			{
				Name: "rm", Usage: "remove stored responses and print how many", ArgsUsage: "URL",
				Flags: []cli.Flag{
					&cli.StringFlag{Name: "host", Usage: "remove all responses of `HOST`"},
					&cli.StringFlag{Name: "prefix", Usage: "remove the responses of all URLs that begin with `URL`"},
					&cli.StringFlag{Name: "tag", Usage: "remove the responses that the origin tagged `TAG`"},
					command.JSONFlag(),
				},
				Action: p.cacheRemove,
			},
			{
				Name: "clear", Usage: "remove all stored responses; pages stay", Flags: []cli.Flag{command.JSONFlag()},
				Action: command.All(p.Program, (*api.Client).ClearCache, p.printRemoved),
			},
			{
				Name: "gc", Usage: "remove stored responses that have expired; pages stay", Flags: []cli.Flag{command.JSONFlag()},
				Description: "A response has expired if it needs validation by its origin before it may be used again. The\n" +
					"daemon keeps such responses for cache.stale_limit or longer, because validating is faster than fetching,\n" +
					"and because they answer while the origin cannot be reached. gc also removes damaged responses. Offline,\n" +
					"nothing has expired.",
				Action: command.All(p.Program, (*api.Client).SweepCache, p.printRemoved),
			},
			{Name: "stats", Usage: "print the cache's figures", Flags: []cli.Flag{command.JSONFlag()}, Action: p.cacheStats},
		},
	}
}

// cacheGet lists the stored responses of a URL, or with --explain says why they would or would not answer. It fails if
// there are none and, without --explain, if none is fresh (rule B28).
func (p *program) cacheGet(c *cli.Context) error {
	url, err := command.OneArg(c.Args().Slice(), "URL")
	if err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		list, err := b.Cached(c.Context, url, c.Bool("explain"))
		if err != nil {
			return err
		}
		if c.Bool("json") {
			if err := p.PrintJSON(list); err != nil {
				return err
			}
		}
		if len(list.Entries) == 0 {
			return fmt.Errorf("nothing is stored for %s", page.MaskString(list.URL))
		}
		if c.Bool("json") {
			if c.Bool("explain") {
				return nil
			}
			return stale(list)
		}
		var text strings.Builder
		if c.Bool("explain") {
			for _, line := range list.Explanation {
				if line.Section != "" {
					fmt.Fprintf(&text, "  §%-9s%s\n", line.Section, line.Text)
				} else {
					text.WriteString(line.Text + "\n")
				}
			}
			return p.Print(text.String())
		}
		for i, e := range list.Entries {
			if i > 0 {
				text.WriteString("\n")
			}
			fmt.Fprintf(&text, "%d %s\nstored: %s, %d bytes\n", e.Status, http.StatusText(e.Status),
				terminal.Day(e.ResponseTime),
				e.Length)
			names := slices.Sorted(maps.Keys(e.Header))
			for _, name := range names {
				for _, v := range e.Header[name] {
					fmt.Fprintf(&text, "%s: %s\n", name, v)
				}
			}
		}
		if err := p.Print(text.String()); err != nil {
			return err
		}
		return stale(list)
	})
}

// stale returns an error if no stored response answers a fetch: to a reader of the cache that is a miss (rule B28).
func stale(list *api.CacheEntries) error {
	if list.Fresh {
		return nil
	}
	return terminal.WithHint(fmt.Errorf("the stored response for %s is stale: it will be validated before use",
		page.MaskString(list.URL)), "see \"readthru store cache get --explain\"")
}

// cacheRemove removes stored responses by URL, host, prefix or tag: exactly one of these.
func (p *program) cacheRemove(c *cli.Context) error {
	sel := api.Selection{URL: c.Args().First(), Host: c.String("host"), Prefix: c.String("prefix"), Tag: c.String("tag")}
	if c.NArg() > 1 || len(slices.DeleteFunc([]string{sel.URL, sel.Host, sel.Prefix, sel.Tag},
		func(s string) bool { return s == "" })) != 1 {
		return terminal.Usagef("name exactly one of URL, --host, --prefix and --tag")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Removed, error) { return b.Uncache(c.Context, sel) },
		func(n *api.Removed) error {
			if n.Removed == 0 && n.Fetched == 0 {
				return p.Print("nothing was stored\n")
			}
			return p.printRemoved(n)
		})
}

func (p *program) printRemoved(n *api.Removed) error {
	if n.Fetched > 0 {
		p.Note("removed %s from what sessions have fetched", terminal.Count(n.Fetched, "page"))
	}
	_, err := fmt.Fprintf(p.Out, "removed %s\n", terminal.Count(n.Removed, "stored response"))
	return err
}

// cacheStats prints the cache's part of the figures.
func (p *program) cacheStats(c *cli.Context) error {
	if err := command.NoArgs(c.Args().Slice()); err != nil {
		return err
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		st, err := b.Stats(c.Context)
		if err != nil {
			return err
		}
		if c.Bool("json") {
			return p.PrintJSON(st.Cache)
		}
		_, err = fmt.Fprintf(p.Out,
			"entries      %d\nbytes        %d\nhits         %d\nmisses       %d\nrevalidated  %d\nstale        %d\nbypass     "+
				"  %d\nhit ratio    %.2f\n",
			st.Cache.Entries, st.Cache.Bytes, st.Cache.Hits, st.Cache.Misses, st.Cache.Revalidated, st.Cache.Stale,
			st.Cache.Bypass, st.Cache.HitRatio)
		return err
	})
}
