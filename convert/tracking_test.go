package convert_test

import (
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

func TestTrackingIsRemovedAndTargetsStay(t *testing.T) {
	for _, tt := range []struct{ href, want string }{
		{"https://b.test/a?utm_source=x&id=1&utm_medium=y#f", "https://b.test/a?id=1#f"},
		{"https://b.test/a?utm_source=x", "https://b.test/a"},
		{"https://b.test/a?fbclid=abc&q=a+b%20c", "https://b.test/a?q=a+b%20c"},
		{"/a?gclid=1", "https://a.test/a"},
		{"https://b.test/a?srsltid=x&utm%5Fsource=y&id=1", "https://b.test/a?id=1"},
		{"https://www.google.com/url?q=https://b.test/x&sa=D", "https://b.test/x"},
		{"https://l.facebook.com/l.php?u=https%3A%2F%2Fb.test%2Fx%3Futm_source%3Dfb&h=AT0", "https://b.test/x"},
		{"https://out.reddit.com/t3_x?url=https%3A%2F%2Fb.test%2F&token=abc", "https://b.test/"},
		{"https://href.li/?https://b.test/x", "https://b.test/x"},
		{"https://ad.doubleclick.net/ddm/clk/123", ""},
		{"https://adclick.g.doubleclick.net/pcs/click?xai=1&adurl=https://b.test/", "https://b.test/"},

		{"https://b.test/viewtopic.php?t=9&sid=0123456789abcdef0123456789abcdef#p1", "https://b.test/viewtopic.php?t=9#p1"},
		{"https://b.test/a;jsessionid=1A2B?utm_source=x&q=1", "https://b.test/a?q=1"},
		{"https://b.test/a?PHPSESSID=abc&sig=def", "https://b.test/a?PHPSESSID=abc&sig=def"},
		{"https://b.test/a?source=x&ref=y&campaign=z", "https://b.test/a?source=x&ref=y&campaign=z"},
		{"https://b.test/a?utm_source=x&X-Amz-Signature=abc", "https://b.test/a?utm_source=x&X-Amz-Signature=abc"},
		{"https://b.test/a?q=utm_source", "https://b.test/a?q=utm_source"},
		{"https://google.com/url?q=javascript:x", "https://google.com/url?q=javascript:x"},
		{"https://google.com/search?q=https://b.test/", "https://google.com/search?q=https://b.test/"},
		{"https://evilgoogle.com/url?q=https://b.test/", "https://evilgoogle.com/url?q=https://b.test/"},
		{"https://b.test/login?next=https%3A%2F%2Fb.test%2Fx", "https://b.test/login?next=https%3A%2F%2Fb.test%2Fx"},
		{"https://b.test/doubleclick.net", "https://b.test/doubleclick.net"},
	} {
		got := convertPage(t, `<p>see <a href="`+tt.href+`">it</a> there`, convert.Options{}).Markdown
		want := "see [it](" + tt.want + ") there\n"
		if tt.want == "" {
			want = "see it there\n"
		}
		if strings.ReplaceAll(got, "\\", "") != want {
			t.Errorf("%s\ngot  %q\nwant %q", tt.href, got, want)
		}
	}
}

func TestScriptLinksBecomeTextAndAreReported(t *testing.T) {
	for _, href := range []string{
		"javascript:steal(document.cookie)", "JaVa\tScript:steal()", " &#1;javascript:steal()",
		"vbscript:steal()", "data:text/html,<script>x</script>", "java&Tab;script&colon;steal()",
	} {
		res := convertPage(t, `<p>see <a href="`+href+`">it</a> there`, convert.Options{})
		if res.Markdown != "see it there\n" || res.Removed.Counts["script-link"] != 1 {
			t.Errorf("%q gives %q, report %+v", href, res.Markdown, res.Removed)
		}
	}
	if res := convertPage(t, `<a href="javascript:void(0)">menu</a>`, convert.Options{}); len(res.Removed.Counts) != 0 {
		t.Errorf("an empty script is reported: %+v", res.Removed)
	}
}
