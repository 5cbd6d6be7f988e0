package convert_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestLooksLikeMarkdown(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		want       bool
	}{
		{"a heading", "Some text\n\n## Heading\n", true},
		{"a heading after BOM and space", "\ufeff\n # Heading", true},
		{"front matter", "---\ntitle: x\n---\ntext", true},
		{"a list and a link", "- one\n- [two](/x)\n", true},
		{"a fence and a quote", "> said\n\n```\ncode\n```\n", true},
		{"a table rule and a link", "a | b\n--- | ---\n[x](y) | z\n", true},
		{"a link at the top and a list", "[home](/)\n\n1. a\n2. b\n", true},
		{"one kind alone", "- one\n- two\n", false},
		{"one item is no list", "- one\n\n[x](y) \n", false},
		{"plain text", "Dear all,\n\nnothing here.\n", false},
		{"empty", " \n", false},
		{"JSON", `{"a": "# x"}`, false},
		{"cut JSON", `[{"a": "\n# x\n"`, false},
		{"HTML", "<!DOCTYPE html>\n# x", false},
		{"HTML in capitals after BOM", "\ufeff<HTML>\n# x", false},
		{"XML", "<?xml version='1.0'?>\n# x", false},
		{"a hash without space", "#hashtag\n", false},
		{"a comment of a script", "#!/bin/sh\necho\n", false},
		{"beyond 16 KiB", strings.Repeat("x\n", 8<<10) + "# Heading\n", false},
	} {
		if got := convert.LooksLikeMarkdown([]byte(tt.text)); got != tt.want {
			t.Errorf("%s: LooksLikeMarkdown = %v, want %v", tt.name, got, tt.want)
		}
	}
}

// Text that programs send as HTML is markdown unless it has what HTML has: a file may begin with some of it.
func TestMislabelledMarkdownIsKnown(t *testing.T) {
	for _, tt := range []struct {
		name, text string
		file, want bool
	}{
		{"a heading and text", "# Title\n\nText of *it*.\n", false, true},
		{"after a byte order mark", "\ufeff# Title\n\nText.\n", false, true},
		{"HTML in code", "# Title\n\n```html\n<html><p>x</p></html>\n```\n", false, true},
		{"components", "# Title\n\n<Tabs>\n<Tab>x</Tab>\n</Tabs>\n\n<https://a.test/>\n", false, true},
		{"a page", "<!doctype html><p># Title", false, false},
		{"a part of a page", "<div>\n# Title\n</div>\n", false, false},
		{"a part of a page after text", "Hello\n# comment\n<br>\n", false, false},
		{"text with no mark of markdown", "Hello, world.\n", false, false},
		{"octets", "# Title\n\x00\x01", true, false},
		{"a file that begins with HTML", "<p align=center><img src=a.png></p>\n\n# Title\n\nText.\n", true, true},
		{"a file that is a page", "<p>Loading</p>\n# Title\n</body></html>\n", true, false},
		{"an empty file", "", true, false},
	} {
		if got := convert.IsMislabelledMarkdown([]byte(tt.text), tt.file); got != tt.want {
			t.Errorf("%s: %v, want %v", tt.name, got, tt.want)
		}
	}
}

func TestTextReadsTildeFences(t *testing.T) {
	md := "a\n\n~~~~ go\n*b*\n~~~\n~~~~\n\n    ```\n\n*c*\n"
	if got, want := convert.Text(md), "a\n\n*b*\n~~~\n\n```\n\nc\n"; got != want {
		t.Errorf("Text = %q, want %q", got, want)
	}
}

func TestTextHasNoMarkup(t *testing.T) {
	md := "# Title\n\nA **bold** [link](https://a.test/x_(y)) and `code` ![alt](b.png).\n\n- item\n- [x] done\n\n> quoted\n\n| a | b |\n| --- | --- |\n| 1\\|2 | c |\n\n```go\n# kept *as* is\n```\n\n\\*star\\* [ref][1]\n\n[1]: https://a.test/\n"
	want := "Title\n\nA bold link and code alt.\n\nitem\ndone\n\nquoted\n\na \t b\n1|2 \t c\n\n# kept *as* is\n\n*star* ref\n"
	if got := convert.Text(md); got != want {
		t.Errorf("Text =\n%q\nwant\n%q", got, want)
	}
}
