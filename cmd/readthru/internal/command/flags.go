package command

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// JSONFlag has a command print JSON.
func JSONFlag() cli.Flag { return &cli.BoolFlag{Name: "json", Usage: "print JSON"} }

// NoArgs returns an error if a command that takes no arguments has one.
func NoArgs(args []string) error {
	if len(args) > 0 {
		return terminal.Usagef("unexpected argument %q", args[0])
	}
	return nil
}

// OneArg returns the only argument of a command; what names it.
func OneArg(args []string, what string) (string, error) {
	switch {
	case len(args) == 0:
		return "", terminal.Usagef("%s is missing", what)
	case len(args) > 1:
		return "", terminal.Usagef("want one %s: unexpected argument %q", what, args[1])
	}
	return args[0], nil
}

// LimitFlag says how long a list is; see LimitOf.
func LimitFlag() cli.Flag {
	return &cli.IntFlag{Name: "limit", Value: 50, Usage: "print at most `N`, up to 500"}
}

// CursorFlag says where a list continues.
func CursorFlag() cli.Flag {
	return &cli.StringFlag{Name: "cursor", Usage: "continue at `CURSOR` of the list before"}
}

// LimitOf returns the value of LimitFlag.
func LimitOf(c *cli.Context) (int, error) {
	if n := c.Int("limit"); n >= 1 && n <= 500 {
		return n, nil
	}
	return 0, terminal.Usagef("--limit: %d is not a number from 1 to 500", c.Int("limit"))
}

// More says that a list goes on. It is silent to a user at a terminal who chose the limit.
func (p *Program) More(c *cli.Context, cursor string) {
	if cursor != "" && (!c.IsSet("limit") || !terminal.Is(p.Out)) {
		p.Note("there are more: --cursor %s", cursor)
	}
}

// SessionFlag names the session of what is read.
func SessionFlag() cli.Flag {
	return &cli.StringFlag{
		Name: "session", EnvVars: []string{"READTHRU_SESSION"},
		Usage: "`NAME` of the session, stored with visits",
	}
}

// OneOf returns an error if the value of a flag is not one of some words.
func OneOf(flag, value string, words ...string) error {
	if slices.Contains(words, value) {
		return nil
	}
	return terminal.Usagef("--%s: %q is not one of %v", flag, value, fmt.Sprint(words))
}

// IsDeleted says that something was deleted.
type IsDeleted struct {
	Deleted bool `json:"deleted"`
}

// ContentFlags select a part of a page and its form.
func ContentFlags() []cli.Flag {
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

// Named returns c under another name.
func Named(name string, c *cli.Command) *cli.Command {
	c.Name = name
	return c
}

// Hidden returns c, which the help does not list.
func Hidden(c *cli.Command) *cli.Command {
	c.Hidden = true
	return c
}

// Sub returns the subcommand of c with a name, which c has.
func Sub(c *cli.Command, name string) *cli.Command {
	return c.Subcommands[slices.IndexFunc(c.Subcommands, func(s *cli.Command) bool { return s.Name == name })]
}

// Former hides c, a command under a former name, and has it and its subcommands say on a terminal what they are called
// now. A script's standard error stays as it was.
func (p *Program) Former(c *cli.Command, now string) *cli.Command {
	if do := c.Action; do != nil {
		c.Action = func(ctx *cli.Context) error {
			if terminal.Is(p.Err) {
				p.Note("this command is called \"readthru %s\" now", now)
			}
			return do(ctx)
		}
	}
	for _, s := range c.Subcommands {
		p.Former(s, now+" "+s.Name)
	}
	return Hidden(c)
}
