package remember

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/knowledge"
	"github.com/readthru/readthru/page"
)

// searchCommand is the command search over pages, bases and notes. With a subject and without a query it prints what is
// about the subject, as much as --limit allows.
func (p *program) searchCommand() *cli.Command {
	return &cli.Command{
		Name:        "search",
		Usage:       "search pages that were read, knowledge bases and notes",
		ArgsUsage:   "QUERY…",
		Description: "The query is words, \"phrases\" and prefixes*. A page can be found within seconds of being read.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "kb", Usage: "search only the knowledge base `BASE`"},
			&cli.StringFlag{
				Name: "subject", Usage: "search only passages and notes about `SUBJECT`; without QUERY, print all",
			},
			&cli.StringFlag{Name: "host", Usage: "search only pages of `HOST`"},
			&cli.StringFlag{Name: "since", Usage: "search only pages read since `TIME`: a day, a time, or an age (36h, 7d)"},
			&cli.StringSliceFlag{Name: "metadata", Usage: "search only ingested texts that have `NAME=VALUE`"},
			&cli.IntFlag{Name: "limit", Value: 5, Usage: "print at most `N` hits, up to 500"},
			&cli.BoolFlag{Name: "explain", Usage: "print what each score is made of"},
			command.JSONFlag(),
		},
		Action: func(c *cli.Context) error {
			text := strings.Join(c.Args().Slice(), " ")
			if strings.TrimSpace(text) == "" && c.String("subject") == "" {
				return terminal.WithHint(terminal.Usagef("QUERY is missing"),
					`readthru search "connection pool" --host docs.example.com`)
			}
			limit, err := command.LimitOf(c)
			if err != nil {
				return err
			}
			since, err := api.Since(c.String("since"), time.Now())
			if err != nil {
				return terminal.Mistake(err)
			}
			q := api.SearchQuery{
				Text: text, KB: c.String("kb"), Subject: c.String("subject"), Host: c.String("host"), Since: since, Limit: limit,
				Explain: c.Bool("explain"), Metadata: c.StringSlice("metadata"),
			}
			with := p.WithIndex
			if q.Subject != "" {
				with = p.WithSubjects
			}
			return with(c.Context, func(b *api.Client) error {
				res, err := b.Search(c.Context, q)
				if err != nil {
					return err
				}
				if strings.TrimSpace(text) == "" {
					res.Unknown = nil // nobody asked for words
				}
				if c.Bool("json") {
					return p.PrintJSON(res)
				}
				return p.printHits(res)
			})
		},
	}
}

// printHits prints hits for people.
func (p *program) printHits(res *knowledge.Results) error {
	if res.Degraded {
		p.Note("warning: %s", res.Reason)
	}
	for _, note := range res.Notes() {
		p.Note("%s", note)
	}
	if len(res.Hits) == 0 {
		p.Note("nothing found")
		return nil
	}
	var text strings.Builder
	for i, h := range res.Hits {
		if i > 0 {
			text.WriteString("\n")
		}
		title := cmp.Or(h.Title, h.URL)
		fmt.Fprintf(&text, "%d. %s\n   %s\n", i+1, title, page.MaskString(cmp.Or(h.Link, h.URL)))
		if h.Heading != "" {
			fmt.Fprintf(&text, "   %s\n", h.Heading)
		}
		for line := range strings.Lines(h.Snippet) {
			if line = strings.TrimSpace(line); line != "" {
				fmt.Fprintf(&text, "   | %s\n", line)
			}
		}
		if h.Statement != "" {
			fmt.Fprintf(&text, "   a model says of it: %s\n", h.Statement)
		}
		if len(h.Pages) > 0 {
			fmt.Fprintf(&text, "   a note about %s\n", strings.Join(h.Pages, " "))
		}
		if len(h.Notes) > 0 {
			fmt.Fprintf(&text, "   notes about it: %s\n", strings.Join(h.Notes, " "))
		}
		if len(h.Also) > 0 {
			fmt.Fprintf(&text, "   also at %s\n", strings.Join(h.Also, " "))
		}
		fmt.Fprintf(&text, "   passage %s  score %.2f  read %s\n", h.Passage, h.Score, terminal.Day(h.FetchedAt))
		for _, t := range h.Explain {
			fmt.Fprintf(&text, "   %8.3f %s\n", t.Score, reasonOf(t))
		}
	}
	return p.Print(terminal.Printable(text.String()))
}

// reasonOf tells a part of a score in words.
func reasonOf(t knowledge.Term) string {
	switch t.Field {
	case "title":
		return fmt.Sprintf("%q is in the title", t.Term)
	case "path":
		return fmt.Sprintf("%q is in the headings above", t.Term)
	case "phrase":
		return fmt.Sprintf("%q stands there word for word", t.Term)
	case "near":
		first, second, _ := strings.Cut(t.Term, " ")
		return fmt.Sprintf("%q and %q stand near each other", first, second)
	case "kind":
		return "the passage is a " + t.Term
	case "site":
		return "the query names the site"
	case "definition":
		return "the page defines what the query names"
	case "vectors":
		return "the passage means something like it"
	case "reranker":
		return "the reranker finds the passage relevant"
	case "passages":
		return "other passages of the page suit, too"
	}
	return fmt.Sprintf("%q is in the %s", t.Term, t.Field)
}

