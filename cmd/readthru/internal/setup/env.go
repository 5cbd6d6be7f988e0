package setup

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/certs"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/daemon"
	"github.com/readthru/readthru/cmd/readthru/internal/settings"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// envCommand is the command env: the environment variables by which clients use the proxy and trust its authority, in
// the syntax of a shell.
func (p *program) envCommand() *cli.Command {
	return &cli.Command{
		Name:        "env",
		Usage:       "print the environment that sends clients through the proxy",
		Description: "eval \"$(readthru env)\" makes a shell use the daemon.",
		Flags: []cli.Flag{
			&cli.StringFlag{Name: "shell", Value: "sh", Usage: "`SYNTAX`: sh, fish, powershell or json"},
			&cli.BoolFlag{Name: "json", Usage: "the same as --shell json"},
			&cli.StringFlag{Name: "login", Usage: "`NAME:PASSWORD` for a proxy with users"},
		},
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			shell := c.String("shell")
			if c.Bool("json") {
				shell = "json"
			}
			if !slices.Contains([]string{"sh", "bash", "zsh", "fish", "powershell", "pwsh", "json"}, shell) {
				return terminal.Usagef("--shell: %q is not one of sh, fish, powershell, json", shell)
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			if err := settings.MakeDataDir(s.DataDir); err != nil {
				return err
			}
			authority, err := certs.Open(settings.AuthorityOptions(s))
			if err != nil {
				return fmt.Errorf("open the authority: %w", err)
			}
			proxy := s.Proxy.Listen
			if d := daemon.Find(c.Context, s.DataDir); d != nil {
				proxy = d.Proxy
				if d.Made != "" {
					p.Note("the daemon ends when it is not used: start one that stays with \"readthru serve\"")
				}
			} else {
				p.Note("no daemon runs: start one with \"readthru serve\"")
			}
			e, err := settings.NewClientEnv(s, authority, proxy, c.String("login"))
			if err != nil {
				return err
			}
			text, err := settings.Export(shell, e.Variables())
			if err != nil {
				return err
			}
			_, err = fmt.Fprint(p.Out, text)
			return err
		},
	}
}
