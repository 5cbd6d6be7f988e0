package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"
)

func jsonFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

// noArgs returns an error if a command that takes no arguments has one.
func noArgs(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// oneArg returns the only argument of a command; what names it.
func oneArg(args []string, what string) (string, error) {
	switch {
	case len(args) == 0:
		return "", usagef("%s is missing", what)
	case len(args) > 1:
		return "", usagef("want one %s: unexpected argument %q", what, args[1])
	}
	return args[0], nil
}

func limitFlag() cli.Flag {
	return &cli.IntFlag{Name: "limit", Value: 50, Usage: "print at most `N`, up to 500"}
}

func cursorFlag() cli.Flag {
	return &cli.StringFlag{Name: "cursor", Usage: "continue at `CURSOR` of the list before"}
}

func limitOf(c *cli.Context) (int, error) {
	if n := c.Int("limit"); n >= 1 && n <= 500 {
		return n, nil
	}
	return 0, usagef("--limit: %d is not a number from 1 to 500", c.Int("limit"))
}

// more says that a list goes on. It is silent to a user at a terminal who chose the limit.
func (p *program) more(c *cli.Context, cursor string) {
	if cursor != "" && (!c.IsSet("limit") || !terminal(p.out)) {
		p.note("there are more: --cursor %s", cursor)
	}
}

func sessionFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "session", EnvVars: []string{"READTHRU_SESSION"},
		Usage: "`NAME` of the session, stored with visits",
	}
}

// oneOf returns an error if the value of a flag is not one of some words.
func oneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return usagef("--%s: %q is not one of %v", flag, value, fmt.Sprint(words))
}

// isDeleted says that something was deleted.
type isDeleted struct {
	Deleted bool `json:"deleted"`
}

// contentFlags select a part of a page and its form.
func contentFlags() []cli.Flag {
	return []cli.Flag{
		&cli.BoolFlag{Name: "whole-page", Usage: "keep navigation, footer and the like"},
		&cli.StringFlag{Name: "selector", Usage: "`CSS` selector of what to keep"},
		&cli.StringFlag{Name: "drop", Usage: "`CSS` selector of what to leave out"},
		&cli.StringFlag{
			Name: "links", Usage: "`FORM` of links: inline, compact, reference, text or none",
			DefaultText: "convert.links",
		},
		&cli.StringFlag{Name: "images", Usage: "`FORM` of images: keep, alt or none", DefaultText: "convert.images"},
		&cli.BoolFlag{
			Name:  "receipts",
			Usage: "print on standard error what was removed because no reader sees it; with json in the page object",
		},
	}
}

// named returns c under another name.
func named(name string, c *cli.Command) *cli.Command {
	c.Name = name
	return c
}

// hidden returns c, which the help does not list.
func hidden(c *cli.Command) *cli.Command {
	c.Hidden = true
	return c
}

// sub returns the subcommand of c with a name, which c has.
func sub(c *cli.Command, name string) *cli.Command {
	return c.Subcommands[slices.IndexFunc(c.Subcommands, func(s *cli.Command) bool { return s.Name == name })]
}

// former hides c, a command under a former name, and has it and its subcommands say on a terminal what they are called
// now. A script's standard error stays as it was.
func (p *program) former(c *cli.Command, now string) *cli.Command {
	if do := c.Action; do != nil {
		c.Action = func(ctx *cli.Context) error {
			if terminal(p.err) {
				p.note("this command is called \"readthru %s\" now", now)
			}
			return do(ctx)
		}
	}
	for _, s := range c.Subcommands {
		p.former(s, now+" "+s.Name)
	}
	return hidden(c)
}
