package markdown_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/markdown"
)

func TestUnwrap(t *testing.T) {
	const page = "# Harbour\n\nBoats come home.\n\n```go\nboats()\n```\n\n- one\n  ```\n  two\n  ```"
	plain := strings.ReplaceAll(page, "```\n  two", "```sh\n  two") // each block names its language
	for _, tt := range []struct{ name, text, want string }{
		{"no fence", page, page},
		{"markdown", "```markdown\n" + page + "\n```", page},
		{"md, with space around all", "\n ```md\n\n" + page + "\n\n```\n", page},
		{"capital letters", "```Markdown\n" + page + "\n```", page},
		{"space behind the name", "```markdown \n" + page + "\n```", page},
		{"space before the name", "``` markdown\n" + page + "\n```", page},
		{"lines that end in CR and LF", "```markdown\r\n# Harbour\r\n```\r\n", "# Harbour"},
		{"no name", "```\nBoats come home.\n```", "Boats come home."},
		{"no name, blocks that have one", "```\n" + plain + "\n```", plain},
		{"tildes", "~~~md\n" + page + "\n~~~", page},
		{"a longer fence", "````\n" + page + "\n````", page},
		{"the end behind text", "```md\nBoats.```", "Boats."},
		{"nothing inside", "```markdown\n```", ""},
		{"nothing", " ", ""},

		{"code", "```go\nboats()\n```", "```go\nboats()\n```"},
		{"not closed", "```markdown\nBoats.", "```markdown\nBoats."},
		{"closed by too few", "````markdown\nBoats.\n```", "````markdown\nBoats.\n```"},
		{"two blocks", "```\nboats\n```\n\nand\n\n```\nships\n```", "```\nboats\n```\n\nand\n\n```\nships\n```"},
		{"two blocks of markdown", "```md\nA\n```\n\nand\n\n```md\nB\n```", "```md\nA\n```\n\nand\n\n```md\nB\n```"},
		{"text behind the fence", "```md\nA\n```\n\nand", "```md\nA\n```\n\nand"},
		{"a block that is open", "```md\nA\n\n```go\nb()\n```", "```md\nA\n\n```go\nb()\n```"},
		{"inline code", "``` is a fence, and so is ```", "``` is a fence, and so is ```"},
	} {
		if got := markdown.Unwrap(tt.text); got != tt.want {
			t.Errorf("%s: Unwrap(%q) = %q, want %q", tt.name, tt.text, got, tt.want)
		}
	}
}
