package main

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"
)

// print writes text to standard output; a terminal gets no control characters ([screen]).
func (std stdio) print(s string) error {
	_, err := io.WriteString(std.out, s)
	return err
}

// printJSON writes v as indented JSON.
func (std stdio) printJSON(v any) error {
	enc := json.NewEncoder(std.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// list writes v as JSON with --json, else as a table of rows.
func (std stdio) list(c *cli.Context, v any, header []string, rows [][]string) error {
	if c.Bool("json") {
		return std.printJSON(v)
	}
	return std.table(header, rows)
}

// done writes v as JSON to standard output with --json, else a line for people to standard error.
func (std stdio) done(c *cli.Context, v any, format string, args ...any) error {
	if c.Bool("json") {
		return std.printJSON(v)
	}
	std.note(format, args...)
	return nil
}

// note writes a line for people to standard error.
func (std stdio) note(format string, args ...any) {
	// there is no other place to report an error
	_, _ = fmt.Fprintf(std.err, "readthru: %s\n", printable(fmt.Sprintf(format, args...)))
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
func (std stdio) tell(err error) {
	std.note("error: %s", err)
	if hint := hintOf(err); hint != "" {
		std.note("hint: %s", hint)
	}
}
