package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"
)

// print writes text to standard output; a terminal gets no control characters ([screen]).
func (p *program) print(s string) error {
	_, err := io.WriteString(p.out, s)
	return err
}

// printJSON writes v as indented JSON.
func (p *program) printJSON(v any) error {
	enc := json.NewEncoder(p.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// list writes v as JSON with --json, else as a table of rows.
func (p *program) list(c *cli.Context, v any, header []string, rows [][]string) error {
	if c.Bool("json") {
		return p.printJSON(v)
	}
	return p.table(header, rows)
}

// done writes v as JSON to standard output with --json, else a line for people to standard error.
func (p *program) done(c *cli.Context, v any, format string, args ...any) error {
	if c.Bool("json") {
		return p.printJSON(v)
	}
	p.note(format, args...)
	return nil
}

// note writes a line for people to standard error.
func (p *program) note(format string, args ...any) {
	// there is no other place to report an error
	_, _ = fmt.Fprintf(p.err, "readthru: %s\n", printable(fmt.Sprintf(format, args...)))
}

// count writes a number with its noun.
func count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// bytesText writes a size for people.
func bytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// tell writes err and its hint to standard error.
func (p *program) tell(err error) {
	p.note("error: %s", err)
	if hint := hintOf(err); hint != "" {
		p.note("hint: %s", hint)
	}
}

// noArgs returns an error if a command that takes no arguments has one.
func noArgs(args []string) error {
	if len(args) > 0 {
		return usagef("unexpected argument %q", args[0])
	}
	return nil
}

// loadAlone is load for a command without arguments.
func (p *program) loadAlone(c *cli.Context) (*settings, error) {
	if err := noArgs(c.Args().Slice()); err != nil {
		return nil, err
	}
	return p.load()
}

// oneArg returns the only argument of a command; what names it.
func oneArg(args []string, what string) (string, error) {
	switch {
	case len(args) == 0:
		return "", usagef("%s is missing", what)
	case len(args) > 1:
		return "", usagef("want one %s: unexpected argument %q", what, args[1])
	}
	return args[0], nil
}
