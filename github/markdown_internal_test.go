package github

import (
	"testing"
)

func TestCommentsAreTakenOut(t *testing.T) {
	for _, tt := range []struct {
		text, want string
		hidden     int
	}{
		{"a <!-- b --> c\n", "a  c\n", 1},
		{"a\n<!-- b\n```\nc -->d\n", "a\nd\n", 1},
		{"```\n<!-- code -->\n```\n", "```\n<!-- code -->\n```\n", 0},
		{"`<!--` is how one begins\n", "`<!--` is how one begins\n", 0},
		{"x <!-- never\nclosed\n", "x ", 1},
		{"    ```\n<!-- a -->b\n", "    ```\nb\n", 1},
		{"a <!-- b\n```\n-->\n<!-- c -->d\n", "a \nd\n", 2},
		{"<!-- a -->```\nb\n", "```\nb\n\n```\n", 1},
		{"- ```\n  a\n\nb <!-- c -->\n", "- ```\n  a\n\nb \n", 1},
		{"~~~\nopen", "~~~\nopen\n~~~\n", 0},
	} {
		if got, n := withoutComments(tt.text); got != tt.want || n != tt.hidden {
			t.Errorf("withoutComments(%q) = %q, %d, want %q, %d", tt.text, got, n, tt.want, tt.hidden)
		}
	}
}
