package markdown_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/readthru/readthru/internal/markdown"
)

func TestTagsAreHTMLAndNotCode(t *testing.T) {
	for _, tt := range []struct{ name, md, want string }{
		{"tags of a paragraph", "a <b>c</b> <br/>\n", "+<b> -</b> +<br/>"},
		{"code, escapes and addresses", "`<b>` \\<b> <https://a.test> ``<b> ` `` <b", ""},
		{"fences and indentation", "```\n<b>\n```\n\n    <b>\n", ""},
		{"a span that ends in another paragraph is none", "`<b>\n\n<i>`\n", "+<b> +<i>"},
		{"a block has no code", "<div>\n`<b>` \\<i>\n</div>\n", "+<div> +<b> +<i> -</div>"},
		{"a tag over lines of a quote", "> a <b\n> class=x> c\n", "+<b\n> class=x>"},
		{"a paragraph's tags are CommonMark's", "a <b @x> <b c=\"d\"e> <b c>\n", "+<b c>"},
		{"a block's tags are a browser's", "<p @x><b c=\"d\"e>\n", "+<p @x> +<b c=\"d\"e>"},
		{"comments", "a <!-- b --> <?c?> <!D> <!--> <!-- e\n", "!<!-- b --> !<?c?> !<!D> !<!-->"},
		{"a comment of its own", "<!-- a\n\nb -->\n\n<b>\n", "!<!-- a\n\nb --> +<b>"},
		{"a comment that leaves its block", "<p> <!-- a\n\n<b>\n\n<i> --> <u>\n", "+<p> !<!-- a\n\n<b>\n\n<i> --> +<u>"},
		{"a comment that does not end", "<p> <!-- a\n\n<b>\n", "+<p> !<!-- a\n\n<b>\n"},
		{"a tag that does not end", "<p title=\"a\n\n<b>\n", "?<p title=\"a +<b>"},
		{
			"what is in a script is no tag", "<div><script>a<b></script><i></div>\n",
			"+<div> +<script> -</script> +<i> -</div>",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var got []string
			for tag := range markdown.Tags([]byte(tt.md)) {
				got = append(got, string("+-!?"[tag.Kind])+tt.md[tag.Start:tag.End])
				if tag.BlockEnd < tag.Start || tag.BlockEnd > len(tt.md) {
					t.Errorf("the block of %q ends at %d of %d", tt.md[tag.Start:tag.End], tag.BlockEnd, len(tt.md))
				}
			}
			if all := strings.Join(got, " "); all != tt.want {
				t.Errorf("tags of %q are %q, want %q", tt.md, all, tt.want)
			}
		})
	}
}

func TestAttributesOfTags(t *testing.T) {
	for _, md := range []string{
		"a <b one two='2 3' three = 4 five=\"\">\n", "<p one two='2 3' three = 4 five=\"\">\n",
	} {
		for tag := range markdown.Tags([]byte(md)) {
			var got []string
			for _, a := range tag.Attributes {
				got = append(got, fmt.Sprintf("%s=%s from %q", a.Name, a.Value, md[a.Start:a.End]))
			}
			want := "one= from \" one\"; two=2 3 from \" two='2 3'\"; three=4 from \" three = 4\"; five= from \" five=\\\"\\\"\""
			if all := strings.Join(got, "; "); all != want {
				t.Errorf("attributes of %q are\n%s, want\n%s", md, all, want)
			}
		}
	}
}

func TestLinksTellWhereTheyBeginAndEnd(t *testing.T) {
	md := "[a](b \"c\") ![d](<e>) <https://f.test> <a class=x href='g'>\n\n[h]: i 'j' \n"
	var got []string
	for l := range markdown.Links([]byte(md)) {
		got = append(got, md[l.Begin:l.After])
	}
	want := "[a](b \"c\")|![d](<e>)|<https://f.test>| href='g'|[h]: i 'j'"
	if all := strings.Join(got, "|"); all != want {
		t.Errorf("links are %q, want %q", all, want)
	}
}
