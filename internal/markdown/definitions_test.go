package markdown_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/markdown"
)

func TestTermsOfDefinitions(t *testing.T) {
	for _, tt := range []struct{ name, md, want string }{
		{"one", "open(*file*)\n: Opens it.", "0 open(*file*)"},
		{"several", "-n\n--dry-run\n: Shows it.", "0 -n|--dry-run"},
		{"within a definition", "  close()\n  : Closes it.", "2 close()"},
		{"a paragraph", "Words\nand words.", ""},
		{"a colon at the end of a line", "See:\nthat", ""},
		{"another indentation", "term\n  : not that", ""},
		{"a definition alone", ": What?", ""},
		{"a directive", "::: note\n: x", ""},
		{"code", "```\na\n: b\n```", ""},
		{"a heading", "# a", ""},
		{"a line that is too long", strings.Repeat("x", 700) + "\n: y", ""},
	} {
		got := ""
		for b := range markdown.Blocks([]byte(tt.md)) {
			if terms, indent := b.Terms([]byte(tt.md)); terms != nil {
				got = fmt.Sprintf("%d %s", indent, bytes.Join(terms, []byte("|")))
			}
		}
		if got != tt.want {
			t.Errorf("%s: %q, want %q", tt.name, got, tt.want)
		}
	}
}
