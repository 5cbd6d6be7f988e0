package terminal

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Asker asks questions on a terminal.
type Asker struct {
	in   *bufio.Reader
	out  io.Writer
	Mute bool // ask nothing: every answer is the default
}

// NewAsker returns what asks on std; mute, it asks nothing.
func NewAsker(std Streams, mute bool) *Asker {
	return &Asker{in: bufio.NewReader(std.In), out: std.Err, Mute: mute}
}

// Yes asks a question whose answer is otherwise if only Enter is pressed. What does not answer says no.
func (a *Asker) Yes(question string, otherwise bool) bool {
	if a.Mute {
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
