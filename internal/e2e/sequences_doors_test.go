package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/readthru/readthru/page"
)

// said is what a door answers.
type said struct {
	status int
	text   string // markdown is without front matter
}

// door is a way to read a page. read asks for the page as it is by default, or anew from its origin; odd asks with
// options that concern this reader alone.
type door struct {
	name string
	read func(d *doors, url string, anew bool) said
	odd  func(d *doors, url string, n int) said
	odds int  // how many such options there are: n from 0 on
	own  bool // follows redirects
	html bool // is not given markdown

	fragment bool // is told the URL with its fragment, which no request has
}

// doors are the ways into a daemon.
type doors struct {
	*daemon
	client *http.Client
}

// openDoors says how to come into a daemon.
func openDoors(d *daemon) *doors { return &doors{d, d.client()} }

// send sends a request. That the connection broke off is an answer with the status 0.
func (d *doors) send(c *http.Client, method, url, content string, fields ...string) said {
	d.t.Helper()
	req, err := http.NewRequestWithContext(d.t.Context(), method, url, strings.NewReader(content))
	if err != nil {
		d.t.Fatal(err)
	}
	for _, f := range fields {
		name, value, _ := strings.Cut(f, ": ")
		req.Header.Add(name, value)
	}
	resp, err := c.Do(req)
	if err != nil {
		return said{0, err.Error()}
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return said{0, err.Error()}
	}
	return said{resp.StatusCode, string(body)}
}

func (d *doors) post(path string, content any) said {
	d.t.Helper()
	text, err := json.Marshal(content)
	if err != nil {
		d.t.Fatal(err)
	}
	return d.send(http.DefaultClient, http.MethodPost, "http://"+d.admin+path, string(text),
		"Content-Type: application/json", "Accept: application/json, text/event-stream")
}

// proxied returns how a client of the proxy reads.
func proxied(accept string) func(d *doors, url string, anew bool) said {
	return func(d *doors, url string, anew bool) said {
		fields := []string{"Accept: " + accept}
		if anew {
			fields = append(fields, "Cache-Control: no-cache")
		}
		got := d.send(d.client, http.MethodGet, url, "", fields...)
		_, text := page.SplitFrontMatter([]byte(got.text))
		return said{got.status, string(text)}
	}
}

type object map[string]any

// api asks for a page over the admin port.
func (d *doors) api(url string, options object) said {
	d.t.Helper()
	options["url"] = url
	got := d.post("/api/v1/fetch", options)
	var p struct {
		Content    string
		StatusCode int `json:"status_code"`
		Error      *struct{ Status int }
	}
	if err := json.Unmarshal([]byte(got.text), &p); err != nil {
		return got
	}
	if p.Error != nil {
		return said{p.Error.Status, got.text}
	}
	_, text := page.SplitFrontMatter([]byte(p.Content))
	return said{http.StatusOK, string(text)}
}

// mcp has an agent's tool fetch a page.
func (d *doors) mcp(url string, options object) said {
	d.t.Helper()
	options["url"] = url
	got := d.post("/mcp", object{
		"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": object{"name": "fetch", "arguments": options},
	})
	var a struct {
		Result struct {
			Content []struct{ Text string }
			IsError bool
		}
	}
	_, data, _ := strings.Cut(got.text, "data: ") // an event
	if err := json.Unmarshal([]byte(data), &a); err != nil || len(a.Result.Content) == 0 {
		return said{0, got.text}
	}
	text := a.Result.Content[0].Text
	if a.Result.IsError {
		var status int
		if _, after, ok := strings.Cut(text, "status code "); ok {
			_, _ = fmt.Sscan(after, &status)
		}
		return said{status, text}
	}
	_, text, _ = strings.Cut(text, "Contents of "+url+":\n")
	if strings.HasPrefix(text, "<error>Page failed") {
		text = ""
	}
	return said{http.StatusOK, text}
}

// firecrawl has a client of Firecrawl scrape a page.
func (d *doors) firecrawl(url string, options object) said {
	d.t.Helper()
	options["url"] = url
	got := d.post("/v2/scrape", options)
	var a struct {
		Success bool
		Data    struct {
			Markdown string
			Metadata struct{ StatusCode int }
		}
	}
	if err := json.Unmarshal([]byte(got.text), &a); err != nil || !a.Success {
		return said{0, got.text}
	}
	return said{a.Data.Metadata.StatusCode, a.Data.Markdown}
}

// command has the command line fetch a page.
func (d *doors) command(url string, flags ...string) said {
	d.t.Helper()
	out, _, err := command(d.t, d.env, binary, append(append([]string{"fetch", "--no-front-matter"}, flags...), url)...)
	if err != nil {
		var status int
		if _, after, ok := strings.Cut(err.Error(), "HTTP "); ok {
			_, _ = fmt.Sscan(after, &status)
		}
		return said{status, out + err.Error()}
	}
	_, text := page.SplitFrontMatter([]byte(out))
	return said{http.StatusOK, string(text)}
}

