package terminal

import (
	"encoding/json"
	"fmt"
	"io"

	"github.com/dustin/go-humanize"
	"github.com/urfave/cli/v2"
)

// Print writes text to standard output; a terminal gets no control characters ([screen]).
func (std Streams) Print(s string) error {
	_, err := io.WriteString(std.Out, s)
	return err
}

// PrintJSON writes v as indented JSON.
func (std Streams) PrintJSON(v any) error {
	enc := json.NewEncoder(std.Out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// List writes v as JSON with --json, else as a table of rows.
func (std Streams) List(c *cli.Context, v any, header []string, rows [][]string) error {
	if c.Bool("json") {
		return std.PrintJSON(v)
	}
	return std.Table(header, rows)
}

// Done writes v as JSON to standard output with --json, else a line for people to standard error.
func (std Streams) Done(c *cli.Context, v any, format string, args ...any) error {
	if c.Bool("json") {
		return std.PrintJSON(v)
	}
	std.Note(format, args...)
	return nil
}

// Note writes a line for people to standard error.
func (std Streams) Note(format string, args ...any) {
	// there is no other place to report an error
	_, _ = fmt.Fprintf(std.Err, "readthru: %s\n", Printable(fmt.Sprintf(format, args...)))
}

// Count writes a number with its noun.
func Count[N int | int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// Bytes writes a size for people.
func Bytes(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

// Tell writes err and its hint to standard error.
func (std Streams) Tell(err error) {
	std.Note("error: %s", err)
	if hint := HintOf(err); hint != "" {
		std.Note("hint: %s", hint)
	}
}
