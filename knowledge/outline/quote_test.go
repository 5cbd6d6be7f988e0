package outline_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/readthru/readthru/knowledge/outline"
)

const quoted = `# Guide

Intro with a [link to **the** docs](https://a.test/x_(y)) and ` + "`code_with_names`" + `.

## Limits

The timeout is 30 seconds — “not more” — and
it can’t be changed.

> Quoted lines
> go on here.

1. First item
2. Second *item*

| name | value |
| --- | --- |
| size | 2 GiB |

` + "```sh\nreadthru serve --listen 127.0.0.1:1\n```" + `

Fish &amp; chips<br>are ﬁne… The value is 300.
`

func TestFindQuote(t *testing.T) {
	for _, tt := range []struct {
		name, quote string
		want        string // the bytes of the markdown it is; empty: not there
		path        string
	}{
		{"as it stands", "The timeout is 30 seconds", "The timeout is 30 seconds", "Guide › Limits"},
		{
			"other dashes, quotation marks and line breaks", `30 seconds - "not more" - and it can't be changed.`,
			"30 seconds — “not more” — and\nit can’t be changed.", "Guide › Limits",
		},
		{"in quotation marks and with dots", `“…The timeout is 30 seconds…”`, "The timeout is 30 seconds", "Guide › Limits"},
		{
			"a link's text", "Intro with a link to the docs and code_with_names.",
			"Intro with a [link to **the** docs](https://a.test/x_(y)) and `code_with_names`.", "Guide",
		},
		{"as markdown", "a [link to **the** docs](https://other.test)", "a [link to **the** docs", "Guide"},
		{"over a block quote", "Quoted lines go on here.", "Quoted lines\n> go on here.", "Guide › Limits"},
		{"over list items", "First item Second item", "First item\n2. Second *item", "Guide › Limits"},
		{"a table row", "size 2 GiB", "size | 2 GiB", "Guide › Limits"},
		{"code", "readthru serve --listen 127.0.0.1:1", "readthru serve --listen 127.0.0.1:1", "Guide › Limits"},
		{"entities, tags and ligatures", "Fish & chipsare fine... The", "Fish &amp; chips<br>are ﬁne… The", "Guide › Limits"},
		{"a heading", "Limits", "Limits", "Guide › Limits"},
		{"case matters", "the Timeout is 30 seconds", "", ""},
		{"a number is not the beginning of another", "The value is 30", "", ""},
		{"a word is not part of another", "imeout is 30", "", ""},
		{"other words", "The timeout is 60 seconds", "", ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			q, err := outline.FindQuote([]byte(quoted), tt.quote)
			if err != nil {
				t.Fatalf("FindQuote: %v", err)
			}
			if q.Found != (tt.want != "") {
				t.Fatalf("found %v, nearest %q (%.2f)", q.Found, q.Nearest, q.Likeness)
			}
			if !q.Found {
				return
			}
			if got := quoted[q.Start:q.End]; got != tt.want {
				t.Errorf("stands for %q, want %q", got, tt.want)
			}
			if got := strings.Join(q.Path, " › "); tt.name != "a heading" && got != tt.path {
				t.Errorf("under %q, want %q", got, tt.path)
			}
			if q.Line != 1+strings.Count(quoted[:q.Start], "\n") || q.Likeness != 1 {
				t.Errorf("line %d, likeness %g", q.Line, q.Likeness)
			}
		})
	}
}

func TestNearestTextToAWrongQuoteIsTold(t *testing.T) {
	q, err := outline.FindQuote([]byte(quoted), "The timeout is 60 seconds")
	if err != nil || q.Found {
		t.Fatalf("FindQuote = %+v, %v", q, err)
	}
	if q.Nearest != "The timeout is 30 seconds" || q.Likeness != 0.8 ||
		quoted[q.Start:q.End] != "The timeout is 30 seconds" || q.Line != 7 {
		t.Errorf("nearest %+v, want the sentence with 30, likeness .8, line 7", q)
	}
	q, err = outline.FindQuote([]byte(quoted), "Completely unrelated sentence about penguins")
	if err != nil || q.Found || q.Nearest != "" {
		t.Errorf("FindQuote of what is nowhere = %+v, %v", q, err)
	}
	for _, quote := range []string{"", " \n", "**", "...", strings.Repeat("x", 10_001)} {
		if _, err := outline.FindQuote([]byte(quoted), quote); err == nil {
			t.Errorf("FindQuote(%.20q) gave no error", quote)
		}
	}
}

func TestQuoteInHostileTextIsLookedForInBounds(t *testing.T) {
	for name, piece := range map[string]string{
		"brackets": "[", "pairs": "[]", "images": "![", "tags": "<a", "links": "[a](b) ", "one word": "word ",
		"markers": "- ", "quotes": "> ", "entities": "&a",
		"lines": "a\n", "bad bytes": "\xff",
	} {
		md := []byte(strings.Repeat(piece, (1<<18)/len(piece)) + "\n\nthe end of it")
		if q, err := outline.FindQuote(md, "the end of it"); err != nil || !q.Found ||
			string(md[q.Start:q.End]) != "the end of it" {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
		if q, err := outline.FindQuote(md, "no end "+strings.Repeat("word ", 1500)); err != nil || q.Found {
			t.Errorf("%s: %+v, %v", name, q, err)
		}
	}
}

func FuzzFindQuote(f *testing.F) {
	f.Add([]byte(quoted), "timeout is 30")
	f.Add([]byte(document(rand.New(rand.NewPCG(1, 1)), 5)), "größer 文字 cache")
	f.Add([]byte("a [[b](c)](d) ![e][f] <x> &lt; \\* \xff"), "b")
	f.Fuzz(func(t *testing.T, md []byte, quote string) {
		q, err := outline.FindQuote(md, quote)
		if err != nil {
			return
		}
		if q.Start < 0 || q.End < q.Start || q.End > len(md) || q.Likeness < 0 || q.Likeness > 1 {
			t.Errorf("FindQuote = %+v of %d bytes", q, len(md))
		}
		if q.Found && (q.Start == q.End || q.Line == 0) {
			t.Errorf("found at nothing: %+v", q)
		}
	})
}
