package convert_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/readthru/readthru/convert"
)

var someWords = strings.Repeat("word ", 30)

func TestSigns(t *testing.T) {
	for _, tt := range []struct {
		name, html        string
		shell, thin, soft bool
	}{
		{"a page of text", "<p>" + strings.Repeat(someWords, 10), false, false, false},
		{"few words and no script", "<p>" + someWords, false, true, false},
		{"few words and a script", "<p>" + someWords + "<script src=x.js></script>", true, false, false},
		{"few words and only data", "<p>" + someWords + "<script type=application/ld+json>{}</script>", false, true, false},
		{"100 words and an empty mount", "<div id=root></div><p>" + strings.Repeat(someWords, 4) +
			"<script src=x.js></script>", true, false, false},
		{
			"100 words and a full mount", "<div id=root>" + strings.Repeat(someWords, 4) + "</div><script src=x.js></script>",
			false, false, false,
		},
		{"100 words and a plea for JavaScript", "<p>" + strings.Repeat(someWords, 4) +
			"<noscript>Please enable JavaScript</noscript><script src=x.js></script>", true, false, false},
		{
			"100 words and scripts over four fifths of the bytes",
			"<p>" + strings.Repeat(someWords, 4) + "<script>" + strings.Repeat("x;", 3000) + "</script>", true, false, false,
		},
		{
			"a mount and much text", "<div id=root></div><p>" + strings.Repeat(someWords, 10) + "<script src=x.js></script>",
			false, false, false,
		},
		{"the thread in noscript", "<body><noscript>" + strings.Repeat(someWords, 10) +
			"</noscript><script src=x.js></script>", false, false, false},
		{
			"text in a shadow root", "<x-page><template shadowrootmode=open><p>" + strings.Repeat(someWords, 4) +
				"<x-part><template shadowrootmode=open><p>" + strings.Repeat(someWords, 4) +
				"</template></x-part></template></x-page><script src=x.js></script>", false, false, false,
		},
		{
			"an empty mount in a shadow root", "<x-page><template shadowrootmode=open><div id=app></div><p>" +
				strings.Repeat(someWords, 4) + "</template></x-page><script src=x.js></script>", true, false, false,
		},
		{
			"text in a template", "<x-page><template><p>" + strings.Repeat(someWords, 10) +
				"</template></x-page><script src=x.js></script>", true, false, false,
		},
		{"an error with success", "<title>Page not found</title><p>" + strings.Repeat(someWords, 2), false, false, true},
		{"404 in the heading", "<h1>Error 404</h1><p>" + strings.Repeat(someWords, 2), false, false, true},
		{"a page about 404", "<title>How to fix error 404</title><p>" + strings.Repeat(someWords, 10), false, false, false},
		{"404 within a number", "<title>Model 14045</title><p>" + strings.Repeat(someWords, 2), false, false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := parse(t, tt.html).Signs()
			if s.JSShell != tt.shell || s.Thin != tt.thin || (s.SoftError != "") != tt.soft {
				t.Errorf("shell %v, thin %v, soft error %q; want %v, %v, %v (%d words)", s.JSShell, s.Thin, s.SoftError, tt.shell,
					tt.thin, tt.soft, s.Words)
			}
		})
	}
}

func TestOnlyVisibleWordsAreCounted(t *testing.T) {
	s := parse(t, "<title>no no</title><p>one two3 four-five<script>x y z</script><style>a b</style><svg><text>no</text></svg><template>no</template>"+
		"<x-y>not slotted<i slot=s>five</i><template shadowrootmode=open>six <slot name=s></slot><style>no</style></template></x-y>").Signs()
	if s.Words != 6 {
		t.Errorf("Words = %d, want 6", s.Words)
	}
}

func TestTwinAndCanonical(t *testing.T) {
	for _, tt := range []struct{ name, head, twin, canonical string }{
		{
			"relative addresses", `<link rel="alternate" type="text/markdown" href="page.md"><link rel=canonical href="/c">`,
			"https://a.test/dir/page.md", "https://a.test/c",
		},
		{"www is the same site", `<link rel=canonical href="https://www.a.test/c">`, "", "https://www.a.test/c"},
		{"another site is not believed", `<link rel=canonical href="https://evil.test/c">`, "", ""},
		{"a site whose name ends alike", `<link rel=canonical href="https://evila.test/c">`, "", ""},
		{"another alternate", `<link rel=alternate type="application/rss+xml" href="/feed">`, "", ""},
		{
			"a script address", `<link rel=canonical href="javascript:x"><link rel=alternate type=text/markdown href="data:,x">`,
			"", "",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := parse(t, tt.head+"<p>x").Signs()
			if s.MarkdownTwin != tt.twin || s.Canonical != tt.canonical {
				t.Errorf("twin %q, canonical %q; want %q, %q", s.MarkdownTwin, s.Canonical, tt.twin, tt.canonical)
			}
		})
	}
}

