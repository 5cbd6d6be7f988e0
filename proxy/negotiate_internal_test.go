package proxy

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
)

// The agents' own fields; what each must get is AD1 and AD1a.
func TestWhoGetsMarkdown(t *testing.T) {
	const (
		chrome    = "User-Agent: Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36"
		htmlFirst = "Accept: text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8"
	)
	for _, tt := range []struct {
		name   string
		url    string
		fields string // separated by \n
		mode   string
		want   form
	}{
		{
			"Claude Code WebFetch", "", "Accept: text/markdown, text/html, */*\nUser-Agent: Claude-User (claude-code/2.1.83)",
			"", markdown,
		},
		{"Cursor", "", "Accept: text/markdown, text/plain;q=0.9, */*;q=0.8\nUser-Agent: Cursor/1", "", markdown},
		{
			"OpenCode, with a browser's name", "",
			"Accept: text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1\n" + chrome, "",
			markdown,
		},
		{"Codex", "", htmlFirst + "\nUser-Agent: codex/1", "", observed},
		{"Gemini CLI", "", "Accept: */*", "", markdown},
		{"curl", "", "Accept: */*\nUser-Agent: curl/7.88.1", "", markdown},
		{"wget", "", "Accept: */*\nUser-Agent: Wget/1.21.3\nAccept-Encoding: identity", "", markdown},
		{"urllib", "", "User-Agent: Python-urllib/3.11", "", markdown},
		{"Go", "", "User-Agent: Go-http-client/1.1", "", markdown},
		{"Node http.get", "", "", "", markdown},
		{
			"Node fetch: Sec-Fetch-Mode alone is no browser", "",
			"Accept: */*\nSec-Fetch-Mode: cors\nAccept-Language: *\nUser-Agent: node", "", markdown,
		},
		{"git", "/x.git/info/refs?service=git-upload-pack", "Accept: */*\nUser-Agent: git/2.39.2", "", asIs},
		{"git by its query", "/x.git/info/refs?service=git-upload-pack", "Accept: */*\nUser-Agent: other", "", asIs},
		{"git by its media type", "", "Accept: application/x-git-upload-pack-result", "", asIs},
		{"npm", "", "Accept: application/json\nUser-Agent: npm/11.0.0 node/v24", "", asIs},
		{
			"pip reads an index in HTML", "",
			"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.01\nUser-Agent: pip/23.0.1 {}", "", asIs,
		},
		{"go get", "/x?go-get=1", "User-Agent: Go-http-client/1.1", "", asIs},
		{"not go get", "/x?go-get=10&y=go-get=1x", "User-Agent: Go-http-client/1.1", "", markdown},
		{"apt", "", "User-Agent: Debian APT-HTTP/1.3 (2.6.1)", "", asIs},

		{"navigation", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none\n" +
			chrome, "", observed},
		{
			"navigation that takes anything", "",
			"Accept: */*\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none", "", observed,
		},
		{
			"iframe", "", "Accept: */*\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\nSec-Fetch-Site: cross-site", "",
			observed,
		},
		{"image", "", "Accept: image/*,*/*;q=0.8\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image\nSec-Fetch-Site: same-origin", "", asIs},
		{
			"script's fetch", "", "Accept: */*\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty\nSec-Fetch-Site: same-origin", "",
			asIs,
		},
		{"XHR by its field", "", "Accept: */*\nX-Requested-With: XMLHttpRequest", "", asIs},
		{"XHR over plain http", "http://a.test/", "Accept: */*\nReferer: http://a.test/\n" + chrome, "", asIs},
		{"the same over https is no browser", "", "Accept: */*\nReferer: https://a.test/\n" + chrome, "", markdown},
		{"a browser's name alone over plain http", "http://a.test/", "Accept: */*\n" + chrome, "", markdown},

		{"API client", "", "Accept: application/json", "", observed},
		{"axios", "", "Accept: application/json, text/plain, */*", "", observed},
		{"markdown below HTML", "", "Accept: text/html, text/markdown;q=0.9", "", observed},
		{"order does not count", "", "Accept: text/html;q=0.5, text/markdown;q=0.5", "", markdown},
		{"markdown refused", "", "Accept: text/markdown;q=0, */*", "", observed},
		{"anything refused", "", "Accept: */*;q=0", "", observed},
		{"two lines are one list", "", "Accept: text/html\nAccept: text/markdown", "", markdown},
		{"a variant of it (RFC 7763)", "", "Accept: text/markdown; variant=GFM, text/html;q=0.9", "", markdown},
		{"markdown with components", "", "Accept: text/mdx, text/html;q=0.9", "", markdown},
		{"case does not count", "", "Accept: TEXT/Markdown", "", markdown},
		{"malformed weights are skipped", "", "Accept: text/html;q=x, text/markdown;q=0.1", "", markdown},
		{"an empty field is an absent one", "", "Accept: ", "", markdown},
		{"XHTML is HTML", "", "Accept: application/xhtml+xml, */*;q=0.5", "", observed},

		{"range", "", "Accept: */*\nRange: bytes=0-9", "", markdown},
		{"range of a tool", "", "Accept: */*\nRange: bytes=0-9\nUser-Agent: debian apt-http/1.3", "", asIs},
		{"POST", "", "M: POST\nAccept: text/markdown", "", asIs},
		{"HEAD", "", "M: HEAD\nAccept: text/markdown", "", markdown},
		{"PUT with a wish", "", "M: PUT\nX-Mode: markdown", "", asIs},

		{"wish: markdown for a browser", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nX-Mode: markdown", "", markdown},
		{"wish: text", "", "X-Mode: text", "", plainText},
		{"wish: html", "", "Accept: */*\nX-Mode: html", "", observed},
		{"wish: raw", "", "Accept: */*\nX-Mode: raw", "", asIs},
		{"wish: auto beats the listener", "", "Accept: */*\nX-Mode: auto", "never", markdown},

		{"always", "", htmlFirst, "always", markdown},
		{
			"always, navigation", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none",
			"always", markdown,
		},
		{"always never breaks a tool", "", "User-Agent: git/2", "always", asIs},
		{"always does not affect images", "", "Sec-Fetch-Dest: image\nSec-Fetch-Site: none", "always", asIs},
		{"never", "", "Accept: text/markdown", "never", observed},
		{"negotiate, named", "", "Accept: text/markdown, */*", "negotiate", markdown},
		{"negotiate, anything", "", "Accept: */*", "negotiate", observed},

		{"rule beats user and listener", "", "Accept: */*\nRule: never\nUser: always", "always", observed},
		{"user beats listener", "", "Accept: */*\nUser: never", "always", observed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := facts{method: http.MethodGet, header: http.Header{}, config: tt.mode}
			f.url, _ = url.Parse("https://a.test" + tt.url)
			if strings.HasPrefix(tt.url, "http") {
				f.url, _ = url.Parse(tt.url)
			}
			for field := range strings.SplitSeq(tt.fields, "\n") {
				name, value, _ := strings.Cut(field, ": ")
				switch name {
				case "":
				case "M":
					f.method = value
				case "X-Mode":
					f.asked = value
				case "Rule":
					f.rule = value
				case "User":
					f.user = value
				default:
					f.header.Add(name, value)
				}
			}
			if got := decide(f); got != tt.want {
				t.Errorf("decide = %v, want %v", got, tt.want)
			}
		})
	}
}

func FuzzAccept(f *testing.F) {
	for _, s := range []string{
		"*/*", "text/markdown;q=0.5, text/html;q=1.0", ";q=;,=,", "text/html;q=NaN",
		"a/b;q=1e999",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a := parseAccept([]string{s})
		if a.markdown < 0 || a.markdown > 1000 || a.html < 0 || a.html > 1000 {
			t.Errorf("parseAccept(%q) = %+v", s, a)
		}
	})
}
