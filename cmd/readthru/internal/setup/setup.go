package setup

import (
	"github.com/urfave/cli/v2"

	"github.com/readthru/readthru/agents"
	"github.com/readthru/readthru/cmd/readthru/internal/agentsetup"
	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
)

// setupCommand is the command setup: for one agent, or as a guide through all that this machine needs.
func (p *program) setupCommand() *cli.Command {
	return &cli.Command{
		Name:      "setup",
		Usage:     "set up an agent to use readthru: hooks, tool server, proxy and a paragraph of instructions",
		ArgsUsage: "[AGENT]",
		Description: "AGENT is claude, codex, gemini, cursor, vscode or opencode. Without AGENT, setup leads through all " +
			"that there is to set up on this machine, in a terminal or with --yes; else it lists the agents.\n" +
			"It shows each change first. " +
			"Settings of other programs are never changed, and --remove restores the files to the byte.",
		Flags: []cli.Flag{
			command.JSONFlag(),
			&cli.BoolFlag{Name: "remove", Usage: "undo the setup"},
			&cli.BoolFlag{Name: "dry-run", Usage: "show the change and write nothing"},
			&cli.BoolFlag{Name: "yes", Usage: "write it without asking"},
			&cli.BoolFlag{Name: "no-proxy", Usage: "leave the agent's web requests as they are"},
			&cli.BoolFlag{Name: "no-text", Usage: "leave the agent's instructions as they are"},
			&cli.BoolFlag{Name: "verbatim", Usage: "replace what a tool made of a page by the page"},
			&cli.BoolFlag{
				Name:  "answer-from-cache",
				Usage: "answer with a page that is stored and fresh, in place of the tool that would read it",
			},
			&cli.BoolFlag{Name: "prefetch", Usage: "fetch the pages that a message names ahead, three at most"},
			&cli.BoolFlag{Name: "instructions", Usage: "print a paragraph for the AGENTS.md of an agent that is not listed"},
		},
		Action: func(c *cli.Context) error {
			args := c.Args().Slice()
			if c.Bool("instructions") {
				return p.Print(agents.Instructions)
			}
			s, err := p.Load()
			if err != nil {
				return err
			}
			if len(args) == 0 {
				if c.Bool("remove") {
					return terminal.Usagef("AGENT is missing: name the agent whose setup to remove")
				}
				return p.setupMachine(c, s)
			}
			name, err := command.OneArg(args, "AGENT")
			if err != nil {
				return err
			}
			agent := agents.Agent(name)
			if !agents.Known(agent) {
				return terminal.WithHint(terminal.Usagef("unknown agent %q", name),
					`see "readthru setup"; for other agents use "readthru setup --instructions" and the tool server "readthru mcp"`)
			}
			w := agentsetup.Choices{
				Proxy: !c.Bool("no-proxy"), Text: !c.Bool("no-text"), Verbatim: c.Bool("verbatim"),
				Instead: c.Bool("answer-from-cache"), Prefetch: c.Bool("prefetch"),
			}
			ask := terminal.NewAsker(p.Streams, c.Bool("yes") || c.Bool("dry-run") || !terminal.Is(p.In))
			set := &agentsetup.Setup{
				Std: p.Streams, Settings: s, Agent: agent, Ask: ask, Yes: c.Bool("yes"),
				Dry: c.Bool("dry-run"),
			}
			if c.Bool("remove") {
				return set.Remove(c.Context)
			}
			if !ask.Mute {
				w = choose(ask, agent, w, c.IsSet)
			}
			return set.Install(c.Context, w)
		},
	}
}

// choose asks for the choices that no flag made.
func choose(a *terminal.Asker, agent agents.Agent, w agentsetup.Choices, set func(string) bool) agentsetup.Choices {
	if agent.TakesEnv() && !set("no-proxy") {
		w.Proxy = a.Yes("Send the agent's web requests through the proxy?", true)
	}
	if agent == agents.Claude && !set("verbatim") {
		w.Verbatim = a.Yes("Give the model the page itself instead of WebFetch's result?", false)
	}
	return w
}
