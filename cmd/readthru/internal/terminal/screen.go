package terminal

import (
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/term"

	"github.com/readthru/readthru/internal/clip"
)

// screen is a terminal that commands write to. It takes the control characters out of all that is written: text from
// the web must not move a terminal's cursor, set its title or type input. What draws on the terminal, and commands that
// we run, write to its file.
type screen struct {
	file *os.File
	mu   sync.Mutex
	rest []byte // of a character whose end has not been written yet
}

// OnScreen returns f as a screen if it is a terminal, else f.
func OnScreen(f *os.File) io.Writer {
	if !term.IsTerminal(int(f.Fd())) {
		return f
	}
	return &screen{file: f}
}

// Write implements [io.Writer].
func (s *screen) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := slices.Concat(s.rest, p)
	whole := len(text) - clip.Incomplete(text)
	_, err := io.WriteString(s.file, Printable(string(text[:whole])))
	s.rest = append(s.rest[:0:0], text[whole:]...)
	return len(p), err
}

// Unfiltered returns what a screen writes to, for those who draw on a terminal or hand it to another program; any other
// writer as it is.
func Unfiltered(w io.Writer) io.Writer {
	if s, ok := w.(*screen); ok {
		return s.file
	}
	return w
}

// Is reports whether w is a terminal.
func Is(w any) bool {
	if _, ok := w.(*screen); ok {
		return true
	}
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// terminalWidth returns how many cells a line of w has; 0 if w is no terminal.
func terminalWidth(w io.Writer) int {
	if f, ok := Unfiltered(w).(*os.File); ok {
		if width, _, err := term.GetSize(int(f.Fd())); err == nil {
			return width
		}
	}
	return 0
}

// Printable returns s without control characters except newline and tab, and without those that turn the direction of
// text or spell hidden text.
func Printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r), r >= 0xe0000 && r <= 0xe007f:
			return -1
		}
		return r
	}, s)
}
