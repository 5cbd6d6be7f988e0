package main

import (
	"context"
	"fmt"
	"maps"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/lazy"
)

// A choice is a word that a command line may go on with.
type choice struct{ text, about string }

// completeCommand is what the scripts of "completion" ask for the choices for the word at an index of a command line:
//
//	readthru __complete SHELL INDEX WORD…
//
// INDEX counts from the program's name, which is not among the words. The shell completes file names where nothing is
// printed. It never fails: an error would only disturb who types.
func (p *program) completeCommand() *cli.Command {
	return &cli.Command{
		Name: "__complete", Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if len(args) < 2 {
				return nil
			}
			at, err := strconv.Atoi(args[1])
			if err != nil || at < 1 {
				return nil
			}
			words := args[2:]
			if len(words) < at {
				words = append(slices.Clip(words), "")
			}
			shell := shells[args[0]]
			if shell == nil {
				return nil
			}
			ctx, cancel := context.WithTimeout(c.Context, completionTime)
			defer cancel()
			choose := func(words []string) []choice { return p.choices(ctx, words) }
			return p.Print(shell(words[:min(at, len(words))], choose))
		},
	}
}

// completionTime is for how long a person who presses a key waits for choices at most.
var completionTime = time.Second

// choices returns what may stand in the place of the last word.
func (p *program) choices(ctx context.Context, words []string) []choice {
	last := len(words) - 1
	at, word := p.walk(words[:last]), words[last] //nolint:contextcheck // it only reads the table of commands
	var found []choice
	flag, value, hasValue := strings.Cut(word, "=")
	switch {
	case at.flag != nil:
		found = p.values(ctx, usageOf(at.flag), word)
	case !at.noFlags && strings.HasPrefix(word, "-") && hasValue:
		if f := flagNamed(at.flags, flag); f != nil {
			for _, v := range p.values(ctx, usageOf(f), value) {
				found = append(found, choice{flag + "=" + v.text, v.about})
			}
		}
	case !at.noFlags && strings.HasPrefix(word, "-"):
		for _, f := range at.flags {
			if name := f.Names()[0]; !at.given[name] {
				found = append(found, choice{"--" + name, strings.ReplaceAll(usageOf(f), "`", "")})
			}
		}
	case len(at.commands) > 0 && at.args == 0:
		for _, c := range at.commands {
			if !c.Hidden {
				found = append(found, choice{c.Name, c.Usage})
			}
		}
	default:
		found = p.values(ctx, at.placeholder(), word)
	}
	return slices.DeleteFunc(found, func(c choice) bool { return !strings.HasPrefix(c.text, word) })
}

// A place is where on a command line the next word stands.
type place struct {
	command  *cli.Command // nil before the first
	commands []*cli.Command
	flags    []cli.Flag
	given    map[string]bool // flags that may not be repeated
	flag     cli.Flag        // whose value the word is
	args     int             // arguments before the word
	noFlags  bool
}

// walk reads the words before a place as [hoist] does. Common flags among them are set.
func (p *program) walk(words []string) *place {
	app := p.app()
	at := &place{commands: app.Commands, flags: append(app.Flags, cli.HelpFlag), given: map[string]bool{}}
	for len(words) > 0 {
		word := words[0]
		words = words[1:]
		switch {
		case at.noFlags:
			at.args++
		case word == "--":
			at.noFlags = true
		case isFlag(word):
			f, n := flagNamed(at.flags, word), flagLength(at.flags, word)
			if f == nil {
				continue
			}
			if _, repeats := f.(*cli.StringSliceFlag); !repeats {
				at.given[f.Names()[0]] = true
			}
			_, value, _ := strings.Cut(word, "=")
			if n == 2 {
				if len(words) == 0 {
					at.flag = f
					break
				}
				value, words = words[0], words[1:]
			}
			switch f.Names()[0] {
			case "data-dir":
				p.DataDirFlag = value
			case "config":
				p.ConfigFlag = value
			}
		default:
			i := slices.IndexFunc(at.commands, func(c *cli.Command) bool { return c.HasName(word) })
			if at.args > 0 || i < 0 || at.command != nil && at.command.Name == "help" && len(at.commands) == 0 {
				at.args++
				at.noFlags = at.command != nil && at.command.Name == "run"
				continue
			}
			c := at.commands[i]
			if at.command == nil || at.command.Name != "help" {
				at.command, at.flags = c, append(slices.Clip(c.Flags), cli.HelpFlag)
			}
			at.commands = c.Subcommands
			if c.Name == "help" {
				at.commands = app.Commands
			}
		}
	}
	return at
}

// flagNamed returns the flag that an argument names, or nil.
func flagNamed(flags []cli.Flag, arg string) cli.Flag {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	i := slices.IndexFunc(flags, func(f cli.Flag) bool { return slices.Contains(f.Names(), name) })
	if i < 0 {
		return nil
	}
	return flags[i]
}

func usageOf(f cli.Flag) string {
	if f, ok := f.(cli.DocGenerationFlag); ok {
		return f.GetUsage()
	}
	return ""
}

