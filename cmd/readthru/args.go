package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// hoist moves the flags of a command before its arguments, so that "fetch URL --json" means "fetch --json URL".
// Arguments after "--" stay, and so do all after "run": their flags belong to the command that it runs.
func hoist(app *cli.App, args []string) []string {
	if len(args) == 0 {
		return args
	}
	head, rest := args[:1], args[1:]
	flags, commands := app.Flags, app.Commands
	var leaf *cli.Command
	for len(rest) > 0 {
		if isFlag(rest[0]) {
			n := min(flagLength(flags, rest[0]), len(rest))
			head, rest = slices.Concat(head, rest[:n]), rest[n:]
			continue
		}
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(rest[0]) })
		if i < 0 {
			break
		}
		leaf = commands[i]
		head, rest = slices.Concat(head, rest[:1]), rest[1:]
		flags, commands = leaf.Flags, leaf.Subcommands
	}
	if leaf == nil || leaf.Name == "run" || leaf.SkipFlagParsing || len(leaf.Subcommands) > 0 && leaf.Action == nil {
		return append(slices.Clip(head), rest...)
	}
	var moved, positional []string
	for len(rest) > 0 {
		switch {
		case rest[0] == "--":
			positional = append(positional, rest[1:]...)
			rest = nil
		case isFlag(rest[0]):
			n := min(flagLength(flags, rest[0]), len(rest))
			moved, rest = append(moved, rest[:n]...), rest[n:]
		default:
			positional, rest = append(positional, rest[0]), rest[1:]
		}
	}
	if slices.Contains(moved, "--help") || slices.Contains(moved, "-h") {
		return append(slices.Clip(head), "--help") // arguments would be taken for topics
	}
	out := append(slices.Clip(head), moved...)
	if len(positional) > 0 {
		out = append(append(out, "--"), positional...)
	}
	return out
}

// isFlag reports whether an argument is a flag. "-" is standard input, and "--" ends the flags.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' && arg != "--" }

// flagLength returns how many arguments a flag takes, including itself.
func flagLength(flags []cli.Flag, arg string) int {
	name, _, joined := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	if joined {
		return 1
	}
	for _, f := range flags {
		if !slices.Contains(f.Names(), name) {
			continue
		}
		if _, ok := f.(*cli.BoolFlag); ok {
			return 1
		}
		return 2
	}
	return 1
}
