package command

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// UnknownCommand returns the error for a name that is none of commands, with those that may be meant. Prefix is what
// stands before their names.
func UnknownCommand(commands []*cli.Command, prefix, name string) error {
	hint := fmt.Sprintf("see \"readthru %s--help\"", prefix)
	if best := Meant(name, commands, prefix == ""); len(best) > 0 {
		hint = fmt.Sprintf("did you mean \"readthru %s%s\"?", prefix, strings.Join(best, "\" or \"readthru "+prefix))
	}
	return terminal.WithHint(terminal.Usagef("unknown command %q", prefix+name), hint)
}

// Meant returns the commands by which other programs would call what name says, or one whose name is nearly that. Top
// says whether commands are those of the program, and not the subcommands of one.
func Meant(name string, commands []*cli.Command, top bool) (found []string) {
	known := slices.DeleteFunc(slices.Clone(commands), func(c *cli.Command) bool { return c.Hidden })
	if len(known) == 0 {
		known = commands // of a former name
	}
	if top {
		for _, ours := range slices.Sorted(maps.Keys(Synonyms)) {
			if slices.Contains(strings.Fields(Synonyms[ours]), name) {
				found = append(found, ours)
			}
		}
	} else {
		for _, c := range known {
			if slices.Contains(strings.Fields(Verbs[c.Name]), name) {
				return []string{c.Name}
			}
		}
	}
	if best := nearest(name, known); len(found) == 0 && best != "" {
		found = []string{best}
	}
	return found
}

// OptionMeant says which of some options may be meant by what is none of them, or which there are.
func OptionMeant(name string, flags []cli.Flag) string {
	var names []string
	for _, f := range flags {
		if long := f.Names()[0]; long != "help" {
			names = append(names, long)
		}
	}
	if best := nearestOf(strings.TrimLeft(name, "-"), names); best != "" {
		return "did you mean --" + best + "?"
	}
	return "the options are --" + strings.Join(names, ", --")
}

// nearest returns the name of the command nearest to name, or "".
func nearest(name string, commands []*cli.Command) string {
	var names []string
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return nearestOf(name, names)
}

// nearestOf returns the name that is nearest to another one, at most two edits away and not all of it, or "".
func nearestOf(name string, names []string) string {
	best, distance := "", min(3, len(name))
	for _, n := range names {
		if d := edits(name, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits returns the least number of insertions, deletions, replacements and swaps of neighbours that turn a into b.
func edits(a, b string) int {
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, last[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, last, row = last, row, before
	}
	return last[len(b)]
}

// Synonyms are what other programs call our commands, by ours.
var Synonyms = map[string]string{
	"setup": "install init", "serve": "start up daemon proxy", "doctor": "health", "service status": "status",
	"log": "logs tail history", "service upgrade": "update self-update", "pages": "ls list", "kb": "bases knowledge",
	"fetch": "get read open-url scrape curl", "stop": "down quit kill", "--help": "man commands", "site": "host hosts",
	"pages rm": "remove rm delete del", "uninstall": "remove", "stats": "status figures metrics",
}

// Verbs are what other programs call the verbs of our commands, by ours.
var Verbs = map[string]string{
	"rm": "remove delete del forget clear", "forget": "remove rm delete del clear", "clear": "remove rm delete del forget",
	"list": "ls all", "show": "get info view cat", "get": "show info view cat",
	"add": "new create make set", "new": "add create make", "set": "add change edit",
}