// placeholder returns what the command's usage calls the argument at the place, in back quotes as flags have it. The
// last one may be repeated if it ends in "…".
func (at *place) placeholder() string {
	if at.command == nil {
		return ""
	}
	names := strings.Fields(strings.NewReplacer("[", "", "]", "").Replace(at.command.ArgsUsage))
	if len(names) == 0 || at.args >= len(names) && !strings.HasSuffix(names[len(names)-1], "…") {
		return ""
	}
	return "`" + strings.TrimSuffix(names[min(at.args, len(names)-1)], "…") + "`"
}

var (
	quoted = lazy.Pattern("`([^`]*)`")
	listed = lazy.Pattern(`(?::| is) ((?:[\w-]+, )*[\w-]+ or [\w-]+)(?: \(.*\))?$`)
)

// values returns what may stand for the placeholder of a usage: what it lists itself, else what is stored under that
// name. The word so far narrows what is asked for.
func (p *program) values(ctx context.Context, usage, word string) (found []choice) {
	if m := listed().FindStringSubmatch(usage); m != nil {
		return words(strings.Split(strings.Replace(m[1], " or ", ", ", 1), ", "))
	}
	m := quoted().FindStringSubmatch(usage)
	if m == nil {
		return nil
	}
	name := m[1]
	switch ask := stored[name]; {
	case ask != nil:
		s, err := p.Load()
		if err != nil {
			return nil
		}
		if _, err := os.Stat(s.DataDir); err != nil {
			return nil // nothing is stored, and completion makes no directories
		}
		err = p.WithClient(ctx, func(b *api.Client) (err error) {
			found, err = ask(ctx, b, word)
			return err
		})
		if err != nil {
			return nil
		}
	case name == "AGENT":
		for _, a := range agents.All() {
			found = append(found, choice{text: string(a)})
		}
	case name == strings.ToLower(name):
		found = words(strings.Split(name, "|"))
	}
	return found
}

func words(texts []string) (found []choice) {
	for _, text := range texts {
		found = append(found, choice{text: text})
	}
	return found
}

// manyChoices is how many choices are offered at most: more than anybody reads.
const manyChoices = 500

// stored says what placeholders stand for what is in the store.
var stored = map[string]func(ctx context.Context, b *api.Client, word string) ([]choice, error){
	"URL": pageChoices, "URL|DOC": pageChoices, "HOST": hostChoices,
	"BASE": func(ctx context.Context, b *api.Client, _ string) (found []choice, err error) {
		list, err := b.Bases(ctx)
		if err != nil {
			return nil, err
		}
		for _, base := range list.KBs {
			found = append(found, choice{base.Name, base.Description})
		}
		return found, nil
	},
	"SUBJECT": func(ctx context.Context, b *api.Client, _ string) (found []choice, err error) {
		list, err := b.Subjects(ctx, "", manyChoices)
		if err != nil {
			return nil, err
		}
		for _, s := range list.Subjects {
			found = append(found, choice{s.Name, terminal.Count(s.Passages, "passage")})
		}
		return found, nil
	},
	"JOB": func(ctx context.Context, b *api.Client, _ string) (found []choice, err error) {
		list, err := b.Jobs(ctx)
		if err != nil {
			return nil, err
		}
		for _, j := range list.Jobs {
			found = append(found, choice{j.ID, fmt.Sprintf("%s, %s", j.KB, j.State)})
		}
		return found, nil
	},
	"NOTE": func(ctx context.Context, b *api.Client, _ string) (found []choice, err error) {
		list, err := b.Notes(ctx, api.NoteQuery{Limit: manyChoices})
		if err != nil {
			return nil, err
		}
		for _, n := range list.Notes {
			found = append(found, choice{n.ID, n.Text})
		}
		return found, nil
	},
}

func pageChoices(ctx context.Context, b *api.Client, word string) (found []choice, err error) {
	list, err := b.Pages(ctx, api.PageQuery{Text: word, Limit: manyChoices})
	if err != nil {
		return nil, err
	}
	for _, pg := range list.Pages {
		found = append(found, choice{pg.URL, pg.Title})
	}
	return found, nil
}

func hostChoices(ctx context.Context, b *api.Client, word string) (found []choice, err error) {
	list, err := b.Pages(ctx, api.PageQuery{Text: word, Limit: manyChoices})
	if err != nil {
		return nil, err
	}
	pages := map[string]int{}
	for _, pg := range list.Pages {
		if u, err := url.Parse(pg.URL); err == nil {
			pages[u.Hostname()]++
		}
	}
	facts, err := b.HostFacts(ctx, api.HostQuery{})
	if err != nil {
		return nil, err
	}
	for _, f := range facts.Facts {
		pages[f.Host] += 0
	}
	for _, host := range slices.Sorted(maps.Keys(pages)) {
		found = append(found, choice{host, terminal.Count(pages[host], "page")})
	}
	return found, nil
}
