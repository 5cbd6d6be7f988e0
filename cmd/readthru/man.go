//go:build man

package main

import "github.com/urfave/cli/v2"

// manCommands are in the program only where it makes its own manual: the packages that write one are large.
func (p *program) manCommands() []*cli.Command {
	return []*cli.Command{{
		Name: "man", Hidden: true, Usage: "print the manual as a page of section 1",
		Action: func(c *cli.Context) error {
			text, err := c.App.ToManWithSection(1)
			if err != nil {
				return err
			}
			return p.print(text)
		},
	}}
}
