package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

var update = flag.Bool("update", false, "write docs/cli.md from the commands")

// docs/cli.md says what the commands say.
func TestThePageOfCommandsIsTheirs(t *testing.T) {
	name := filepath.Join("..", "..", "docs", "cli.md")
	want := commandsPage()
	if *update {
		if err := os.WriteFile(name, []byte(want), 0o644); err != nil { //nolint:gosec // a page that everybody may read
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if string(got) != want {
		t.Errorf("%s is not what the commands say: go test ./cmd/readthru -run ThePageOfCommands -update writes it", name)
	}
}

// commandsPage returns the page that lists all commands.
func commandsPage() string {
	var b strings.Builder
	b.WriteString("# Commands\n\n" +
		"This page is made of the commands' own help: `go test ./cmd/readthru -run ThePageOfCommands -update` writes it.\n" +
		"[clients.md](clients.md) goes by task. Every command takes `--data-dir DIR` and `--config FILE`, and `--help`.\n" +
		"Data goes to standard output, everything else to standard error; `--json` is for programs. The exit status is 0\n" +
		"for success, 1 for failure and 2 for a mistake in the command line or the configuration.\n")
	app := newProgram(terminal.Streams{}).app()
	for _, g := range groups {
		fmt.Fprintf(&b, "\n## %s\n", g.name)
		for name := range strings.FieldsSeq(g.commands) {
			writeCommand(&b, name, find(app.Commands, []string{name}))
		}
	}
	return b.String()
}

// writeCommand writes what a command and its subcommands are for and take.
func writeCommand(b *strings.Builder, path string, c *cli.Command) {
	depth := min(3+strings.Count(path, " "), 5)
	fmt.Fprintf(b, "\n%s readthru %s\n\n", strings.Repeat("#", depth), path)
	fmt.Fprintf(b, "%s.\n", strings.ToUpper(c.Usage[:1])+markdownOf(c.Usage[1:]))
	if c.Description != "" {
		fmt.Fprintf(b, "\n%s\n", markdownOf(c.Description))
	}
	usage := "readthru " + path
	if c.ArgsUsage != "" {
		usage += " " + c.ArgsUsage
	}
	if example := exampleOf(path); example != usage && example != "readthru "+path {
		fmt.Fprintf(b, "\n`%s`, for example:\n\n```sh\n%s\n```\n", usage, example)
		if from := whence[path]; from != "" {
			fmt.Fprintf(b, "\n%s.\n", markdownOf(from))
		}
	}
	writeOptions(b, c.Flags)
	for _, s := range c.Subcommands {
		if !s.Hidden {
			writeCommand(b, path+" "+s.Name, s)
		}
	}
}

// writeOptions writes a table of options, without those that every command has.
func writeOptions(b *strings.Builder, flags []cli.Flag) {
	own := slices.DeleteFunc(slices.Clone(flags), func(f cli.Flag) bool {
		visible, ok := f.(cli.VisibleFlag)
		return slices.Contains([]string{"data-dir", "config"}, f.Names()[0]) || ok && !visible.IsVisible()
	})
	if len(own) == 0 {
		return
	}
	b.WriteString("\n| option | |\n|---|---|\n")
	for _, f := range own {
		names := "`--" + f.Names()[0] + "`"
		text := strings.ReplaceAll(usageOf(f), "`", "")
		if d, ok := f.(cli.DocGenerationFlag); ok && d.TakesValue() && d.GetDefaultText() != "" {
			text += " (default: " + d.GetDefaultText() + ")"
		}
		fmt.Fprintf(b, "| %s | %s |\n", names, strings.ReplaceAll(markdownOf(text), "|", `\|`))
	}
}

// markdownOf returns a text of help as markdown.
func markdownOf(text string) string {
	return strings.NewReplacer("*", `\*`, "<", `\<`, "_", `\_`).Replace(text)
}
