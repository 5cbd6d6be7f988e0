package main

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// asker asks questions on a terminal.
type asker struct {
	in   *bufio.Reader
	out  io.Writer
	mute bool // ask nothing: every answer is the default
}

// newAsker returns what asks on std; mute, it asks nothing.
func newAsker(std stdio, mute bool) *asker {
	return &asker{in: bufio.NewReader(std.in), out: std.err, mute: mute}
}

// yes asks a question whose answer is otherwise if only Enter is pressed. What does not answer says no.
func (a *asker) yes(question string, otherwise bool) bool {
	if a.mute {
		return otherwise
	}
	choice := "[y/N]"
	if otherwise {
		choice = "[Y/n]"
	}
	_, _ = fmt.Fprintf(a.out, "%s %s ", question, choice) // without a terminal there is no answer either
	line, err := a.in.ReadString('\n')
	switch answer := strings.ToLower(strings.TrimSpace(line)); {
	case err != nil && answer == "":
		return false
	case answer == "":
		return otherwise
	default:
		return answer == "y" || answer == "yes"
	}
}