// Marks that stand for one firm's or project's walls name it.
func TestOwnersOfWalls(t *testing.T) {
	for _, tt := range []struct {
		header http.Header
		body   string
		want   string
	}{
		{http.Header{"Cf-Mitigated": {"challenge"}}, "", "Cloudflare"},
		{http.Header{"X-Amzn-Waf-Action": {"captcha"}}, "", "AWS WAF"},
		{nil, "<script src=https://ct.captcha-delivery.com/c.js></script>", "DataDome"},
		{nil, "<script src='/.within.website/x/cmd/anubis/static/js/main.mjs'></script>", "Anubis"},
		{nil, "<h1>Access Denied</h1><p>Reference #18.2d35", ""},
		{nil, "<p>text", ""},
	} {
		if got := convert.WallOwner(convert.Wall(403, tt.header, []byte(tt.body))); got != tt.want {
			t.Errorf("%v %s: %q, want %q", tt.header, tt.body, got, tt.want)
		}
	}
}

func TestWalls(t *testing.T) {
	long := strings.Repeat("<p>"+someWords, 20)
	for _, tt := range []struct {
		name   string
		status int
		header http.Header
		body   string
		wall   bool
	}{
		{"Cloudflare says so", 403, http.Header{"Cf-Mitigated": {"challenge"}}, "", true},
		{"Cloudflare's script with status 200", 200, nil, long + "<script>window._cf_chl_opt={}</script>", true},
		{
			"its mark 128 KB into the body", 200, nil,
			strings.Repeat("<!-- x -->", 13<<10) + "<script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>", true,
		},
		{"its mark beyond 512 KB", 200, nil, strings.Repeat("<!-- x -->", 53<<10) +
			"<script src='/cdn-cgi/challenge-platform/h/b/orchestrate'></script>", false},
		{
			"the bare directory is on normal pages", 200, nil,
			long + "<script src='/cdn-cgi/challenge-platform/scripts/jsd/main.js'></script>", false,
		},
		{"DataDome", 403, nil, "<script src=https://ct.captcha-delivery.com/c.js></script>", true},
		{"Incapsula", 200, nil, "<iframe src='/_Incapsula_Resource?x'></iframe>", true},
		{"a page that Incapsula let pass", 200, nil, long + "<script src='/_Incapsula_Resource?x'></script>", false},
		{"a page that PerimeterX let pass", 200, nil, long + "<script>window._pxAppId = id</script>", false},
		{"AWS' challenge", 202, http.Header{"X-Amzn-Waf-Action": {"challenge"}}, "", true},
		{"AWS' puzzle", 405, http.Header{"X-Amzn-Waf-Action": {"captcha"}}, "", true},
		{"Vercel's checkpoint", 429, http.Header{"X-Vercel-Mitigated": {"challenge"}}, "", true},
		{"Vercel let pass", 200, http.Header{"X-Vercel-Mitigated": {"deny"}}, long, false},
		{
			"Anubis", 200, nil, long + `<script id="anubis_challenge" type="application/json">{"rules":{}}</script>`, true,
		},
		{"a small page of one phrase", 200, nil, "<title>Just a moment...</title><p>Checking your browser", true},
		{"a small refusal", 403, nil, "<h1>Access Denied</h1>You have no permission.", true},
		{"a challenge box on a small page", 403, nil, `<form><div class="h-captcha"></div></form>`, true},
		{"a form with a box and much text", 200, nil, long + `<div class="g-recaptcha"></div>`, false},
		{"an article about walls", 200, nil, long +
			"<p>The page says Just a moment and Access Denied; its script sets <code>_cf_chl_opt</code>.", false},
		{"a comment names a mark", 200, nil, long + "<!-- captcha-delivery.com -->", false},
		{"a mere 403", 403, nil, "<h1>Forbidden</h1>", false},
		{"the word captcha", 200, nil, "<p>captcha", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := convert.Wall(tt.status, tt.header, []byte(tt.body)); (got != "") != tt.wall {
				t.Errorf("Wall = %q, want a wall: %v", got, tt.wall)
			}
		})
	}
}