// outlinePage, sectionOfPage and verifyQuote are subcommands of pages.
func (p *program) outlinePage(c *cli.Context) error {
	ref, err := command.OneArg(c.Args().Slice(), "URL")
	if err != nil {
		return err
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.Outline, error) { return b.Outline(c.Context, ref) },
		func(o *api.Outline) error {
			if c.Bool("tokens") {
				return p.printCosts(o)
			}
			var text strings.Builder
			for _, h := range o.Headings {
				fmt.Fprintf(&text, "%s%s #%s\n", strings.Repeat("  ", h.Level-1), h.Title, h.Fragment)
			}
			return p.Print(terminal.Printable(text.String()))
		})
}

// printCosts prints where the tokens of a page are, the most first: by kind of block, and by section. Those that have
// next to none are counted together.
func (p *program) printCosts(o *api.Outline) error {
	var text strings.Builder
	line := func(tokens int, name string) {
		fmt.Fprintf(&text, "%8d %4.0f%%  %s\n", tokens, 100*float64(tokens)/float64(max(o.Tokens, 1)), name)
	}
	line(o.Tokens, "tokens in all, about")
	text.WriteString("\nby kind\n")
	for _, k := range o.Kinds {
		line(k.Tokens, fmt.Sprintf("%s (%d)", k.Kind, k.Blocks))
	}
	if o.LinkTokens > 0 {
		line(o.LinkTokens, "of these, addresses of links")
	}
	text.WriteString("\nby section, without those below it\n")
	sections := slices.Clone(o.Headings)
	sort.SliceStable(sections, func(i, j int) bool { return sections[i].Tokens > sections[j].Tokens })
	rest, small := 0, 0
	for _, h := range sections {
		if h.Tokens*200 < o.Tokens { // it would be 0 %
			rest, small = rest+1, small+h.Tokens
			continue
		}
		line(h.Tokens, fmt.Sprintf("%s #%s", h.Title, h.Fragment))
	}
	if rest > 0 {
		line(small, fmt.Sprintf("%s of less than 0.5 %% each", terminal.Count(rest, "section")))
	}
	if o.Tokens >= command.Dear {
		p.Note("%s", command.ForLess(o.URL))
	}
	return p.Print(terminal.Printable(text.String()))
}

// docDigits is how many hex digits the id of a page has, with which those of its passages begin.
const docDigits = 16

// sectionOfPage prints one section of a stored page, by its heading, its fragment, or the passage of a search hit,
// whose id names the page, too.
func (p *program) sectionOfPage(c *cli.Context) error {
	args := c.Args().Slice()
	if doc, _, ok := strings.Cut(c.Args().First(), "-"); ok && len(args) == 1 && len(doc) == docDigits &&
		strings.Trim(doc, "0123456789abcdef") == "" {
		args = []string{doc, args[0]}
	}
	if len(args) != 2 {
		return terminal.Usagef("want URL and the heading or fragment of a section, or the passage of a hit")
	}
	return command.Show(p.Program, c, func(b *api.Client) (*api.SectionText, error) {
		return b.Section(c.Context, args[0], args[1])
	}, func(s *api.SectionText) error {
		return p.Print(s.Content)
	})
}

// verifyQuote tells where a sentence stands in a stored page, or in an earlier version of it, or in whichever page has
// it. If it stands in none, it prints the nearest sentence, and the exit status is 1.
func (p *program) verifyQuote(c *cli.Context) error {
	args := c.Args().Slice()
	if len(args) != 1 && len(args) != 2 {
		return terminal.Usagef("want the sentence to look for, with the URL of its page before it if that is known")
	}
	return p.WithClient(c.Context, func(b *api.Client) error {
		q, err := checkQuote(c.Context, b, args)
		if err != nil {
			return err
		}
		if len(args) == 1 && q.Found {
			p.Note("in %s", q.URL)
		}
		if c.Bool("json") {
			if err := p.PrintJSON(q); err != nil {
				return err
			}
		}
		switch where := strings.Join(q.Path, " › "); {
		case !q.Found && q.Nearest == "":
			p.Note("not found, and no sentence is like it")
			return terminal.ExitError(1)
		case !q.Found:
			p.Note("not found; nearest sentence (%.0f%% of the words): %s", 100*q.Likeness, q.Nearest)
			return terminal.ExitError(1)
		case c.Bool("json"):
		case q.Current || q.Version == "":
			return p.Print("found in line " + strconv.Itoa(q.Line) + under(where) + "\n")
		default:
			return p.Print(fmt.Sprintf("found in the version of %s, but not in the newest: line %d%s\n", terminal.Day(q.Time),
				q.Line,
				under(where)))
		}
		return nil
	})
}

// checkQuote looks for a sentence in a page, or, if none is named, in those that a search for it finds.
func checkQuote(ctx context.Context, b *api.Client, args []string) (*api.QuoteCheck, error) {
	if len(args) == 2 {
		return b.VerifyQuote(ctx, args[0], args[1])
	}
	hits, err := b.Search(ctx, api.SearchQuery{Text: args[0], Limit: 10})
	if err != nil {
		return nil, err
	}
	nearest := &api.QuoteCheck{}
	for _, h := range hits.Hits {
		q, err := b.VerifyQuote(ctx, h.Doc, args[0])
		if err != nil {
			return nil, err
		}
		if q.Found {
			return q, nil
		}
		if q.Likeness > nearest.Likeness {
			nearest = q
		}
	}
	return nearest, nil
}

func under(where string) string {
	if where == "" {
		return ""
	}
	return " under " + where
}
