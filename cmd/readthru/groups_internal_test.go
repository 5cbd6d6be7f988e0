package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// maxCommands is how many commands the help lists at most: what a person takes in at a glance.
const maxCommands = 26

// The help lists each command once, in the group of what it is for; a synonym leads to a command that there is.
func TestEveryCommandIsInOneGroup(t *testing.T) {
	listed := map[string]int{}
	for _, g := range groups {
		for name := range strings.FieldsSeq(g.commands) {
			listed[name]++
		}
	}
	app := newProgram(terminal.Streams{}).app()
	shown, subs := map[string]bool{}, map[string]bool{}
	for _, c := range app.Commands {
		if !c.Hidden {
			shown[c.Name] = true
		}
		if want := 1; !c.Hidden && listed[c.Name] != want {
			t.Errorf("command %s is in %d groups", c.Name, listed[c.Name])
		}
		for _, s := range c.Subcommands {
			subs[s.Name] = true
		}
	}
	if len(shown) > maxCommands {
		t.Errorf("%d commands stand in the help, want %d at most", len(shown), maxCommands)
	}
	for name := range listed {
		if !shown[name] {
			t.Errorf("the groups list %s, which is no command, or hidden", name)
		}
	}
	for ours, list := range command.Synonyms {
		if find(app.Commands, strings.Fields(ours)) == nil && ours != "--help" {
			t.Errorf("%q stand for %s, which is no command", list, ours)
		}
	}
	for ours, list := range command.Verbs {
		if !subs[ours] {
			t.Errorf("%q stand for %s, which is no subcommand", list, ours)
		}
	}
}

// find returns the command that names lead to, or nil.
func find(commands []*cli.Command, names []string) (found *cli.Command) {
	for _, name := range names {
		i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == name })
		if i < 0 {
			return nil
		}
		found, commands = commands[i], commands[i].Subcommands
	}
	return found
}

// everyCommand calls visit with each command that the help lists, and its names.
func everyCommand(commands []*cli.Command, prefix string, visit func(path string, c *cli.Command)) {
	for _, c := range commands {
		if !c.Hidden {
			visit(prefix+c.Name, c)
			everyCommand(c.Subcommands, prefix+c.Name+" ", visit)
		}
	}
}

func TestWhatNewcomersTypeLeadsToWhatTheyMeant(t *testing.T) {
	for typed, want := range map[string]string{
		"install": "setup", "start": "serve", "status": "service status", "logs": "log", "update": "service upgrade",
		"ls": "pages", "remove": "pages rm", "fecth": "fetch", "site lst": "list", "kb remove": "rm", "kb del": "rm",
		"user create": "add",
	} {
		commands, words := newProgram(terminal.Streams{}).app().Commands, strings.Fields(typed)
		top := len(words) == 1
		if !top {
			commands = find(commands, words[:1]).Subcommands
		}
		found := command.Meant(words[len(words)-1], commands, top)
		if len(found) == 0 || found[0] != want {
			t.Errorf("%s: %q, want %s", typed, found, want)
		}
		if typed == "install" && slices.Contains(found, "uninstall") {
			t.Error("install leads to uninstall")
		}
	}
}

// screenLines is how many lines of help a person sees at once.
const screenLines = 40

func TestHelpFitsAScreenAndEndsWithAnExample(t *testing.T) {
	app := newProgram(terminal.Streams{}).app()
	everyCommand(app.Commands, "", func(path string, c *cli.Command) {
		var out strings.Builder
		p := newProgram(terminal.Streams{In: strings.NewReader(""), Out: &out, Err: &out})
		if err := p.app().Run(slices.Concat([]string{"readthru"}, strings.Fields(path), []string{"--help"})); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		if n := strings.Count(out.String(), "\n"); n > screenLines {
			t.Errorf("%s: %d lines of help, want %d at most", path, n, screenLines)
		}
		if !strings.HasSuffix(out.String(), exampleText(path)) {
			t.Errorf("%s: no example at the end of\n%s", path, &out)
		}
	})
}

