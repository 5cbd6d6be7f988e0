package fetch_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/readthru/readthru/fetch"
	"github.com/readthru/readthru/fetch/gate"
	"github.com/readthru/readthru/internal/httpfield"
)

func TestValidatorsOfOursStayHere(t *testing.T) {
	for _, tt := range []struct{ name, in, want string }{
		{"ours alone", "If-None-Match: \"rt-1\"\nIf-Modified-Since: x", ""},
		{"weak", `If-None-Match: W/"rt-1"`, ""},
		{"among others", `If-None-Match: "a", "rt-1", W/"b"`, `If-None-Match: "a", W/"b"`},
		{"others alone", "If-None-Match: \"a\"\nIf-Modified-Since: x", "If-Modified-Since: x\nIf-None-Match: \"a\""},
		{"any", "If-None-Match: *", "If-None-Match: *"},
		{"range of ours", "Range: bytes=0-1\nIf-Range: \"rt-1\"", ""},
		{"If-Match of ours", "If-Match: \"rt-1\"", ""},
		{"range of theirs", "If-Range: \"a\"\nRange: bytes=0-1", "If-Range: \"a\"\nRange: bytes=0-1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := header(strings.Split(tt.in, "\n")...)
			httpfield.RemoveOurTags(h)
			var got []string
			for name, values := range h {
				got = append(got, name+": "+values[0])
			}
			slices.Sort(got)
			if strings.Join(got, "\n") != tt.want {
				t.Errorf("left %q, want %q", got, tt.want)
			}
		})
	}
}

func TestOrderOfTheCascade(t *testing.T) { // AD3
	all := []string{"negotiate", "alternate", "local", "browser", "markdown_new"}
	for _, tt := range []struct {
		mode     string
		in, want []string
	}{
		{"fallback", all, all},
		{"prefer", all, []string{"negotiate", "alternate", "markdown_new", "local", "browser"}},
		{"prefer", []string{"negotiate", "local"}, []string{"negotiate", "local"}},
		{"prefer", []string{"markdown_new", "local"}, []string{"markdown_new", "local"}},
		{"prefer", []string{"markdown_new"}, []string{"markdown_new"}},
	} {
		if diff := cmp.Diff(tt.want, gate.Order(tt.in, tt.mode)); diff != "" {
			t.Errorf("%s of %v (-want +got):\n%s", tt.mode, tt.in, diff)
		}
	}
}

func TestACutIsOfOneAnswerAndNotOfThePage(t *testing.T) {
	c := newChain(t, respond(200, article("Harbour"), html))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), MaxTokens: 60})
	if err != nil || ans.Page.Tokens > 100 {
		t.Fatalf("%+v, %v, want it cut", ans.Page, err)
	}
	whole := c.read(t, "https://site.test/").Page.Tokens
	if p := c.stored(t, "https://site.test/"); p.Tokens != whole || len(p.Warnings) > 0 {
		t.Errorf("stored with %d tokens and %q, want %d and no warning", p.Tokens, p.Warnings, whole)
	}
}

func TestALimitHoldsWhateverTheOriginCounts(t *testing.T) {
	md := strings.Repeat("A paragraph of some words.\n\n", 500)
	c := newChain(t, respond(200, md, "Content-Type: text/markdown", "X-Markdown-Tokens: 3"))
	ans, err := c.try(t, fetch.Request{URL: parse(t, "https://site.test/"), MaxTokens: 100})
	if err != nil || len(ans.Body) > 1000 {
		t.Errorf("%d bytes, %v, want about 100 tokens", len(ans.Body), err)
	}
}