var allDoors = []door{
	{name: "proxy", odds: 8, read: proxied("*/*"), odd: func(d *doors, url string, n int) said {
		return d.send(d.client, http.MethodGet, url, "", pick(n, "X-Readthru-Mode: text", "X-Readthru-Mode: html",
			"X-Readthru-Selector: h2", "X-Readthru-Links: none", "X-Readthru-Max-Tokens: 20", "Range: bytes=0-9",
			"Cache-Control: no-store", "Cache-Control: only-if-cached"))
	}},
	{name: "agent", odds: 6, read: proxied("text/markdown, text/html;q=0.9"), odd: func(d *doors, url string, n int) said {
		return d.send(d.client, pick(n, http.MethodHead, http.MethodGet), url, "", "Accept: text/markdown",
			pick(n/2, "X-Readthru-Drop: h2", "If-None-Match: *", "X-Readthru-Images: none"))
	}},
	{name: "browser", odds: 3, read: proxied("text/html"), html: true, odd: func(d *doors, url string, n int) said {
		return d.send(d.client, http.MethodGet, url, "", "Accept: text/html", "Sec-Fetch-Dest: document",
			pick(n, "Range: bytes=5-", "Cache-Control: max-age=0", "If-Modified-Since: Thu, 01 Jan 2026 00:00:00 GMT"))
	}},
	{name: "prefix", odds: 9, own: true, read: func(d *doors, url string, anew bool) said {
		got := d.send(http.DefaultClient, http.MethodGet, "http://"+d.proxy+"/"+url, "", "Accept: */*",
			fmt.Sprintf("X-No-Cache: %v", anew))
		_, text := page.SplitFrontMatter([]byte(got.text))
		return said{got.status, string(text)}
	}, odd: func(d *doors, url string, n int) said {
		return d.send(http.DefaultClient, http.MethodGet, "http://"+d.proxy+"/"+url, "", pick(n, "X-Respond-With: text",
			"X-Respond-With: html", "X-Target-Selector: h2", "X-Remove-Selector: p", "X-Max-Tokens: 10",
			"X-Retain-Links: none", "X-Retain-Images: none", "Dnt: 1", "Accept: application/json"))
	}},
	{name: "API", odds: 18, own: true, fragment: true, read: func(d *doors, url string, anew bool) said {
		return d.api(url, object{"force_refresh": anew})
	}, odd: func(d *doors, url string, n int) said {
		return d.api(url, pick(n, object{"format": "text"}, object{"format": "html"}, object{"format": "verbatim"},
			object{"format": "prompt"}, object{"persist": false}, object{"max_chars": 30}, object{"start": 40},
			object{"whole_page": true}, object{"selector": "h2"}, object{"drop": "h2"}, object{"links": "none"},
			object{"images": "none"}, object{"summary": "auto"}, object{"section": "quokka"}, object{"receipts": true},
			object{"render": "never"}, object{"max_html_chars": 100}, object{"persist": false, "force_refresh": true}))
	}},
	{name: "MCP", odds: 5, own: true, fragment: true, read: func(d *doors, url string, anew bool) said {
		return d.mcp(url, object{"fresh": anew, "max_length": 900_000})
	}, odd: func(d *doors, url string, n int) said {
		return d.mcp(url, pick(n, object{"raw": true}, object{"max_length": 20}, object{"start_index": 30},
			object{"section": "zeppelin"}, object{"max_tokens": 5}))
	}},
	{name: "Firecrawl", odds: 8, own: true, fragment: true, read: func(d *doors, url string, anew bool) said {
		if anew {
			return d.firecrawl(url, object{"maxAge": 0})
		}
		return d.firecrawl(url, object{})
	}, odd: func(d *doors, url string, n int) said {
		return d.firecrawl(url, pick(n, object{"formats": []string{"summary"}}, object{"formats": []string{"html", "links"}},
			object{"formats": []string{"rawHtml"}}, object{"onlyMainContent": false}, object{"excludeTags": []string{"h2"}},
			object{"includeTags": []string{"h2"}}, object{"formats": []string{"changeTracking", "markdown"}},
			object{"storeInCache": false}))
	}},
	{name: "command", odds: 8, own: true, fragment: true, read: func(d *doors, url string, anew bool) said {
		return d.command(url, fmt.Sprintf("--force=%v", anew))
	}, odd: func(d *doors, url string, n int) said {
		return d.command(url, pick(n, "--summary=brief", "--format=text", "--selector=h2", "--no-store", "--max-chars=10",
			"--links=none", "--whole-page", "--changed-since=1h"))
	}},
}

// secretDoors are those at which a reader can show a cookie.
var secretDoors = []func(d *doors, url, cookie string) said{
	func(d *doors, url, cookie string) said {
		return d.send(d.client, http.MethodGet, url, "", "Accept: */*", "Cookie: "+cookie)
	},
	func(d *doors, url, cookie string) said {
		return d.send(d.client, http.MethodGet, url, "", "Accept: text/html", "Cookie: "+cookie)
	},
	func(d *doors, url, cookie string) said {
		return d.send(d.client, http.MethodGet, url, "", "Accept: text/markdown", "Cookie: "+cookie,
			"Cache-Control: no-cache")
	},
	func(d *doors, url, cookie string) said {
		return d.firecrawl(url, object{"headers": object{"Cookie": cookie}})
	},
}

func pick[T any](n int, list ...T) T { return list[n%len(list)] }

// get asks the admin port for JSON.
func (d *doors) get(path string, v any) said {
	d.t.Helper()
	got := d.send(http.DefaultClient, http.MethodGet, "http://"+d.admin+path, "")
	if got.status == http.StatusOK {
		if err := json.NewDecoder(bytes.NewReader([]byte(got.text))).Decode(v); err != nil {
			d.t.Fatalf("%s: %v", path, err)
		}
	}
	return got
}
