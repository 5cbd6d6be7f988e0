package operate

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/readthru/readthru/cmd/readthru/internal/command"
	"github.com/readthru/readthru/cmd/readthru/internal/terminal"
	"github.com/readthru/readthru/internal/users"

	"github.com/urfave/cli/v2"
	"golang.org/x/term"
)

// passwordCommand is the command password: it prints the hash of a password for proxy.users in the configuration.
func (p *program) passwordCommand() *cli.Command {
	return &cli.Command{
		Name:        "password",
		Usage:       "read a password and print its hash, for proxy.users",
		Description: "The password is the first line of standard input. On a terminal it is not shown.",
		Action: func(c *cli.Context) error {
			if err := command.NoArgs(c.Args().Slice()); err != nil {
				return err
			}
			password, err := p.readPassword()
			if err != nil {
				return fmt.Errorf("read the password: %w", err)
			}
			if password == "" {
				return terminal.Usagef("the password is empty")
			}
			hash, err := users.HashPassword(password)
			if err != nil {
				return fmt.Errorf("hash the password: %w", err)
			}
			_, err = fmt.Fprintln(p.Out, hash)
			return err
		},
	}
}

// readPassword reads a password from the terminal without echo, or the first line of standard input, of at most 1 KiB.
func (p *program) readPassword() (string, error) {
	if f, ok := p.In.(*os.File); ok && terminal.Is(f) {
		_, _ = fmt.Fprint(p.Err, "password: ") // without a terminal there is no prompt
		b, err := term.ReadPassword(int(f.Fd()))
		_, _ = fmt.Fprintln(p.Err)
		return string(b), err
	}
	line, err := bufio.NewReader(io.LimitReader(p.In, 1<<10)).ReadString('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return strings.TrimRight(line, "\r\n"), err
}
