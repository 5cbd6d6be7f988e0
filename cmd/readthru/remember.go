package main

import (
	"github.com/urfave/cli/v2"
)

func (p *program) rememberCommands() []*cli.Command {
	return []*cli.Command{p.searchCommand(), p.pagesCommand(), p.kbCommand(), p.notesCommand()}
}
