//go:build !man

package main

import "github.com/urfave/cli/v2"

func (p *program) manCommands() []*cli.Command { return nil }
