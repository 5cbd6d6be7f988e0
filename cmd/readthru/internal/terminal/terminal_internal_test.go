package terminal

import (
	"bytes"
	"strings"
	"testing"
)

func TestForeignTextCannotDriveATerminal(t *testing.T) {
	for in, want := range map[string]string{
		"a\x1b]0;owned\x07b": "a]0;ownedb",
		"a\tb\nc":            "a\tb\nc",
		"a\r\u009bb\u0085":   "ab",
		"a\u202eb\u2066c":    "abc",
		"grün 日本":            "grün 日本",
	} {
		if got := Printable(in); got != want {
			t.Errorf("printable(%q) = %q, want %q", in, got, want)
		}
	}
	var out bytes.Buffer
	std := Streams{Out: &out}
	if err := std.Table([]string{"A", "B"}, [][]string{{"x\ny\x1b[2J", "z"}}); err != nil ||
		strings.Contains(out.String(), "\x1b") || strings.Count(out.String(), "\n") != 2 {
		t.Errorf("table %q, %v", out.String(), err)
	}
}
