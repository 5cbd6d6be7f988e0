package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/readthru/readthru/cmd/readthru/internal/setup"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/api"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/releases"
)

func main() {
	os.Exit(run(context.Background(), os.Args, terminal.OfProcess()))
}

// newProgram returns a program that has read no flag.
func newProgram(std terminal.Streams) *program { return &program{&command.Program{Streams: std}} }

// run runs the command that args name (args[0] is the program) and returns the exit status.
func run(ctx context.Context, args []string, std terminal.Streams) int {
	settings.StandardLog(slog.New(slog.DiscardHandler)) // a command that logs sets its own
	ignored := slices.DeleteFunc([]os.Signal{os.Interrupt, syscall.SIGHUP},
		func(s os.Signal) bool { return !signal.Ignored(s) })
	ctx, release := withSignals(ctx)
	defer release()
	p := newProgram(std)
	p.ReleaseSignals, p.Ignores = release, func(s os.Signal) bool { return slices.Contains(ignored, s) }
	app := p.app() //nolint:contextcheck // each action has its own context
	err := app.RunContext(ctx, hoist(app, args))
	if sig, ok := errors.AsType[interruptError](context.Cause(ctx)); ok &&
		(errors.Is(err, context.Canceled) || errors.Is(err, sig)) {
		err = sig.as(err)
	}
	return p.report(err)
}

// An interruptError says that a signal ended the program's work. The exit status is that of the signal, 128 and more.
type interruptError struct{ signal os.Signal }

func (e interruptError) Error() string { return "interrupted" }

// as returns the error of work that e ended, with the hint of that work's own error.
func (e interruptError) as(err error) error {
	if h, ok := errors.AsType[terminal.HintError](err); ok {
		return terminal.WithHint(e, h.Hint)
	}
	return e
}

// withSignals returns a context that the first interrupt ends, so that the program shuts down; the second ends the
// program at once. release stops listening for signals and ends the context.
func withSignals(parent context.Context) (ctx context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(parent)
	ch := make(chan os.Signal, 2)
	done := make(chan struct{})
	signal.Notify(ch, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case s := <-ch:
			cancel(interruptError{s})
		case <-done:
			return
		}
		select {
		case <-ch:
			os.Exit(130)
		case <-done:
		}
	}()
	released := false
	return ctx, func() {
		if released {
			return
		}
		released = true
		signal.Stop(ch)
		close(done)
		cancel(nil)
	}
}

// app is the table of commands.
func (p *program) app() *cli.App {
	app := &cli.App{
		Name:            "readthru",
		Usage:           "a caching forward proxy that gives agents the web as markdown",
		Version:         releases.Version,
		HideVersion:     true,
		HideHelpCommand: true, // we have our own
		Reader:          p.In,
		Writer:          p.Out,
		ErrWriter:       p.Err,
		Flags: append(p.commonFlags(),
			&cli.BoolFlag{Name: "version", Usage: "print the version", DisableDefaultText: true}, cli.HelpFlag),
		ExitErrHandler: func(*cli.Context, error) {}, // run reports and chooses the status
		OnUsageError:   usageMistake,
		Action:         p.noCommand,
		Commands:       append(p.commands(), p.formerCommands()...),
	}
	app.DisableSliceFlagSeparator = true // URLs and file names may have commas
	app.Commands = append(app.Commands, p.manCommands()...)
	p.prepare("", app.Commands)
	app.CustomAppHelpTemplate = grouped(app.Commands)
	return app
}

// prepare gives every command the common flags, the reporting of mistakes, an error for a missing subcommand, and its
// example. Prefix is what stands before the names of commands.
func (p *program) prepare(prefix string, commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError = usageMistake
		c.CustomHelpTemplate = withExample(c, prefix+c.Name)
		if len(c.Subcommands) > 0 {
			p.prepare(prefix+c.Name+" ", c.Subcommands)
			if c.Action == nil {
				c.Action = noSubcommand
			}
		}
		c.HideHelpCommand = true
		c.Flags = append(c.Flags, p.commonFlags()...)
		for _, f := range c.Flags {
			if b, ok := f.(*cli.BoolFlag); ok {
				b.DisableDefaultText = true // "default: false" says nothing
			}
		}
	}
}

