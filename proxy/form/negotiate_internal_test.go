package form

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
		want   Form
	}{
		{
			"Claude Code WebFetch", "", "Accept: text/markdown, text/html, */*\nUser-Agent: Claude-User (claude-code/2.1.83)",
			"", Markdown,
		},
		{"Cursor", "", "Accept: text/markdown, text/plain;q=0.9, */*;q=0.8\nUser-Agent: Cursor/1", "", Markdown},
		{
			"OpenCode, with a browser's name", "",
			"Accept: text/markdown;q=1.0, text/x-markdown;q=0.9, text/plain;q=0.8, text/html;q=0.7, */*;q=0.1\n" + chrome, "",
			Markdown,
		},
		{
			"Gemini CLI", "",
			"Accept: text/markdown, text/plain;q=0.9, application/json;q=0.9, text/html;q=0.8, application/pdf;q=0.7, " +
				"video/*;q=0.7, */*;q=0.5\nUser-Agent: Mozilla/5.0 (compatible; Google-Gemini-CLI/1.0)", "", Markdown,
		},
		{
			"Copilot CLI", "", "Accept: text/markdown, text/html, */*\nUser-Agent: GitHubCopilotRuntime-WebFetch", "",
			Markdown,
		},
		{"Qwen Code", "", "Accept: text/markdown, text/html, text/plain\nUser-Agent: node", "", Markdown},
		{
			"Cline CLI", "",
			"Accept: text/html,application/xhtml+xml,application/xml;q=0.9,text/plain;q=0.8,*/*;q=0.7\n" +
				"User-Agent: Mozilla/5.0 (compatible; AgentBot/1.0)", "", Observed,
		},
		{"curl", "", "Accept: */*\nUser-Agent: curl/7.88.1", "", Markdown},
		{"wget", "", "Accept: */*\nUser-Agent: Wget/1.21.3\nAccept-Encoding: identity", "", Markdown},
		{"urllib", "", "User-Agent: Python-urllib/3.11", "", Markdown},
		{"Go", "", "User-Agent: Go-http-client/1.1", "", Markdown},
		{"Node http.get", "", "", "", Markdown},
		{
			"Node fetch: Sec-Fetch-Mode alone is no browser", "",
			"Accept: */*\nSec-Fetch-Mode: cors\nAccept-Language: *\nUser-Agent: node", "", Markdown,
		},
		{"git", "/x.git/info/refs?service=git-upload-pack", "Accept: */*\nUser-Agent: git/2.39.2", "", AsIs},
		{"git by its query", "/x.git/info/refs?service=git-upload-pack", "Accept: */*\nUser-Agent: other", "", AsIs},
		{"git by its media type", "", "Accept: application/x-git-upload-pack-result", "", AsIs},
		{"npm", "", "Accept: application/json\nUser-Agent: npm/11.0.0 node/v24", "", AsIs},
		{
			"pip reads an index in HTML", "",
			"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.01\nUser-Agent: pip/23.0.1 {}", "", AsIs,
		},
		{"go get", "/x?go-get=1", "User-Agent: Go-http-client/1.1", "", AsIs},
		{"not go get", "/x?go-get=10&y=go-get=1x", "User-Agent: Go-http-client/1.1", "", Markdown},
		{"apt", "", "User-Agent: Debian APT-HTTP/1.3 (2.6.1)", "", AsIs},

		{"navigation", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none\n" +
			chrome, "", Observed},
		{
			"navigation that takes anything", "",
			"Accept: */*\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none", "", Observed,
		},
		{
			"iframe", "", "Accept: */*\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: iframe\nSec-Fetch-Site: cross-site", "",
			Observed,
		},
		{
			"image", "",
			"Accept: image/*,*/*;q=0.8\nSec-Fetch-Mode: no-cors\nSec-Fetch-Dest: image\nSec-Fetch-Site: same-origin",
			"", AsIs,
		},
		{
			"script's fetch", "", "Accept: */*\nSec-Fetch-Mode: cors\nSec-Fetch-Dest: empty\nSec-Fetch-Site: same-origin", "",
			AsIs,
		},
		{"XHR by its field", "", "Accept: */*\nX-Requested-With: XMLHttpRequest", "", AsIs},
		{"XHR over plain http", "http://a.test/", "Accept: */*\nReferer: http://a.test/\n" + chrome, "", AsIs},
		{"the same over https is no browser", "", "Accept: */*\nReferer: https://a.test/\n" + chrome, "", Markdown},
		{"a browser's name alone over plain http", "http://a.test/", "Accept: */*\n" + chrome, "", Markdown},

		{"API client", "", "Accept: application/json", "", Observed},
		{"axios", "", "Accept: application/json, text/plain, */*", "", Observed},
		{"markdown below HTML", "", "Accept: text/html, text/markdown;q=0.9", "", Observed},
		{"order does not count", "", "Accept: text/html;q=0.5, text/markdown;q=0.5", "", Markdown},
		{"markdown refused", "", "Accept: text/markdown;q=0, */*", "", Observed},
		{"anything refused", "", "Accept: */*;q=0", "", Observed},
		{"two lines are one list", "", "Accept: text/html\nAccept: text/markdown", "", Markdown},
		{"a variant of it (RFC 7763)", "", "Accept: text/markdown; variant=GFM, text/html;q=0.9", "", Markdown},
		{"markdown with components", "", "Accept: text/mdx, text/html;q=0.9", "", Markdown},
		{"case does not count", "", "Accept: TEXT/Markdown", "", Markdown},
		{"malformed weights are skipped", "", "Accept: text/html;q=x, text/markdown;q=0.1", "", Markdown},
		{"an empty field is an absent one", "", "Accept: ", "", Markdown},
		{"XHTML is HTML", "", "Accept: application/xhtml+xml, */*;q=0.5", "", Observed},

		{"range", "", "Accept: */*\nRange: bytes=0-9", "", Markdown},
		{"range of a tool", "", "Accept: */*\nRange: bytes=0-9\nUser-Agent: debian apt-http/1.3", "", AsIs},
		{"POST", "", "M: POST\nAccept: text/markdown", "", AsIs},
		{"HEAD", "", "M: HEAD\nAccept: text/markdown", "", Markdown},
		{"PUT with a wish", "", "M: PUT\nX-Mode: markdown", "", AsIs},

		{"wish: markdown for a browser", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nX-Mode: markdown", "", Markdown},
		{"wish: text", "", "X-Mode: text", "", PlainText},
		{"wish: html", "", "Accept: */*\nX-Mode: html", "", Observed},
		{"wish: raw", "", "Accept: */*\nX-Mode: raw", "", AsIs},
		{"wish: auto beats the listener", "", "Accept: */*\nX-Mode: auto", "never", Markdown},

		{"always", "", htmlFirst, "always", Markdown},
		{
			"always, navigation", "", htmlFirst + "\nSec-Fetch-Mode: navigate\nSec-Fetch-Dest: document\nSec-Fetch-Site: none",
			"always", Markdown,
		},
		{"always never breaks a tool", "", "User-Agent: git/2", "always", AsIs},
		{"always does not affect images", "", "Sec-Fetch-Dest: image\nSec-Fetch-Site: none", "always", AsIs},
		{"never", "", "Accept: text/markdown", "never", Observed},
		{"negotiate, named", "", "Accept: text/markdown, */*", "negotiate", Markdown},
		{"negotiate, anything", "", "Accept: */*", "negotiate", Observed},

		{"rule beats user and listener", "", "Accept: */*\nRule: never\nUser: always", "always", Observed},
		{"user beats listener", "", "Accept: */*\nUser: never", "always", Observed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			f := Facts{Method: http.MethodGet, Header: http.Header{}, Config: tt.mode}
			f.URL, _ = url.Parse("https://a.test" + tt.url)
			if strings.HasPrefix(tt.url, "http") {
				f.URL, _ = url.Parse(tt.url)
			}
			for field := range strings.SplitSeq(tt.fields, "\n") {
				name, value, _ := strings.Cut(field, ": ")
				switch name {
				case "":
				case "M":
					f.Method = value
				case "X-Mode":
					f.Asked = value
				case "Rule":
					f.Rule = value
				case "User":
					f.User = value
				default:
					f.Header.Add(name, value)
				}
			}
			if got := Decide(f); got != tt.want {
				t.Errorf("Decide = %v, want %v", got, tt.want)
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