// An example names a command that there is, with options that it has and the arguments that it wants.
func TestExamplesAreOfTheirCommands(t *testing.T) {
	app := newProgram(terminal.Streams{}).app()
	check := func(path string, c *cli.Command) {
		_, line, _ := strings.Cut(exampleOf(path), "readthru ")
		line, _, _ = strings.Cut(line, " <")
		line = strings.TrimSuffix(line, `)"`)
		words := strings.Fields(line)
		at, rest := find(app.Commands, words[:1]), words[1:]
		for len(rest) > 0 {
			next := find(at.Subcommands, rest[:1])
			if next == nil {
				break
			}
			at, rest = next, rest[1:]
		}
		if at == nil || !strings.HasPrefix(line, path) {
			t.Errorf("%s: its example is of another command: %s", path, line)
			return
		}
		args := 0
		for len(rest) > 0 && rest[0] != "--" {
			if !isFlag(rest[0]) {
				args, rest = args+1, rest[1:]
				continue
			}
			if flagNamed(at.Flags, rest[0]) == nil {
				t.Errorf("%s: no option %s", path, rest[0])
			}
			rest = rest[min(flagLength(at.Flags, rest[0]), len(rest)):]
		}
		required := at.ArgsUsage != "" && !strings.HasPrefix(at.ArgsUsage, "[")
		if required && args+len(rest) == 0 && flagNamed(at.Flags, "--host") == nil {
			t.Errorf("%s: its example lacks %s", path, at.ArgsUsage)
		}
	}
	everyCommand(app.Commands, "", check)
	for path := range examples {
		if find(app.Commands, strings.Fields(path)) == nil {
			t.Errorf("the example of %s, which is no command", path)
		}
	}
}

// What an example has a name for in capitals, its help says where to get.
func TestExamplesSayWhereToGetWhatTheyName(t *testing.T) {
	app := newProgram(terminal.Streams{}).app()
	for path, example := range examples {
		named := ""
		for word := range strings.FieldsSeq(example) {
			if len(word) > 1 && strings.Trim(word, "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "" {
				named = word
			}
		}
		if from := whence[path]; named != "" && !strings.HasPrefix(from, named+" is in ") {
			t.Errorf("%s: who pastes %q is not told where to get %s: %q", path, example, named, from)
		}
	}
	for path, from := range whence {
		_, quoted, _ := strings.Cut(from, `"readthru `)
		lists := find(app.Commands, strings.Fields(strings.TrimSuffix(quoted, `"`)))
		if lists == nil || examples[path] == "" {
			t.Errorf("%s: %q names no command", path, from)
		}
	}
}

// A former name takes the options and arguments that it took, so that scripts go on.
func TestFormerNamesTakeWhatTheyTook(t *testing.T) {
	app := newProgram(terminal.Streams{}).app()
	for old, now := range map[string]string{
		"requests": "log", "requests show": "log show", "visits": "log visits", "sessions": "log sessions",
		"disclosures list": "log disclosures list", "context show": "log context show", "sites": "site list",
		"hosts list": "site learnt", "hosts show": "site show", "hosts forget": "site forget", "rules add": "site rule add",
		"recipe test": "site recipe test", "usage": "stats usage", "system": "stats system", "fleet status": "stats fleet",
		"backup": "store backup", "restore": "store restore", "export": "store export", "cache get": "store cache get",
		"index rebuild": "store index rebuild", "users add": "user add", "password": "user password",
		"token": "user admin-token", "upgrade": "service upgrade", "kb delete": "kb rm", "store jobs drop": "store jobs rm",
	} {
		was, is := find(app.Commands, strings.Fields(old)), find(app.Commands, strings.Fields(now))
		if was == nil || is == nil {
			t.Errorf("%s or %s is no command", old, now)
			continue
		}
		if was.ArgsUsage != is.ArgsUsage || !slices.EqualFunc(was.Flags, is.Flags, func(a, b cli.Flag) bool {
			return slices.Equal(a.Names(), b.Names())
		}) {
			t.Errorf("%s and %s take different things", old, now)
		}
	}
}