// helpCommand prints the help that --help prints.
func (p *program) helpCommand() *cli.Command {
	return &cli.Command{
		Name:      "help",
		Usage:     "print all commands, or the options of one",
		ArgsUsage: "[COMMAND…]",
		Action: func(c *cli.Context) error {
			app := p.app()
			commands, names := app.Commands, c.Args().Slice()
			for i, name := range names {
				at := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.HasName(name) })
				if at < 0 {
					return command.UnknownCommand(commands, strings.Join(append(names[:i:i], ""), " "), name)
				}
				commands = commands[at].Subcommands
			}
			return app.RunContext(c.Context, slices.Concat([]string{app.Name}, names, []string{"--help"}))
		},
	}
}

// commonFlags are accepted before and after a command's name. Actions read their values, since a flag of the command
// would hide that of the program with the same name.
func (p *program) commonFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{
			Name: "data-dir", Usage: "`DIR` of store and authority (READTHRU_DATA_DIR)",
			Action: func(_ *cli.Context, v string) error { p.DataDirFlag = v; return nil },
		},
		&cli.StringFlag{
			Name: "config", Usage: "configuration `FILE` (READTHRU_CONFIG)",
			Action: func(_ *cli.Context, v string) error { p.ConfigFlag = v; return nil },
		},
	}
}

func usageMistake(c *cli.Context, err error, _ bool) error {
	name := c.App.Name
	if c.Command != nil && c.Command.HelpName != "" {
		name = c.Command.HelpName
	}
	if c.Command != nil && strings.HasSuffix(err.Error(), "not defined: -json") && len(c.Command.Subcommands) == 0 {
		err = errors.New("there is no --json: this command prints no data of its own")
	}
	hint := fmt.Sprintf("see \"%s --help\"", name)
	switch _, term, unknown := strings.Cut(err.Error(), "not defined: "); {
	case unknown && strings.Contains(term, ":"):
		hint = fmt.Sprintf("put -- before what begins with a minus and is no option: %s -- '%s'", name, term)
	case unknown && c.Command != nil && len(c.Command.Flags) > 0:
		hint = command.OptionMeant(term, c.Command.Flags) + "; " + hint
	}
	mistake := terminal.WithHint(terminal.Usagef("%s", err), hint)
	if c.Command != nil && c.Command.Name == "hook" { // status 2 would stop the agent
		terminal.Streams{Err: c.App.ErrWriter}.Tell(mistake)
		return nil
	}
	return mistake
}

func (p *program) noCommand(c *cli.Context) error {
	if c.Bool("version") {
		return p.printVersion(false)
	}
	if !c.Args().Present() {
		return setup.Overview(c.Context, p.Program)
	}
	return command.UnknownCommand(c.App.Commands, "", c.Args().First())
}

func noSubcommand(c *cli.Context) error {
	name := command.FullName(c)
	if !c.Args().Present() {
		return terminal.WithHint(terminal.Usagef("%s needs a subcommand", name),
			fmt.Sprintf("see \"readthru %s --help\"", name))
	}
	return command.UnknownCommand(c.Command.Subcommands, name+" ", c.Args().First())
}

// report prints err with its hint and returns the exit status.
func (p *program) report(err error) int {
	if err == nil {
		return 0
	}
	if status, ok := errors.AsType[terminal.ExitError](err); ok {
		return int(status)
	}
	p.Tell(err)
	if sig, ok := errors.AsType[interruptError](err); ok {
		if n, ok := sig.signal.(syscall.Signal); ok {
			return 128 + int(n)
		}
		return 130
	}
	if _, ok := errors.AsType[terminal.UsageError](err); ok {
		return 2
	}
	if api.CodeOf(err) == api.CodeInvalid {
		return 2 // an argument that only the operation can check
	}
	return 1
}

// program is the program with its table of commands.
type program struct{ *command.Program }
