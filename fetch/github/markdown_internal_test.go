package github

import (
	"net/url"
	"testing"
)

func TestWhatNobodySeesIsTakenOut(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		hidden     int
	}{
		{"a <!-- b --> c\n", "a  c\n", 1},
		{"a\n<!-- b\n```\nc -->d\n", "a\nd\n", 1},
		{"```\n<!-- code -->\n```\n", "```\n<!-- code -->\n```\n", 0},
		{"`<!--` is how one begins\n", "`<!--` is how one begins\n", 0},
		{"x\n\n<!-- never\nclosed\n", "x\n", 1},
		{"x <!-- never\nclosed, and shown\n", "x <!-- never\nclosed, and shown\n", 0},
		{"a <!-- b\n```\n--> shown\n", "a <!-- b\n```\n--> shown\n```\n", 0},
		{"<!-- a -->```\nb\n", "```\nb\n```\n", 1},
		{"- ```\n  a\n\nb <!-- c -->\n", "- ```\n  a\n\nb\n", 1},
		{"~~~\nopen", "~~~\nopen\n~~~\n", 0},
		{"a\u200bb\u202ec\x1b[2Jd\n", "abcd\n", 1},
		{"a <span style='display:none'>b</span> c\n", "a  c\n", 1},
		{"[a](javascript:b) c\n", "a c\n", 1},
		{"```\na\U000e0062\n", "```\na\n```\n", 1},
	} {
		p := Page{}
		got := p.readmeMarkdown("a.md", []byte(tt.text), func(string) *url.URL { return nil })
		if string(got) != tt.want || p.hidden != tt.hidden {
			t.Errorf("readmeMarkdown(%q) = %q, %d, want %q, %d", tt.text, got, p.hidden, tt.want, tt.hidden)
		}
	}
}
